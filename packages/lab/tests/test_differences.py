"""Differences over a few trainings, and as lines."""

from __future__ import annotations

import pytest
from scipy import stats

from milepost_lab.differences import difference_lines, over_trainings


def test_interval_and_p_are_those_of_the_paired_t_test() -> None:
    ours, theirs = (0.5, 0.7, 0.9, 0.6), (0.4, 0.65, 0.7, 0.6)
    one = over_trainings(ours, theirs)
    expected = stats.ttest_rel(ours, theirs)
    ends = expected.confidence_interval(0.95)
    assert one.p == one.adjusted == pytest.approx(expected.pvalue)
    assert (one.low, one.high) == pytest.approx((ends.low, ends.high))
    assert (one.questions, one.clusters) == (4, 4)
    row = list(difference_lines({"a - b": one}, scale=100, digits=1))[1]
    assert row.split()[:4] == ["a", "-", "b", f"{100 * one.mean:+.1f}"]


@pytest.mark.parametrize(("apart", "p"), [(0.0, 1.0), (0.5, 0.0)])
def test_trainings_without_spread(apart: float, p: float) -> None:
    one = over_trainings((1 + apart,) * 3, (1.0,) * 3)
    assert (one.mean, one.low, one.high, one.p) == (apart, apart, apart, p)


def test_one_training_has_no_interval() -> None:
    with pytest.raises(ValueError, match="1 seeds have no spread"):
        over_trainings((1.0,), (0.5,))
