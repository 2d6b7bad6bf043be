"""Intervals and paired differences."""

import math

import numpy as np
import pytest

from milepost_lab.statistics import Difference, difference, holm, interval, over_seeds


def test_an_interval_covers_the_mean_at_its_rate():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(100):
        low, high = interval(rng.normal(2, 1, 40))[1:]
        hits += low <= 2 <= high
    assert 88 <= hits <= 99


def test_figures_of_one_document_are_drawn_together():
    """Ten equal figures a document say no more than one."""
    rng = np.random.default_rng(1)
    documents = rng.normal(0, 1, 12)
    figures, names = np.repeat(documents, 10), np.repeat(np.arange(12), 10).tolist()
    assert interval(figures, names)[1:] == pytest.approx(interval(documents)[1:])
    apart = interval(figures)
    assert apart.high - apart.low < 0.5 * (interval(documents).high - interval(documents).low)


def test_one_document_has_no_spread():
    assert interval([1.0, 3.0], ["a", "a"]) == (2.0, 2.0, 2.0)


def test_a_difference_and_what_could_be_found():
    rng = np.random.default_rng(2)
    base = rng.normal(0, 1, 60)
    found = difference(base + 1 + rng.normal(0, 0.1, 60), base)
    assert found.low < 1 < found.high
    assert found.p < 0.001
    assert found.detectable == pytest.approx(2.8 * 0.1 / math.sqrt(60), rel=0.3)
    assert difference([1.0, 2.0], [1.0, 2.0]) == (0, 0, 0, 1, 0)


def test_three_seeds_use_students_t():
    """Mean 2, standard deviation 1, t(0.975, 2) = 4.3027: half width 4.3027 / √3."""
    found = over_seeds([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert found.mean == 2
    assert found.high - found.mean == pytest.approx(4.30265 / math.sqrt(3), rel=1e-4)
    assert found.p == pytest.approx(0.0742, abs=1e-4)
    assert math.isnan(over_seeds([1.0], [0.0]).low)


def test_holm_multiplies_the_smallest_p_by_their_number():
    found = {n: Difference(0, 0, 0, p, 0) for n, p in (("a", 0.03), ("b", 0.01), ("c", 0.04))}
    adjusted = {n: each.p for n, each in holm(found).items()}
    assert adjusted == pytest.approx({"a": 0.06, "b": 0.03, "c": 0.06})
    assert list(adjusted) == ["a", "b", "c"]
