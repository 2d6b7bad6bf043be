"""Every way of finding a placement beside every placement trained alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost.lab.supernet.agreement import interval, regret
from milepost.lab.supernet.learner import alone
from milepost.lab.supernet.mixture import Assignment, search
from milepost.lab.supernet.placements import Placement, even, pareto
from milepost.lab.supernet.tasks import LAYERS, POOLINGS, Task, task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Row:
    """A placement trained alone.

    Attributes:
        placement: layers at each resolution.
        macs: multiplications for one example.
        accuracy: on the test part, mean over seeds.
        spread: standard deviation over seeds; 0 of a single one.
        worth: nothing at most as dear is as good.
    """

    placement: Placement
    macs: int
    accuracy: float
    spread: float
    worth: bool


@dataclass(frozen=True, slots=True)
class Method:
    """A way of finding a placement.

    Attributes:
        name: what it is.
        steps: of training that one run takes.
        tau: Kendall's, to the accuracies of placements trained alone, mean over runs; None for a
            way that does not rank all placements.
        low, high: of its interval.
        regret: what its pick loses, mean over runs.
        regret_at_cost: the same among placements no dearer than the even one.
        picks: what it picked, run by run.
    """

    name: str
    steps: int
    tau: float | None
    low: float | None
    high: float | None
    regret: float
    regret_at_cost: float
    picks: tuple[Placement, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """All of it; ``as_json`` is what ``--json`` prints."""

    task: str
    rows: list[Row]
    methods: list[Method]

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        return asdict(self)


def study(
    name: str,
    *,
    supernets: Sequence[int] = (1, 2, 4),
    assignments: Sequence[Assignment] = ("learnt", "fixed"),
    seeds: int = 3,
    steps: int = 250,
    budget: int = 2,
    progress: Progress = lambda _, __, ___: None,
) -> Study:
    """Search with every method, and judge each by training every placement alone.

    Args:
        name: of a task.
        supernets: numbers of nets.
        assignments: of placements to nets, where there are several.
        seeds: runs of everything.
        steps: of training one placement alone.
        budget: a search takes so many times those steps; brute force ``placements · seeds`` times.
        progress: called with what is being done, how much is done, and of how much.

    Raises:
        InputError: an unknown task, or a number of nets that makes no sense.
    """
    import numpy as np

    chosen = task(name)
    for nets in supernets:
        if not 1 <= nets <= len(chosen.placements):
            raise InputError(
                f"{nets} supernets for {len(chosen.placements)} placements",
                "give from 1 to the number of placements",
            )
    trials: list[tuple[str, int, Assignment]] = []
    for nets in supernets:
        for assignment in assignments if nets > 1 else assignments[:1]:
            label = f"{nets} nets, {assignment}" if nets > 1 else "1 net"
            trials.append((label, nets, assignment))
    of = seeds * (len(chosen.placements) * steps + len(trials) * steps * budget)
    tested, validated = _alone(chosen, seeds, steps, lambda at: progress("alone", at, of))
    truth = tested.mean(0)
    judge = _Judge(chosen, truth)
    methods: list[Method] = []
    if seeds > 1:
        # One seed's ranking is judged by the others: its own would be judge of itself.
        others = np.array([np.delete(tested, seed, 0).mean(0) for seed in range(seeds)])
        methods.append(judge.ranked("brute force", len(truth) * steps, validated, others))
    done = seeds * len(truth) * steps
    for label, nets, assignment in trials:
        rankings: list[NDArray[np.float64]] = []
        for seed in range(seeds):
            progress(label, done, of)
            found = search(chosen, nets, steps * budget, assignment=assignment, seed=seed)
            rankings.append(found.ranking)
            done += steps * budget
        methods.append(judge.ranked(label, steps * budget, np.array(rankings)))
    methods += judge.free(budget, steps, validated)
    spread = tested.std(0, ddof=1) if seeds > 1 else np.zeros(len(truth))
    worth = pareto(chosen.macs, truth.tolist())
    rows = [
        Row(each, chosen.macs[at], float(truth[at]), float(spread[at]), worth[at])
        for at, each in enumerate(chosen.placements)
    ]
    return Study(name, rows, methods)


def _alone(
    chosen: Task, seeds: int, steps: int, progress: Callable[[int], None]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every placement trained alone: accuracies on the test part and on that for choosing."""
    import numpy as np

    tested = np.zeros((seeds, len(chosen.placements)))
    validated = np.zeros_like(tested)
    for seed in range(seeds):
        for at, placement in enumerate(chosen.placements):
            progress((seed * len(chosen.placements) + at) * steps)
            learner = alone(chosen, placement, seed, steps)
            tested[seed, at] = learner.accuracy(placement, chosen.test)
            validated[seed, at] = learner.accuracy(placement, chosen.choice)
    return tested, validated


class _Judge:
    """Knows the truth; says what a ranking or a pick is worth."""

    def __init__(self, chosen: Task, truth: NDArray[np.float64]) -> None:
        self.task, self.truth = chosen, truth
        self.all = list(range(len(truth)))
        limit = chosen.macs[chosen.placements.index(even(LAYERS, POOLINGS))]
        self.cheap = [at for at in self.all if chosen.macs[at] <= limit]

    def ranked(
        self,
        name: str,
        steps: int,
        rankings: NDArray[np.floating],
        truths: NDArray[np.float64] | None = None,
    ) -> Method:
        """A method that gives every placement a number; one that it does not know comes last.

        Args:
            name: of the method.
            steps: of one run.
            rankings: ``(runs, placements)``.
            truths: of the same shape, where runs are judged by something of their own.
        """
        import numpy as np

        known = np.nan_to_num(rankings, nan=float("-inf"))
        judges = np.broadcast_to(self.truth if truths is None else truths, known.shape)
        tau, low, high = interval(judges, known)
        lost: list[list[float]] = [[], []]
        for losses, among in zip(lost, (self.all, self.cheap), strict=True):
            for ranking, truth in zip(known, judges, strict=True):
                losses.append(regret(truth, among[int(np.argmax(ranking[among]))], among))
        picks = tuple(self.task.placements[int(np.argmax(ranking))] for ranking in known)
        everywhere, cheap = (self._mean(losses) for losses in lost)
        return Method(name, steps, tau, low, high, everywhere, cheap, picks)

    def free(self, draws: int, steps: int, validated: NDArray[np.float64]) -> list[Method]:
        """What needs no search: proxies, the even placement, chance, the best of some drawn."""
        import numpy as np

        macs = np.array([self.task.macs], np.float64)
        fine = np.array([self.task.resolution])
        usual = self.task.placements.index(even(LAYERS, POOLINGS))
        flat = np.zeros((1, len(self.truth)))
        flat[0, usual] = 1
        proxies = [
            self.ranked("most MACs", 0, macs),
            self.ranked("fewest MACs", 0, -macs),
            self.ranked("mean resolution", 0, fine),
        ]
        ways = [
            Method(
                "even placement",
                0,
                None,
                None,
                None,
                regret(self.truth, usual, self.all),
                regret(self.truth, usual, self.cheap),
                (self.task.placements[usual],),
            ),
            self._chance("one by lot", 0, 1, validated),
            self._chance(f"best of {draws} by lot", draws * steps, draws, validated),
        ]
        return proxies + ways

    def _chance(self, name: str, steps: int, draws: int, validated: NDArray[np.float64]) -> Method:
        """The best on validation of some drawn placements, each trained alone: its mean regret."""
        import numpy as np

        rng = np.random.default_rng(0)
        lost: list[list[float]] = [[], []]
        for _ in range(2000):
            row = validated[rng.integers(len(validated))]
            for losses, among in zip(lost, (self.all, self.cheap), strict=True):
                drawn = rng.choice(among, min(draws, len(among)), replace=False)
                losses.append(regret(self.truth, int(drawn[np.argmax(row[drawn])]), among))
        return Method(name, steps, None, None, None, self._mean(lost[0]), self._mean(lost[1]), ())

    @staticmethod
    def _mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)
