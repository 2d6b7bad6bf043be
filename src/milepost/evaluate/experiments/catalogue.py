"""The experiments by name."""

from __future__ import annotations

from difflib import get_close_matches

from milepost.errors import InputError
from milepost.evaluate.experiments.boundaries import BOUNDARIES
from milepost.evaluate.experiments.evidence import CONTEXT_EXPERIMENT, POSITION, SCATTERED
from milepost.evaluate.experiments.experiment import Experiment
from milepost.evaluate.experiments.sizes import GRANULARITY, HALO
from milepost.evaluate.experiments.surround import FRONT_SURROUND

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        BOUNDARIES,
        SCATTERED,
        CONTEXT_EXPERIMENT,
        POSITION,
        GRANULARITY,
        HALO,
        FRONT_SURROUND,
    )
}
"""Name → experiment, in the order of the results."""


def find(name: str) -> Experiment:
    """The experiment of a name.

    Raises:
        InputError: no such experiment, with the nearest one that is known.
    """
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    near = get_close_matches(name, EXPERIMENTS, 1, 0.4)
    meant = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(
        f"there is no experiment {name!r}", f"{meant}experiments are {', '.join(EXPERIMENTS)}"
    )
