"""Placements, their costs, and which are worth them."""

import pytest

from milepost_lab.supernet.placements import (
    even,
    macs,
    pareto,
    placements,
    resolution,
)


def test_as_many_as_there_are_ways_in_the_paper_s_order():
    assert len(placements(10, 2)) == 36
    assert len(placements(16, 3)) == 455
    assert len(placements(8, 3)) == 35
    found = placements(10, 2)
    assert [found[at - 1] for at in (24, 28, 29, 34)] == [
        (4, 3, 3), (5, 2, 3), (5, 3, 2), (7, 1, 2),
    ]  # fmt: skip
    assert all(sum(each) == 10 and min(each) >= 1 for each in found)
    assert found == sorted(found)
    assert even(10, 2) == (4, 3, 3)


def test_cost_falls_with_resolution():
    assert macs((2, 1), [100, 100, 100], 2) == 250
    assert macs((1, 1, 1), [16, 16, 16], 4) == 16 + 4 + 1
    assert resolution((7, 1, 2), 4) == pytest.approx(7 + 1 / 4 + 2 / 16)
    assert resolution((2, 2, 2), 2) == pytest.approx(3.5)


def test_what_is_dearer_and_no_better_is_not_worth_it():
    assert pareto([1, 2, 3, 3], [5, 4, 6, 7]) == [True, False, False, True]
    assert pareto([2, 1], [5, 5]) == [False, True]
    assert pareto([1, 1], [5, 5]) == [True, True]
