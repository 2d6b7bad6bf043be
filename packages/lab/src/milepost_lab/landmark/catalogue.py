"""The experiments by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from milepost.errors import InputError, nearest
from milepost_eval.report.outcome import Outcome
from milepost_eval.session import Session
from milepost_lab.landmark.boundaries import BOUNDARIES
from milepost_lab.landmark.evidence import CONTEXT_EXPERIMENT, POSITION, SCATTERED
from milepost_lab.landmark.experiment import Experiment
from milepost_lab.landmark.sizes import GRANULARITY, HALO
from milepost_lab.landmark.surround import FRONT_SURROUND

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
    """Find an experiment by name.

    Raises:
        InputError: the name is unknown; the hint gives the nearest known one.
    """
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    raise InputError(
        f"unknown experiment {name!r}",
        f"{nearest(name, EXPERIMENTS)}one of {', '.join(EXPERIMENTS)}",
    )


def outcomes(
    session: Session, names: Sequence[str], say: Callable[[str], object]
) -> Iterator[Outcome]:
    """Run experiments, each on the tasks it is made for unless the session names others.

    Args:
        session: tasks, encoder and cached vectors.
        names: of ``EXPERIMENTS``; ``all`` means every one.
        say: called before each experiment begins, with its name and question.

    Raises:
        InputError: a name is unknown; raised before the first experiment runs.
    """
    wanted = [each for name in names for each in (EXPERIMENTS if name == "all" else (name,))]
    for chosen in [find(name) for name in wanted]:
        say(f"{chosen.name}: {chosen.question}")
        tasks = [task for task, _ in session.loaded(chosen.tasks)]
        yield chosen.run(session.factory.encoder(), tasks, session.vectors)
