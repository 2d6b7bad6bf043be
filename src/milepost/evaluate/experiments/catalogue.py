"""The experiments by name."""

from __future__ import annotations

from milepost.errors import InputError, nearest
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
    raise InputError(
        f"there is no experiment {name!r}",
        f"{nearest(name, EXPERIMENTS)}experiments are {', '.join(EXPERIMENTS)}",
    )
