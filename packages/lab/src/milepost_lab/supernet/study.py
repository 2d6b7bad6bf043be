"""Compare all search methods with training every architecture alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost_lab.supernet.agreement import gap, interval, regret
from milepost_lab.supernet.architectures import Architecture
from milepost_lab.supernet.learner import alone
from milepost_lab.supernet.mixture import Assignment, search
from milepost_lab.supernet.placements import Placement, even, pareto
from milepost_lab.supernet.tasks import Task, task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ArchitectureRow:
    """An architecture trained alone.

    Attributes:
        placement: layers at each resolution.
        joins: join of each halving.
        macs: multiplications for one example.
        accuracy: accuracy on the test part, mean over seeds, 0-1.
        spread: standard deviation over seeds; 0 for a single seed.
        worth: whether it is Pareto-optimal in cost and accuracy.
    """

    placement: Placement
    joins: tuple[str, ...]
    macs: int
    accuracy: float
    spread: float
    worth: bool


@dataclass(frozen=True, slots=True)
class Method:
    """Results of a search method.

    Attributes:
        name: name of the method.
        steps: training steps of one run.
        tau: Kendall's tau with the accuracies of architectures trained alone, mean over runs; None
            for a method that does not rank all of them.
        low, high: ends of the interval of tau.
        regret: accuracy that its pick loses, mean over runs and over ties for the first place.
        regret_at_cost: the same among architectures that cost no more than the even placement.
        picks: the choice of each run; without joins if the method does not distinguish them.
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
class Gap:
    """Tau of a search with several nets less that of one net.

    Attributes:
        name: name of the search.
        tau: mean difference of runs with the same seed.
        low, high: ends of its interval, over architectures and runs.
        detectable: see ``agreement.gap``.
    """

    name: str
    tau: float
    low: float
    high: float
    detectable: float


@dataclass(frozen=True, slots=True)
class Part:
    """All architectures that share a placement or a join.

    Attributes:
        name: ``2 1 2``, or ``halving 1: max``.
        mean, best: mean and best of their accuracies.
    """

    name: str
    mean: float
    best: float


@dataclass(frozen=True, slots=True)
class Study:
    """All results; ``--json`` prints ``as_json``.

    Attributes:
        task: name of the task.
        rows: one for each architecture.
        parts: one for each placement, then for each join of a halving; empty with a single join.
        methods: one for each search method.
        gaps: each search with several nets less the one with one net, if both were run.
    """

    task: str
    rows: list[ArchitectureRow]
    parts: list[Part]
    methods: list[Method]
    gaps: list[Gap]

    def as_json(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
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
    """Search with every method, and compare it with training every architecture alone.

    Args:
        name: name of a task.
        supernets: numbers of nets to compare.
        assignments: ways to assign architectures to nets, for several nets.
        seeds: number of runs.
        steps: training steps of one architecture alone.
        budget: steps of a search as a multiple of ``steps``; one run of brute force takes as many
            multiples as there are architectures.
        joins: operations that a halving may use; by default those of the task.
        progress: called with the name of the stage, the steps done and their total number.

    Raises:
        InputError: an unknown task or join, or a number of nets that is out of range.
    """
    import numpy as np

    chosen = task(name, joins=joins)
    for nets in supernets:
        if not 1 <= nets <= len(chosen.architectures):
            raise InputError(
                f"{nets} supernets for {len(chosen.architectures)} architectures",
                "1 to the number of architectures",
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
        # A seed's ranking is compared with the other seeds only: with itself it would be circular.
        others = np.array([np.delete(tested, seed, 0).mean(0) for seed in range(seeds)])
        methods.append(judge.ranked("brute force", len(truth) * steps, validated, others))
    done = seeds * len(truth) * steps
    searched: dict[str, NDArray[np.float64]] = {}
    for label, nets, assignment in trials:
        rankings: list[NDArray[np.float64]] = []
        for seed in range(seeds):
            progress(label, done, of)
            found = search(chosen, nets, steps * budget, assignment=assignment, seed=seed)
            rankings.append(found.ranking)
            done += steps * budget
        searched[label] = _known(rankings)
        methods.append(judge.ranked(label, steps * budget, searched[label]))
    one = searched.get("1 net")
    gaps = [
        Gap(label, *gap(truth, several, one))
        for label, several in searched.items()
        if one is not None and label != "1 net"
    ]
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
    return Study(name, rows, parts(rows), methods, gaps)


def parts(rows: Sequence[ArchitectureRow]) -> list[Part]:
    """Compute mean and best accuracy by placement and by the join of each halving.

    Returns:
        Placements in their order, then the joins of the first halving, of the second, and so on;
        empty if only one join was tried.
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
    """Train every architecture alone: accuracies on the test part and on the choice part."""
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


def _known(rankings: Any) -> NDArray[np.float64]:
    """Rankings ``(runs, architectures)``; architectures without a score come last."""
    import numpy as np

    return np.nan_to_num(np.asarray(rankings, np.float64), nan=float("-inf"))


class _Judge:
    """Compares rankings and picks with the measured accuracies."""

    def __init__(self, chosen: Task, truth: NDArray[np.float64]) -> None:
        self.task, self.truth = chosen, truth
        self.all = list(range(len(truth)))
        # The usual choice: the even placement, and the task's first join.
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
        """Judge a method that scores every architecture.

        Args:
            name: name of the method.
            steps: training steps of one run.
            rankings: ``(runs, architectures)``, without NaN.
            truths: accuracies of the same shape, if each run has its own.
        """
        import numpy as np

        judges = np.broadcast_to(self.truth if truths is None else truths, rankings.shape)
        tau, low, high = interval(judges, rankings)
        lost: list[list[float]] = [[], []]
        for losses, among in zip(lost, (self.all, self.cheap), strict=True):
            for ranking, truth in zip(rankings, judges, strict=True):
                best = ranking[among].max()
                first = [at for at in among if ranking[at] == best]
                losses.append(self._mean([regret(truth, at, among) for at in first]))
        picks = tuple(self._pick(ranking) for ranking in rankings)
        everywhere, cheap = (self._mean(losses) for losses in lost)
        return Method(name, steps, tau, low, high, everywhere, cheap, picks)

    def _pick(self, ranking: NDArray[np.floating]) -> Architecture:
        """The best architecture; without joins if another with the same placement is as good."""
        best = ranking.max()
        first = [self.task.architectures[at] for at in self.all if ranking[at] == best]
        if sum(each.placement == first[0].placement for each in first) > 1:
            return Architecture(first[0].placement)
        return first[0]

    def free(self, draws: int, steps: int, validated: NDArray[np.float64]) -> list[Method]:
        """Judge methods without a search: proxies, the even placement and random choices."""
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
        """Judge the best on validation of some random architectures, each trained alone."""
        import numpy as np

        rng = np.random.default_rng(0)
        lost: list[list[float]] = [[], []]
        allowed = [(np.array(among), self.truth[among].max()) for among in (self.all, self.cheap)]
        for _ in range(2000):
            row = validated[rng.integers(len(validated))]
            for losses, (among, best) in zip(lost, allowed, strict=True):
                drawn = rng.choice(among, min(draws, len(among)), replace=False)
                losses.append(float(best - self.truth[drawn[np.argmax(row[drawn])]]))
        return Method(name, steps, None, None, None, self._mean(lost[0]), self._mean(lost[1]), ())

    @staticmethod
    def _mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)
