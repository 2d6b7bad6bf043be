"""Every way of finding an architecture beside every architecture trained alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost.lab.supernet.agreement import interval, regret
from milepost.lab.supernet.architectures import Architecture
from milepost.lab.supernet.learner import alone
from milepost.lab.supernet.mixture import Assignment, search
from milepost.lab.supernet.placements import Placement, even, pareto
from milepost.lab.supernet.tasks import Task, task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ArchitectureRow:
    """An architecture trained alone.

    Attributes:
        placement: layers at each resolution.
        joins: of each halving.
        macs: multiplications for one example.
        accuracy: on the test part, mean over seeds.
        spread: standard deviation over seeds; 0 of a single one.
        worth: nothing at most as dear is as good.
    """

    placement: Placement
    joins: tuple[str, ...]
    macs: int
    accuracy: float
    spread: float
    worth: bool


@dataclass(frozen=True, slots=True)
class Method:
    """A way of finding an architecture.

    Attributes:
        name: what it is.
        steps: of training that one run takes.
        tau: Kendall's, to the accuracies of architectures trained alone, mean over runs; None for
            a way that does not rank all of them.
        low, high: of its interval.
        regret: what its pick loses, mean over runs; where several are first alike, their mean.
        regret_at_cost: the same among architectures no dearer than the even placement.
        picks: what it picked, run by run; without joins where it is indifferent to them.
    """

    name: str
    steps: int
    tau: float | None
    low: float | None
    high: float | None
    regret: float
    regret_at_cost: float
    picks: tuple[Architecture, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """All architectures that share a placement or a join.

    Attributes:
        name: ``2 1 2``, or ``halving 1: max``.
        mean, best: of their accuracies.
    """

    name: str
    mean: float
    best: float


@dataclass(frozen=True, slots=True)
class Study:
    """All of it; ``as_json`` is what ``--json`` prints.

    Attributes:
        task: its name.
        rows: an architecture each.
        parts: a placement each, then a join of a halving each; none where there is but one join.
        methods: a way of finding one each.
    """

    task: str
    rows: list[ArchitectureRow]
    parts: list[Part]
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
    joins: Sequence[str] = (),
    progress: Progress = lambda _, __, ___: None,
) -> Study:
    """Search with every method, and judge each by training every architecture alone.

    Args:
        name: of a task.
        supernets: numbers of nets.
        assignments: of architectures to nets, where there are several.
        seeds: runs of everything.
        steps: of training one architecture alone.
        budget: a search takes so many times those steps; brute force ``architectures · seeds``
            times.
        joins: what a halving may make of a pair; where none are given, those of the task.
        progress: called with what is being done, how much is done, and of how much.

    Raises:
        InputError: an unknown task or join, or a number of nets that makes no sense.
    """
    import numpy as np

    chosen = task(name, joins=joins)
    for nets in supernets:
        if not 1 <= nets <= len(chosen.architectures):
            raise InputError(
                f"{nets} supernets for {len(chosen.architectures)} architectures",
                "give from 1 to the number of architectures",
            )
    trials: list[tuple[str, int, Assignment]] = []
    for nets in supernets:
        for assignment in assignments if nets > 1 else assignments[:1]:
            label = f"{nets} nets, {assignment}" if nets > 1 else "1 net"
            trials.append((label, nets, assignment))
    of = seeds * (len(chosen.architectures) * steps + len(trials) * steps * budget)
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
        ArchitectureRow(
            each.placement,
            each.joins,
            chosen.macs[at],
            float(truth[at]),
            float(spread[at]),
            worth[at],
        )
        for at, each in enumerate(chosen.architectures)
    ]
    return Study(name, rows, parts(rows), methods)


def parts(rows: Sequence[ArchitectureRow]) -> list[Part]:
    """Means and bests by placement and by the join of each halving.

    Returns:
        Placements in their order, then the joins of the first halving, of the second, and so on;
        nothing where only one join was tried.
    """
    if len({join for row in rows for join in row.joins}) < 2:
        return []
    of: dict[str, list[float]] = {}
    for row in rows:
        of.setdefault(" ".join(map(str, row.placement)), []).append(row.accuracy)
    for halving in range(len(rows[0].joins)):
        for row in rows:
            label = f"halving {halving + 1}: {row.joins[halving]}"
            of.setdefault(label, []).append(row.accuracy)
    return [Part(label, sum(some) / len(some), max(some)) for label, some in of.items()]


def _alone(
    chosen: Task, seeds: int, steps: int, progress: Callable[[int], None]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every architecture trained alone: accuracies on the test part and on that for choosing."""
    import numpy as np

    tested = np.zeros((seeds, len(chosen.architectures)))
    validated = np.zeros_like(tested)
    for seed in range(seeds):
        for at, architecture in enumerate(chosen.architectures):
            progress((seed * len(chosen.architectures) + at) * steps)
            learner = alone(chosen, architecture, seed, steps)
            tested[seed, at] = learner.accuracy(architecture, chosen.test)
            validated[seed, at] = learner.accuracy(architecture, chosen.choice)
    return tested, validated


class _Judge:
    """Knows the truth; says what a ranking or a pick is worth."""

    def __init__(self, chosen: Task, truth: NDArray[np.float64]) -> None:
        self.task, self.truth = chosen, truth
        self.all = list(range(len(truth)))
        # What everybody takes: the even placement, and the join that is the task's first.
        first = chosen.architectures[0]
        usual = Architecture(even(sum(first.placement), len(first.joins)), first.joins)
        self.usual = chosen.architectures.index(usual)
        limit = chosen.macs[self.usual]
        self.cheap = [at for at in self.all if chosen.macs[at] <= limit]

    def ranked(
        self,
        name: str,
        steps: int,
        rankings: NDArray[np.floating],
        truths: NDArray[np.float64] | None = None,
    ) -> Method:
        """A method that gives every architecture a number; one it does not know comes last.

        Args:
            name: of the method.
            steps: of one run.
            rankings: ``(runs, architectures)``.
            truths: of the same shape, where runs are judged by something of their own.
        """
        import numpy as np

        known = np.nan_to_num(rankings, nan=float("-inf"))
        judges = np.broadcast_to(self.truth if truths is None else truths, known.shape)
        tau, low, high = interval(judges, known)
        lost: list[list[float]] = [[], []]
        for losses, among in zip(lost, (self.all, self.cheap), strict=True):
            for ranking, truth in zip(known, judges, strict=True):
                best = ranking[among].max()
                first = [at for at in among if ranking[at] == best]
                losses.append(self._mean([regret(truth, at, among) for at in first]))
        picks = tuple(self._pick(ranking) for ranking in known)
        everywhere, cheap = (self._mean(losses) for losses in lost)
        return Method(name, steps, tau, low, high, everywhere, cheap, picks)

    def _pick(self, ranking: NDArray[np.floating]) -> Architecture:
        """The first; without joins where another with the same placement is as good."""
        best = ranking.max()
        first = [self.task.architectures[at] for at in self.all if ranking[at] == best]
        if sum(each.placement == first[0].placement for each in first) > 1:
            return Architecture(first[0].placement)
        return first[0]

    def free(self, draws: int, steps: int, validated: NDArray[np.float64]) -> list[Method]:
        """What needs no search: proxies, the even placement, chance, the best of some drawn."""
        import numpy as np

        macs = np.array([self.task.macs], np.float64)
        fine = np.array([self.task.resolution])
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
                regret(self.truth, self.usual, self.all),
                regret(self.truth, self.usual, self.cheap),
                (self.task.architectures[self.usual],),
            ),
            self._chance("one by lot", 0, 1, validated),
            self._chance(f"best of {draws} by lot", draws * steps, draws, validated),
        ]
        return proxies + ways

    def _chance(self, name: str, steps: int, draws: int, validated: NDArray[np.float64]) -> Method:
        """The best on validation of some drawn ones, each trained alone: its mean regret."""
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
