"""A run as a table for a terminal, and as a plot.

Comes in: the records of one run. Goes out: text, SVG. Nothing is left out in silence: what is
missing is named in a note.
"""

from milepost_eval.report.budgets import budget_plot
from milepost_eval.report.table import Table, as_text, rows

__all__ = ["Table", "as_text", "budget_plot", "rows"]
