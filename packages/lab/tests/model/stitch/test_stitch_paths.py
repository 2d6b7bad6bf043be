"""Paths through two auxiliaries: the pairs of a window, the depths, and how often parts train."""

from __future__ import annotations

import doctest
from math import log
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.model.stitch import costs  # noqa: E402
from milepost_lab.model.stitch import paths as path_module  # noqa: E402
from milepost_lab.model.stitch.paths import balanced, early_exits, pairs, paths, visits  # noqa: E402


def test_depth_three_by_hand():
    """Seven pairs, two stitches: the first serves four, the second three."""
    assert [(j, k) for j, k, _ in pairs(3)] == [
        (0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2),
    ]  # fmt: skip
    assert [stitch for _, _, stitch in pairs(3)] == [0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(("depth", "count", "stitches"), [(6, 16, 5), (9, 25, 8), (12, 34, 11)])
def test_counts_of_the_papers_depths(depth, count, stitches):
    """``3 D - 2`` pairs, ``D - 1`` stitches, ``3 D`` descendants of two auxiliaries."""
    found = pairs(depth)
    assert len(found) == count == 3 * depth - 2
    assert {stitch for _, _, stitch in found} == set(range(stitches))
    assert all(abs(j - k) <= 1 for j, k, _ in found)
    every = paths(depth)
    assert len(every) == len({path.name for path in every}) == 3 * depth
    assert {path.blocks for path in every} == {depth, depth + 1, depth + 2}
    for path in every[1:-1]:
        assert path.blocks == path.narrow + depth - path.first


def test_the_ends_that_meet_are_trained_least():
    """Of 18 choices at depth 6: narrow block 0 in 17, block 5 in 3; wide block 0 in 3, 5 in 17."""
    often = visits(paths(6))
    assert [often["narrow 0"], often["narrow 5"]] == [17, 3]
    assert [often["wide 0"], often["wide 5"]] == [3, 17]


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 9), st.integers(1, 3), st.floats(0, 1))
def test_balanced_chances_are_chances(depth, kernel, uniform):
    """They add up to 1, leave no path out while a share is uniform, and are fairer."""
    chosen = paths(depth, min(kernel, depth))
    chances = balanced(chosen, uniform, rounds=60)
    assert sum(chances) == pytest.approx(1)
    assert min(chances) >= uniform / len(chosen) - 1e-12
    fairer, even = (
        sum(map(log, visits(chosen, each).values()))
        for each in (chances, [1 / len(chosen)] * len(chosen))
    )
    assert fairer >= even - 1e-9


def test_balanced_chances_lift_the_blocks_that_meet():
    """From 3 of 18 to nearly a quarter at depth 6."""
    often = visits(paths(6), balanced(paths(6)))
    assert min(often["narrow 5"], often["wide 0"]) > 0.22


def test_sampling_is_uniform_and_seeded():
    """The draw of the training: every path as often as another, the same under the same seed."""
    chosen = paths(3)
    drawn = Random(4).choices(chosen, None, k=9000)
    assert drawn == Random(4).choices(chosen, None, k=9000)
    counts = [drawn.count(path) for path in chosen]
    assert all(abs(count - 1000) < 5 * 30 for count in counts)  # five standard deviations


def test_early_exits_are_the_wide_one_cut():
    """One after each block, the last whole."""
    assert [(path.name, path.blocks) for path in early_exits(3)] == [
        ("wide:1", 1), ("wide:2", 2), ("wide", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("given_", [(3, 4, 1), (0, 1, 1), (3, 2, 0)])
def test_windows_that_cannot_be(given_):
    """Deeper than the encoders, or of nothing."""
    with pytest.raises(InputError):
        pairs(*given_)


@pytest.mark.parametrize("module", [costs, path_module])
def test_the_examples_hold(module):
    """The worked numbers in the docstrings."""
    assert doctest.testmod(module).failed == 0


def vision(width, depth):
    """Parameters of a DeiT with 1,000 classes, around our formula of its blocks."""
    rest = 768 * width + width + width + 197 * width + 2 * width + 1000 * width + 1000
    return rest + depth * costs.block_parameters(width)


def test_formulas_give_the_published_sizes():
    """Whole models, a published stitched one, and the shares of storage."""
    assert [vision(192, depth) for depth in (6, 9, 12)] == [3048232, 4382824, 5717416]
    assert [vision(768, depth) for depth in (6, 9, 12)] == [44040424, 65304040, 86567656]
    # SN-Net's row 4: tiny block 0, a stitch, small blocks 1 to 11.
    row = 147648 + costs.block_parameters(192) + costs.linear_parameters(192, 384)
    assert row + 11 * costs.block_parameters(384) + 385000 + 768 == 20571496
    # The smallest model, beside the whole narrow one.
    least = [round(100 * vision(192, depth) / vision(192, 12), 1) for depth in (6, 9)]
    assert least == [53.3, 76.7]
    stitch = costs.linear_parameters(192, 768)
    for depth, pool, whole, share in (
        (6, 47088656, 47829776, 41.2),
        (9, 69686864, 70872656, 60.9),
    ):
        both = vision(192, depth) + vision(768, depth)
        assert both == pool
        assert both + (depth - 1) * stitch == whole
        anchors = sum(vision(width, 12) for width in (192, 384, 768))
        assert anchors == 114335736
        assert round(100 * both / anchors, 1) == pytest.approx(share, abs=0.05)
