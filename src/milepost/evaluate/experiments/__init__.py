"""The first experiments of the papers, each one question with its table and plot.

In:      an encoder, tasks, and the file that vectors are kept in.
Out:     ``Outcome``: rows with intervals, a note in plain words, panels; as Markdown and as SVG.
Refuses: to change weights, to read a file of tasks, to print.
Read:    ``experiment.py`` (what one is), ``outcome.py`` (what it gives), ``reading.py`` (one
         document in other windows, other units, or sentence by sentence), ``tally.py`` (means
         with intervals); then one file a question: ``boundaries.py``, ``evidence.py``
         (scattered, context, position), ``sizes.py`` (granularity, halo), ``surround.py``;
         ``plot.py``, ``catalogue.py``.
"""

from __future__ import annotations

from milepost.evaluate.experiments.catalogue import EXPERIMENTS, find
from milepost.evaluate.experiments.experiment import Experiment
from milepost.evaluate.experiments.outcome import Outcome, as_markdown
from milepost.evaluate.experiments.plot import plot

__all__ = ["EXPERIMENTS", "Experiment", "Outcome", "as_markdown", "find", "plot"]
