"""Intervals hold what they should hold, tests are wrong as often as they may be."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost_eval.statistics import (
    EXACT,
    Difference,
    difference,
    holm,
    interval,
    mean_over_tasks,
    over_seeds,
    over_tasks,
    smallest_p,
    wilcoxon,
)

FIGURES = st.lists(
    st.tuples(st.sampled_from((0.0, 0.25, 0.5, 1.0)), st.sampled_from((0.0, 0.3, 1.0))),
    min_size=1,
    max_size=30,
)


def spread(figures: list[tuple[float, float]]) -> tuple[list[float], list[float], list[str]]:
    """Two systems' figures over up to five documents."""
    first, second = map(list, zip(*figures, strict=True))
    return first, second, [f"d{number % 5}" for number in range(len(figures))]


def simulated(
    random_: np.random.Generator, documents: int, shift: float
) -> tuple[list[float], list[float], list[str]]:
    """Two systems whose difference varies between documents of unlike numbers of questions."""
    counts = random_.integers(1, 12, documents)
    owner = np.repeat(np.arange(documents), counts)
    common = random_.normal(0.5, 0.3, len(owner))
    own = random_.normal(shift, 0.2, documents)[owner] + random_.normal(0, 0.4, len(owner))
    return (common + own).tolist(), common.tolist(), [f"d{number}" for number in owner]


def test_resampling_as_written_down() -> None:
    chance = random.Random(7)
    by_document = [[chance.random() for _ in range(1 + number % 3)] for number in range(8)]
    means = []
    for _ in range(40_000):
        drawn = chance.choices(by_document, k=8)
        means.append(sum(map(sum, drawn)) / sum(map(len, drawn)))
    # 8 documents move the percentiles outwards: from 2.5 % to Φ(-√(8/7) · 2.365) = 0.57 %.
    wanted = np.quantile(means, [0.0057, 0.9943])
    values = [value for values in by_document for value in values]
    clusters = [str(number) for number, values in enumerate(by_document) for _ in values]
    found = interval(values, clusters, draws=40_000)
    assert found[1:] == pytest.approx(wanted, abs=0.08 * float(np.std(means)))


@pytest.mark.parametrize("documents", [5, 12, 40])
def test_coverage(documents: int) -> None:
    """About 95 of 100 intervals hold the true difference, for few documents as for many."""
    source = np.random.default_rng(documents)
    held = 0
    for _ in range(400):
        found = difference(*simulated(source, documents, 0.1), draws=500)
        held += found.low <= 0.1 <= found.high
    assert (0.88 if documents < 12 else 0.90) <= held / 400 <= 0.985


@pytest.mark.parametrize("documents", [6, 10, 40])
def test_false_alarms(documents: int) -> None:
    """Of two systems that are the same on average, p < 0.05 comes about as often as it says."""
    source = np.random.default_rng(documents)
    alarms = [difference(*simulated(source, documents, 0.0), draws=2).p < 0.05 for _ in range(400)]
    assert 0.01 <= np.mean(alarms) <= 0.085


def test_every_flip_is_tried() -> None:
    """With few documents p is the share of all sign patterns that are as far from zero."""
    a, clusters = [1.0, 0.5, 0.0, 0.75, 0.5, 1.0], list("aabbcd")
    b = [0.0, 0.75, 0.25, 0.25, 0.0, 0.5]
    sums = {"a": 0.75, "b": 0.25, "c": 0.5, "d": 0.5}
    means = [
        abs(sum(sign * value for sign, value in zip(signs, sums.values(), strict=True)))
        for signs in itertools.product((1, -1), repeat=4)
    ]
    wanted = sum(mean >= 2.0 for mean in means) / 16
    found = difference(a, b, clusters)
    assert found.p == wanted == smallest_p(4)
    assert (found.mean, found.questions, found.clusters) == (pytest.approx(2 / 6), 6, 4)


@settings(max_examples=25, deadline=None)
@given(FIGURES)
def test_a_system_equals_itself(figures: list[tuple[float, float]]) -> None:
    a, _, clusters = spread(figures)
    wanted = Difference(0.0, 0.0, 0.0, 1.0, 1.0, len(a), len(set(clusters)), 0.0)
    assert difference(a, a, clusters) == wanted


@settings(max_examples=25, deadline=None)
@given(FIGURES, st.randoms(use_true_random=False))
def test_the_order_of_questions_and_tasks_does_not_matter(
    figures: list[tuple[float, float]], shuffler: random.Random
) -> None:
    a, b, clusters = spread(figures)
    rows = list(zip(a, b, clusters, strict=True))
    shuffler.shuffle(rows)
    a2, b2, clusters2 = map(list, zip(*rows, strict=True))
    other = ([1.0, 0.5], [0.0, 0.25], ["x", "y"])
    first = over_tasks({"one": (a, b, clusters), "two": other}, draws=100)
    second = over_tasks({"two": other, "one": (a2, b2, clusters2)}, draws=100)
    for name in ("mean", "low", "high", "p"):
        assert getattr(second, name) == pytest.approx(getattr(first, name), abs=1e-12)


def test_tasks_weigh_the_same() -> None:
    many = ([1.0] * 1000, [0.0] * 1000, [f"d{n % 50}" for n in range(1000)])
    few = ([0.0, 0.0], [0.5, 0.5], ["x", "y"])
    found = over_tasks({"many": many, "few": few})
    assert found.mean == pytest.approx(0.25)
    assert (found.questions, found.clusters) == (1002, 52)
    mean, low, high = mean_over_tasks({"many": many[::2], "few": (few[1], few[2])})
    assert (mean, low, high) == (0.75, 0.75, 0.75)


def test_one_document_is_about_its_questions() -> None:
    """With a single document its questions are resampled; with a single question nothing is."""
    values = [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    _, low, high = interval(values, ["d"] * 8)
    assert 0.0 < low < 0.625 < high <= 1.0
    assert difference(values, [0.0] * 8, ["d"] * 8).clusters == 1
    assert interval([0.3]) == (0.3, 0.3, 0.3)


def test_a_higher_level_is_wider_and_a_seed_repeats() -> None:
    values = np.random.default_rng(0).random(200).tolist()
    clusters = [f"d{number % 40}" for number in range(200)]
    half, usual, more = (interval(values, clusters, level=level) for level in (0.5, 0.95, 0.99))
    assert more.low < usual.low < half.low < half.high < usual.high < more.high
    assert interval(values, clusters) == usual != interval(values, clusters, seed=1)


@pytest.mark.parametrize(("values", "clusters"), [([], []), ([1.0], []), ([1.0], ["a", "b"])])
def test_columns_that_do_not_fit_are_refused(values: list[float], clusters: list[str]) -> None:
    with pytest.raises(ValueError, match="figures and"):
        interval(values, clusters)


@pytest.mark.parametrize(
    ("given_", "wanted"),
    [
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),  # statsmodels' multipletests(…, "holm")
        ([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06]),
        ([0.9, 0.8], [1.0, 1.0]),
    ],
)
def test_holm_by_hand(given_: list[float], wanted: list[float]) -> None:
    """Step down: smallest times m, next times m - 1, never decreasing, at most 1."""
    adjusted = holm({str(number): p for number, p in enumerate(given_)})
    assert list(adjusted.values()) == pytest.approx(wanted)


def test_wilcoxon_is_exact_with_ties_and_zeros() -> None:
    """Equal differences share their ranks; differences of zero change nothing."""
    pytest.importorskip("scipy", reason="needs the eval extra")
    # Ranks 1.5, 1.5, 3, 4.5, 4.5: of 32 flips six lose 1.5 or less, or win that.
    tied = [0.1, -0.1, 0.2, 0.3, 0.3]
    assert wilcoxon(tied) == wilcoxon([0.0, *tied, 0.0]) == 6 / 32
    assert wilcoxon([0.1] * EXACT) == smallest_p(EXACT)
    many = [number / 100 for number in range(1, 21)]
    assert wilcoxon([*many, 0.0]) == pytest.approx(smallest_p(20), rel=1e-6)
    assert wilcoxon([*many, *[0.0] * 40]) == wilcoxon(many)


@settings(max_examples=40)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=EXACT, unique_by=abs))
def test_wilcoxon_of_distinct_differences_is_that_of_scipy(differences: list[int]) -> None:
    stats = pytest.importorskip("scipy.stats", reason="needs the eval extra")
    kept = [each for each in differences if each]
    wanted = stats.wilcoxon(kept, method="exact").pvalue if kept else 1.0
    assert wilcoxon(differences) == pytest.approx(wanted)


def test_three_seeds_use_students_t() -> None:
    """Mean 2, standard deviation 1, t(0.975, 2) = 4.3027: half width 4.3027 / √3."""
    pytest.importorskip("scipy", reason="needs the eval extra")
    found = over_seeds([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert (found.mean, found.questions) == (2, 3)
    assert found.high - found.mean == pytest.approx(4.30265 / math.sqrt(3), rel=1e-4)
    assert found.p == pytest.approx(0.0742, abs=1e-4)
    assert math.isnan(over_seeds([1.0], [0.0]).low)


def test_what_could_be_found() -> None:
    """2.8 standard errors of the mean of 60 differences that spread by 0.1."""
    random_ = np.random.default_rng(2)
    base = random_.normal(0, 1, 60)
    found = difference(base + 1 + random_.normal(0, 0.1, 60), base)
    assert found.low < 1 < found.high
    assert found.detectable == pytest.approx(2.8 * 0.1 / math.sqrt(60), rel=0.3)
