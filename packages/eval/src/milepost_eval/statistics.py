"""Intervals and tests for figures whose questions share documents, and tasks that weigh the same.

Questions about one document are not independent, so documents are what is resampled (a cluster
bootstrap: Field and Welsh 2007, *Bootstrapping clustered data*) and what is flipped in the test.
Two systems are compared on the same questions (Smucker, Allan and Carterette 2007, *A comparison
of statistical significance tests for information retrieval evaluation*; Dror et al. 2018, *The
hitchhiker's guide to testing statistical significance in natural language processing*).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from milepost._optional import require

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

DRAWS = 2000
FLIPS = 9999
EXACT = 12
"""Up to so many clusters every way of flipping them is tried, 4,096 at most."""

_BLOCK = 1 << 20  # random numbers held at a time: some MB, however many documents there are

Clusters = Sequence[Hashable] | None
"""What each figure belongs to, such as the document that a question is about; None for itself."""

Values = tuple["ArrayLike", Clusters]
"""A figure and a cluster a question."""

Pairs = tuple["ArrayLike", "ArrayLike", Clusters]
"""Two systems' figures and a cluster a question."""


class Interval(NamedTuple):
    """A mean and its interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference; never without its interval.

    Attributes:
        mean: first minus second.
        low: lower end of the interval.
        high: upper end of the interval.
        p: two-sided, see ``over_tasks``.
        adjusted: ``p`` after Holm's correction, see ``corrected``; ``p`` where nothing else was
            looked at.
        questions: differences that the mean is of.
        clusters: documents that the questions are about; of a single one its questions are
            resampled.
        detectable: the minimum detectable effect, a true difference that 80 of 100 repetitions
            find: 2.80 standard errors, where half of the 95 % interval is 1.96 of them; before
            ``corrected``.
    """

    mean: float
    low: float
    high: float
    p: float
    adjusted: float
    questions: int
    clusters: int
    detectable: float


def interval(
    values: ArrayLike,
    clusters: Clusters = None,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> Interval:
    """The mean over questions; ``mean_over_tasks`` with one task, see there.

    >>> interval([0.5, 0.5, 0.5], ["a", "a", "b"])
    Interval(mean=0.5, low=0.5, high=0.5)
    """
    return mean_over_tasks({"": (values, clusters)}, level=level, draws=draws, seed=seed)


def mean_over_tasks(
    values: Mapping[str, Values], *, level: float = 0.95, draws: int = DRAWS, seed: int = 0
) -> Interval:
    """The mean over tasks of the mean over questions, with its interval.

    A draw takes as many clusters of each task as it has, with replacement; its mean is ``sum of
    the drawn clusters' sums / sum of their counts`` (a ratio estimator: long documents with many
    questions weigh as much as in the mean itself), then the mean over tasks. The interval lies
    between two percentiles of the draws (Efron and Tibshirani 1993, chapter 13). Percentiles are
    too narrow for few clusters (Cameron, Gelbach and Miller 2008), so the two are moved outwards
    as Hesterberg proposes (2015, *What teachers should know about the bootstrap*, section 5.3),
    with Satterthwaite's degrees of freedom where there are several tasks. Of 1,000 simulated tasks
    with documents of unlike size and difficulty, 95 % intervals held the true mean in 0.76 at 3
    documents (0.76 without moving), 0.85 at 4 (0.79), 0.93 at 8 (0.87), 0.94 at 12 (0.92) and
    0.95 at 20 (0.93): under 8 documents they are too narrow still, as no draw leaves the data.

    Of a task whose questions are all about one document the questions are resampled: such an
    interval is about other questions to that document and says nothing about other documents.
    Of a single question nothing is known: its interval is a point.

    Args:
        values: task → a figure and a cluster a question.
        level: share of intervals that should hold the true mean.
        draws: bootstrap samples.
        seed: same seed, same interval, whatever the order of tasks and clusters.
    """
    samples = [_sample(*values[name]) for name in sorted(values)]
    return Interval(_mean(samples), *_bounds(samples, level, draws, seed))


def difference(
    a: ArrayLike,
    b: ArrayLike,
    clusters: Clusters = None,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> Difference:
    """Mean of ``a - b`` over the same questions; ``over_tasks`` with one task, see there."""
    return over_tasks({"": (a, b, clusters)}, level=level, draws=draws, seed=seed)


def over_tasks(
    pairs: Mapping[str, Pairs], *, level: float = 0.95, draws: int = DRAWS, seed: int = 0
) -> Difference:
    """The mean over tasks of the mean difference over questions: each task weighs the same.

    The interval is ``mean_over_tasks`` of the differences. The p-value is that of a paired
    randomisation test (Smucker, Allan and Carterette 2007 find it as good as the t-test and
    bootstrap) that flips the sign of all differences of a cluster together: were the two systems
    the same, their names could be swapped in any document. It needs no number of clusters to be
    large, which a p-value from the bootstrap does (Cameron, Gelbach and Miller 2008): of ``n``
    clusters it is never under ``2 / 2**n``. Every flip is tried up to ``EXACT`` clusters, else
    ``FLIPS`` random ones with the observed one among them. Interval and p-value answer by
    different means and may disagree about a difference at the border.

    Of a task with one cluster the questions are resampled and flipped, see ``mean_over_tasks``.

    Args:
        pairs: task → first system's figures, second system's, a cluster a question.
        level: share of intervals that should hold the true difference.
        draws: bootstrap samples.
        seed: same seed, same answer.
    """
    import numpy as np

    samples = [_sample(np.subtract(a, b), of) for _, (a, b, of) in sorted(pairs.items())]
    low, high = _bounds(samples, level, draws, seed)
    p = _flip_p(samples, seed)
    return Difference(
        mean=_mean(samples),
        low=low,
        high=high,
        p=p,
        adjusted=p,
        questions=sum(int(sample.counts.sum()) for sample in samples),
        clusters=sum(sample.clusters for sample in samples),
        detectable=2.80 / 1.96 * (high - low) / 2,
    )


def over_seeds(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Mean of ``a - b``, one figure a training, by Student's t.

    The bootstrap would not do: of three trainings no draw leaves their range. Of a single one
    nothing but the mean is known.

    Raises:
        MissingExtra: SciPy is not installed.
    """
    import numpy as np

    t = require("scipy.stats", extra="eval").t
    apart = np.subtract(a, b)
    mean, number, nan = float(apart.mean()), len(apart), math.nan
    if number < 2:
        return Difference(mean, nan, nan, nan, nan, number, number, nan)
    error, free = float(apart.std(ddof=1)) / math.sqrt(number), number - 1
    half = float(t.ppf(0.975, free)) * error
    p = 2 * float(t.sf(abs(mean) / error, free)) if error else float(mean == 0)
    detectable = half + float(t.ppf(0.8, free)) * error
    return Difference(mean, mean - half, mean + half, p, p, number, number, detectable)


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """p-values adjusted for having looked at all of them (Holm 1979), in the order given.

    The ``i``-th smallest of ``m`` (from 0) times ``m - i``, never under a smaller one's, at most
    1. Calling those under 0.05 different is wrong about any of them in 5 % of cases at most.

    >>> holm({"a": 0.01, "b": 0.5, "c": 0.25})
    {'a': 0.03, 'b': 0.5, 'c': 0.5}
    """
    adjusted: dict[str, float] = {}
    most = 0.0
    for number, name in enumerate(sorted(p, key=lambda name: p[name])):
        most = max(most, min(1.0, (len(p) - number) * p[name]))
        adjusted[name] = most
    return {name: adjusted[name] for name in p}


def corrected(found: Mapping[str, Difference]) -> dict[str, Difference]:
    """The same differences, their p-values adjusted for having looked at all of them (``holm``)."""
    adjusted = holm({name: one.p for name, one in found.items()})
    return {name: replace(one, adjusted=adjusted[name]) for name, one in found.items()}


def wilcoxon(differences: Sequence[float]) -> float:
    """Two-sided p of the signed ranks of one difference a task (Wilcoxon 1945; Demšar 2006).

    Says whether the one system is better on most tasks, however unlike their scales. Tasks without
    a difference are left out, and 1 comes back where none has one. Of the others p is exact up to
    ``EXACT``, and up to 50 where no two differences are of one size; beyond, it is approximate. Few
    tasks can show little: the smallest p possible is ``smallest_p(n)``, 0.03 for six tasks.

    Raises:
        MissingExtra: SciPy is not installed.
    """
    # Equal figures may differ in their last bits once they are means; ranks would see them.
    # Zeros go before SciPy sees them: beside one it leaves exact p-values for approximate ones.
    kept = [rounded for value in differences if (rounded := round(value, 12))]
    if not kept:
        return 1.0
    if len(kept) > EXACT:
        stats = require("scipy.stats", extra="eval")  # seconds to import: only where it is needed
        return float(stats.wilcoxon(kept).pvalue)
    import numpy as np

    # Every flip is tried here: what SciPy does with equal differences depends on its version.
    _, places, shared = np.unique(np.abs(kept), return_inverse=True, return_counts=True)
    ranks = np.sign(kept) * (np.cumsum(shared) - (shared - 1) / 2)[places]  # ties share the mean
    return _flip_p([_Sample(ranks, np.ones(len(kept), np.int64))], 0)


def smallest_p(n: int) -> float:
    """The smallest two-sided p that ``n`` signs can give: all the same, ``2 / 2**n``.

    >>> smallest_p(6)
    0.03125
    """
    return min(1.0, math.ldexp(2.0, -n))


@dataclass(frozen=True, slots=True)
class _Sample:
    """One task: sum of the figures and number of the questions of each cluster, both ``(n,)``."""

    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    clusters: int = 0


def _sample(values: ArrayLike, clusters: Clusters) -> _Sample:
    import numpy as np

    figures = np.asarray(values, np.float64)
    named = range(len(figures)) if clusters is None else clusters
    if not len(figures) or len(figures) != len(named):
        raise ValueError(f"{len(figures)} figures and {len(named)} clusters")
    # Sorted, so that the order of the questions does not matter.
    numbers = {name: number for number, name in enumerate(sorted(set(named)))}  # type: ignore[type-var]
    owner = np.array([numbers[name] for name in named], np.int64)
    if len(numbers) == 1:
        owner = np.arange(len(figures))
    sums = np.zeros(int(owner.max()) + 1)
    np.add.at(sums, owner, figures)
    return _Sample(sums, np.bincount(owner), len(numbers))


def _mean(samples: Sequence[_Sample]) -> float:
    return math.fsum(sample.sums.sum() / sample.counts.sum() for sample in samples) / len(samples)


def _bounds(samples: Sequence[_Sample], level: float, draws: int, seed: int) -> tuple[float, float]:
    """Percentiles of the drawn means, moved outwards for few clusters."""
    import numpy as np

    means = np.stack([_draws(sample, draws, seed, at) for at, sample in enumerate(samples)])
    spread = means.var(axis=1)
    if not spread.any():
        return (_mean(samples),) * 2
    clusters = np.array([len(sample.counts) for sample in samples])
    free = np.maximum(1, clusters - 1)
    # A resampled variance is (n - 1)/n of the one wanted, and n - 1 degrees of freedom make the
    # tails of a t distribution; of one task that is Hesterberg's formula.
    wider = math.sqrt((spread * clusters / free).sum() / spread.sum())
    freedom = float(spread.sum() ** 2 / (spread**2 / free).sum())
    tail = NormalDist().cdf(-wider * _t(0.5 + level / 2, freedom))
    low, high = np.quantile(means.mean(axis=0), [tail, 1 - tail])
    return float(low), float(high)


def _draws(sample: _Sample, draws: int, seed: int, task: int) -> NDArray[np.float64]:
    """``(draws,)`` means of resampled clusters."""
    import numpy as np

    random = np.random.default_rng((seed, task))
    clusters = len(sample.counts)
    parts = []
    for rows in _blocks(draws, clusters):
        drawn = random.integers(0, clusters, (rows, clusters))
        parts.append(sample.sums[drawn].sum(axis=1) / sample.counts[drawn].sum(axis=1))
    return np.concatenate(parts)


def _t(share: float, freedom: float) -> float:
    """Quantile of Student's t, by Fisher and Cornish's series (1960) around the normal one.

    Within 0.2 % from three degrees of freedom on; below, it ends outside all draws as it should.
    """
    z = NormalDist().inv_cdf(share)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def _flip_p(samples: Sequence[_Sample], seed: int) -> float:
    """Share of sign flips of whole clusters whose mean is as far from 0 as the observed one."""
    import numpy as np

    shares = np.concatenate([sample.sums / sample.counts.sum() for sample in samples])
    # Flips that give the same mean must count, whatever order their terms were added in.
    observed = abs(shares.sum()) - 1e-12 * np.abs(shares).sum()
    clusters = len(shares)
    if clusters <= EXACT:
        every = np.arange(2**clusters)[:, None] >> np.arange(clusters) & 1
        return float((abs(shares.sum() - 2 * (every @ shares)) >= observed).mean())
    random = np.random.default_rng((seed, len(samples)))
    as_far = 0
    for rows in _blocks(FLIPS, clusters):
        packed = np.frombuffer(random.bytes(rows * -(-clusters // 8)), np.uint8)
        flipped = np.unpackbits(packed.reshape(rows, -1), axis=1, count=clusters)
        as_far += int((abs(shares.sum() - 2 * (flipped @ shares)) >= observed).sum())
    return (1 + as_far) / (1 + FLIPS)


def _blocks(rows: int, width: int) -> Iterator[int]:
    """Numbers that add up to ``rows``, each of at most a block of ``width`` columns."""
    most = max(1, _BLOCK // width)
    yield from (min(most, rows - start) for start in range(0, rows, most))
