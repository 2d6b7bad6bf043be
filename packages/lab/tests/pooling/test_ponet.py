"""PoNet's three poolings: checks by hand (facts page 04), invariances, a planted outlier."""

import numpy as np
import pytest
from hypothesis import given as draw
from hypothesis import settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.pooling.ponet import (
    aggregated,
    balanced,
    by_headings,
    by_specials,
    local_max,
    mixed,
    segment_max,
)
from milepost_lab.pooling.ragged import owners


def column(*numbers):
    return np.array(numbers, np.float64)[:, None]


def lengths(*numbers):
    return np.array(numbers, np.int64)


def test_global_aggregation_of_check_1():
    keys = column(0, np.log(2), np.log(4))
    found = aggregated(column(1, 1, 1), keys, lengths(3), heads=1)
    assert found[0, 0] == pytest.approx(10 * np.log(2) / 7)
    assert found[0, 0] == pytest.approx(0.990210258, abs=1e-9)


def test_maxima_of_segments_and_windows_of_check_2():
    values = column(1, 5, 2, 0, 3)
    assert segment_max(values, lengths(2, 3))[:, 0].tolist() == [5, 5, 3, 3, 3]
    assert local_max(values, lengths(5), 3)[:, 0].tolist() == [5, 5, 5, 3, 3]


def test_no_zero_stands_beyond_the_edge_as_in_check_3():
    assert local_max(column(-3, -1, -2), lengths(3), 3)[:, 0].tolist() == [-1, -1, -1]


def test_fusion_of_check_4():
    # Keys of 0.5 give g' = 0.5 whatever the weights.
    values, own = column(1, 5, 2, 0, 3), column(1, 2, -1, 0, 1)
    half = np.full((5, 1), 0.5)
    found = mixed([half, half, own, values, values], lengths(5), lengths(2, 3), 1, 3)
    assert found[:, 0].tolist() == [10.5, 16, 1.5, 3, 6.5]


def published(length, count):
    """Segments of the paper's code, a number each token."""
    return [n // (length // count + 1) for n in range(length)]


def test_balanced_segments_are_as_many_as_asked_for_where_the_published_are_not_check_5():
    assert owners(lengths(*balanced(8, 4))).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert owners(lengths(*balanced(10, 4))).tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]
    sizes = ((8, 4, 3), (64, 64, 32), (2000, 64, 63), (4000, 64, 64), (1024, 32, 32))
    for length, count, made in sizes:
        assert len(set(published(length, count))) == made
        assert len(balanced(length, count)) == count
    assert published(8, 4) == [0, 0, 0, 1, 1, 1, 2, 2]
    assert published(1024, 32).count(31) == 1
    assert balanced(1024, 32) == [32] * 32


@settings(deadline=None)
@draw(st.integers(1, 300), st.integers(1, 60))
def test_balanced_segments_tile_the_text_and_follow_the_rule(length, count):
    cut = balanced(length, count)
    assert sum(cut) == length
    assert max(cut) - min(cut) <= 1
    rule = [n * min(count, length) // length for n in range(length)]
    assert owners(lengths(*cut)).tolist() == rule


def test_a_text_is_cut_by_its_own_length_as_check_6_asks():
    alone = segment_max(column(1, 2, 3, 4), lengths(*balanced(4, 2)))
    beside = segment_max(column(1, 2, 3, 4, *range(8)), lengths(*balanced(4, 2), *balanced(8, 2)))
    assert alone[:, 0].tolist() == [2, 2, 4, 4]
    np.testing.assert_array_equal(beside[:4], alone)
    # Cut as the paper's code does, the text alone and padded to 8 are told apart.
    short, padded = (lengths(*np.bincount(published(size, 2))) for size in (4, 8))
    assert segment_max(column(1, 2, 3, 4), short)[:, 0].tolist() == [3, 3, 3, 4]
    found = segment_max(column(1, 2, 3, 4, 0, 0, 0, 0), padded)
    assert found[:4, 0].tolist() == [4, 4, 4, 4]


def test_windows_end_with_their_text_as_in_check_7():
    assert local_max(column(1, 2, 9, 8), lengths(2, 2), 3)[:, 0].tolist() == [2, 2, 9, 9]


def test_special_tokens_are_segments_of_their_own_as_in_check_8():
    cut = by_specials([True, False, False, True, False, True])
    assert owners(lengths(*cut)).tolist() == [0, 1, 1, 2, 3, 4]
    padded = by_specials([True, False, False, True, False, True, False, False])
    assert owners(lengths(*padded)).tolist() == [0, 1, 1, 2, 3, 4, 5, 5]


def test_a_segment_begins_with_each_heading():
    assert by_headings([]) == []
    assert by_headings([False] * 3) == by_headings([True] * 3) == [3]
    assert by_headings([True, False, True, False, False]) == [2, 3]
    assert by_headings([False, True, True, False, True]) == [1, 3, 1]


@settings(deadline=None)
@draw(st.lists(st.booleans()))
def test_segments_of_headings_tile_the_text_and_begin_where_headings_do(heading):
    cut = by_headings(heading)
    assert sum(cut) == len(heading)
    begun = [n for n in range(len(heading)) if heading[n] and not (n and heading[n - 1])]
    assert [*np.cumsum([0, *cut])][:-1] == sorted({*begun, *([0] if heading else [])})


def test_the_whole_block_of_check_9():
    states = np.array([[1.0, 0], [0, 2], [3, -1]])
    whole = aggregated(states, states, lengths(3), heads=1)
    np.testing.assert_allclose(whole, [[2.433089712, -0.579488308]], atol=1e-9)
    found = mixed([states] * 5, lengths(3), lengths(2, 1), 1, 3)
    wanted = [[4.433089712, 2], [3, 4.841023384], [19.299269135, 3.579488308]]
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_4096_halves_of_16_have_the_mean_16_as_in_check_10():
    states = np.full((4096, 2), 16, np.float16)
    found = pooling.get("ponet-triple")(states, [4096], segments=balanced(4096, 64))
    np.testing.assert_array_equal(found, np.full((1, 6), 16, np.float32))


@pytest.mark.parametrize("window", [1, 3, 5, 31])
def test_windows_of_any_odd_width_are_those_counted_one_by_one(window):
    rng = np.random.default_rng(0)
    sizes = lengths(1, 7, 2, 40)
    values = rng.standard_normal((50, 3))
    found = local_max(values, sizes, window)
    for end, size in zip(np.cumsum(sizes), sizes, strict=True):
        for n in range(end - size, end):
            first, last = max(end - size, n - window // 2), min(end, n + window // 2 + 1)
            np.testing.assert_array_equal(found[n], values[first:last].max(0))


def test_heads_part_the_global_aggregation_alone():
    rng = np.random.default_rng(1)
    states = rng.standard_normal((6, 4))
    found = aggregated(states, states, lengths(6), heads=2)
    halves = [aggregated(states[:, at], states[:, at], lengths(6), 1) for at in ([0, 1], [2, 3])]
    np.testing.assert_allclose(found, np.hstack(halves))


@pytest.mark.parametrize("name", ["ponet", "ponet-triple"])
def test_the_read_out_is_a_setting(name):
    states = np.random.default_rng(2).standard_normal((6, 4)).astype(np.float32)
    cut = [2, 3, 1]
    some, every = (
        pooling.get(name, readout=readout)(states, [6], segments=cut)[0]
        for readout in ("landmarks", "mean")
    )
    assert not np.allclose(some, every, atol=1e-3)
    # With a landmark behind every token both are the same.
    one, other = (
        pooling.get(name, readout=readout)(states, [6], segments=[1] * 6)[0]
        for readout in ("landmarks", "mean")
    )
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_the_triple_is_mean_and_maxima_side_by_side():
    states = np.array([[1], [5], [2], [0], [3]], np.float32)
    found = pooling.get("ponet-triple", readout="mean")(states, [5], segments=[2, 3])
    np.testing.assert_allclose(found, [[11 / 5, 19 / 5, 21 / 5]], rtol=1e-6)


def test_one_outlier_owns_its_segment_and_moves_maxima_by_far_more_than_the_mean():
    rng = np.random.default_rng(3)
    states = rng.standard_normal((64, 8)).astype(np.float32)
    planted = states.copy()
    planted[20, 0] = 50
    clean, hurt = (
        pooling.get("ponet-triple", readout="mean")(each, [64], segments=balanced(64, 4))[0]
        for each in (states, planted)
    )
    moved = (hurt - clean).reshape(3, 8)[:, 0]
    assert moved[0] == pytest.approx((50 - states[20, 0]) / 64, rel=1e-4)
    # A quarter of the text stands in its segment, 3 of 64 tokens in its window.
    assert moved[1] == pytest.approx((50 - states[16:32, 0].max()) / 4, rel=1e-4)
    assert 2 < moved[2] / moved[0] < 3.5
    assert np.allclose((hurt - clean).reshape(3, 8)[:, 1:], 0)


def test_what_cannot_be_set_is_named():
    states = np.ones((3, 6), np.float32)
    for name in ("ponet", "ponet-triple"):
        with pytest.raises(InputError, match="window of 4 tokens has no middle"):
            pooling.get(name, window=4)(states, [3], segments=[3])
    with pytest.raises(InputError, match="4 heads do not divide states of width 6"):
        pooling.get("ponet", heads=4)(states, [3], segments=[3])
    with pytest.raises(InputError, match="0 segments of 3 tokens"):
        balanced(3, 0)
