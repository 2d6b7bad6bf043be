"""Reports of a run: a table, a page with plots, Markdown for the documentation.

Comes in: the records of one run, and which system is ours. Goes out: text, HTML, SVG. The room
refuses to know how anything was measured or compared (``milepost_eval/compare.py``): it arranges,
words and draws. Nothing is left out in silence: what is missing is named in a note. Reading order:
``arrange.py`` (records in order), ``table.py``, ``verdict.py`` (differences, in words),
``series.py`` (what the plots show), ``drawing.py``, ``plots.py``, ``page.py``, ``markdown.py``.
"""

from milepost_eval.report.markdown import tables
from milepost_eval.report.page import page, write_page
from milepost_eval.report.plots import write_plots
from milepost_eval.report.table import Table, as_text, rows

__all__ = ["Table", "as_text", "page", "rows", "tables", "write_page", "write_plots"]
