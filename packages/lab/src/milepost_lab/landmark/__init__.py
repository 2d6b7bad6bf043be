"""The first experiments of the papers: one question each, with its table and plot.

In:      an encoder, tasks, and the file that caches vectors.
Out:     ``Outcome``: rows with intervals, a note in plain words, panels; as Markdown and as SVG.
Refuses: to change weights, to read a file of tasks, to print.
Read:    ``experiment.py`` (definition), ``reading.py`` (one document in other windows, other
         units, or sentence by sentence); then one file per question: ``boundaries.py``,
         ``evidence.py`` (scattered, context, position), ``sizes.py`` (granularity, halo),
         ``surround.py``; ``catalogue.py``.
"""

from __future__ import annotations

from milepost_eval.report.outcome import Outcome, as_markdown
from milepost_eval.report.outcome_plot import plot
from milepost_lab.landmark.catalogue import EXPERIMENTS, find, outcomes
from milepost_lab.landmark.experiment import Experiment

__all__ = ["EXPERIMENTS", "Experiment", "Outcome", "as_markdown", "find", "outcomes", "plot"]
