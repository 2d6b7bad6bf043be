"""A run as a table, for a terminal or in Markdown, and as a plot.

Comes in: the records of one run. Goes out: text, Markdown, SVG. ``table.py`` and ``budgets.py``
show records; ``outcome.py``, ``outcome_plot.py``, ``tally.py`` and ``drawing.py`` serve the results
of experiments in other packages, too. Nothing is left out in silence: what is missing is named in
a note.
"""

from milepost_eval.report.budgets import budget_plot
from milepost_eval.report.table import Table, as_markdown, as_text, rows

__all__ = ["Table", "as_markdown", "as_text", "budget_plot", "rows"]
