"""Halvings and the blocks between them, held to numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given as draw
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.pooling.hierarchy import halved, mixed
from milepost_lab.pooling.neighbours import pairs


def lengths_after(length, halvings):
    seen = []
    for _ in range(halvings):
        _, left = pairs(np.array([length]))
        length = int(left[0])
        seen.append(length)
    return seen


def test_seven_tokens_halved_three_times_leave_4_2_1_and_never_none():
    assert lengths_after(7, 4) == [4, 2, 1, 1]
    assert lengths_after(1000, 2) == [500, 250]
    assert lengths_after(1, 3) == [1, 1, 1]


def test_pairs_of_several_texts():
    sizes, left = pairs(np.array([3, 2, 1]))
    assert sizes.tolist() == [2, 1, 2, 1]
    assert left.tolist() == [2, 1, 1]


def test_an_odd_tail_stays_itself():
    states = np.array([[1.0], [3.0], [7.0], [10.0], [20.0]])
    joined, left = halved(states, np.array([3, 2]), "mean")
    assert joined[:, 0].tolist() == [2, 7, 15]
    assert left.tolist() == [2, 1]
    assert halved(states, np.array([3, 2]), "max")[0][:, 0].tolist() == [3, 7, 20]


def test_attention_by_hand():
    """At unit mean square 4 is 1 and -8 is -1: with a score of ln(3)/2 three parts to one."""
    states, lengths = np.array([[4.0], [-8.0], [7.0], [10.0], [20.0]]), np.array([3, 2])
    joined, left = halved(states, lengths, "attention", np.array([np.log(3) / 2]))
    np.testing.assert_allclose(joined[:, 0], [1, 7, 15], atol=1e-5)
    assert left.tolist() == [2, 1]
    for score in (None, np.zeros(1)):
        np.testing.assert_allclose(
            halved(states, lengths, "attention", score)[0], halved(states, lengths, "mean")[0]
        )


@draw(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    seed=st.integers(0, 99),
    size=st.sampled_from([0.1, 3.0, 1e3]),
)
def test_attention_lies_between_the_two_of_a_pair_and_reads_no_other_text(lengths, seed, size):
    rng = np.random.default_rng(seed)
    states, score = rng.standard_normal((sum(lengths), 4)), size * rng.standard_normal(4)
    joined, left = halved(states, np.array(lengths), "attention", score)
    low = -halved(-states, np.array(lengths), "max")[0]
    high = halved(states, np.array(lengths), "max")[0]
    assert (joined >= low - 1e-9).all()
    assert (joined <= high + 1e-9).all()
    assert left.tolist() == [(length + 1) // 2 for length in lengths]
    ends, begins = np.cumsum(lengths), np.cumsum(left) - left
    for end, length, begin, count in zip(ends, lengths, begins, left, strict=True):
        alone, _ = halved(states[end - length : end], np.array([length]), "attention", score)
        np.testing.assert_allclose(alone, joined[begin : begin + count])
        if length % 2:
            np.testing.assert_array_equal(joined[begin + count - 1], states[end - 1])


def test_each_halving_has_its_join():
    states = np.array([[1.0], [3.0], [7.0], [5.0]], "f4")
    for join, wanted in {
        ("mean", "max"): 6,
        ("max", "mean"): 5,
        ("attention", "max"): 6,
        "max": 7,
    }.items():
        pool = pooling.get("hierarchy", placement=(1, 1, 1), join=join)
        assert pool(states, [4])[0, 0] == pytest.approx(wanted), join
        assert ("score" in pool.weights) == ("attention" in join)


def test_joins_of_each_halving_are_kept_in_a_file(tmp_path):
    pool = pooling.get("hierarchy", join=["attention", "max"])
    states = np.random.default_rng(0).standard_normal((5, 4)).astype("f4")
    wanted = pool(states, [5])
    pool.save(tmp_path / "pooling.npz")
    again = pooling.load(tmp_path / "pooling.npz")
    assert again.settings["join"] == ("attention", "max")
    np.testing.assert_array_equal(again(states, [5]), wanted)


def test_joins_that_are_none_or_not_as_many_as_halvings_are_refused():
    with pytest.raises(InputError, match="try: 'attention'"):
        pooling.get("hierarchy", join=("mean", "attentoin"))
    with pytest.raises(InputError, match="try: 'mean'"):
        pooling.get("hierarchy", join="maen")
    with pytest.raises(InputError, match="join is 2, not str"):
        pooling.get("hierarchy", join=(2, 1))
    with pytest.raises(InputError, match="3 joins for 2 halvings"):
        pooling.get("hierarchy", join=("mean",) * 3)(np.ones((2, 2), "f4"), [2])


def test_it_begins_as_a_mean_of_means():
    states = np.array([[1.0], [3.0], [7.0]], "f4")
    assert pooling.get("hierarchy", placement=(1, 1))(states, [3])[0, 0] == pytest.approx(4.5)
    assert pooling.get("hierarchy", placement=(2,))(states, [3])[0, 0] == pytest.approx(11 / 3)
    greatest = pooling.get("hierarchy", placement=(1, 1), join="max")
    assert greatest(states, [3])[0, 0] == pytest.approx(5)


def test_a_block_by_hand():
    # Scaled to 1 and -1; the kernel takes the place before; silu(1) = 0.731059.
    weights = {
        "kernel": np.array([[[1.0], [0.0], [0.0]]]),
        "inward": np.ones((1, 1, 1)),
        "bias": np.zeros((1, 1)),
        "outward": np.full((1, 1, 1), 2.0),
    }
    got = mixed(np.array([[5.0], [-5.0], [5.0]]), np.array([2, 1]), weights, 0)
    np.testing.assert_allclose(got[:, 0], [5, -5 + 2 * 0.7310586, 5], atol=1e-5)


def test_where_the_halving_stands_changes_the_vector():
    rng = np.random.default_rng(0)
    states = rng.standard_normal((9, 4)).astype("f4")
    pool = pooling.get("hierarchy", placement=(2, 1))
    pool(states, [9])
    weights = {n: rng.standard_normal(v.shape).astype("f4") for n, v in pool.weights.items()}
    first, second = (
        pooling.get("hierarchy", weights=weights, placement=p)(states, [9])
        for p in ((2, 1), (1, 2))
    )
    assert np.abs(first - second).max() > 0.01


@pytest.mark.parametrize("placement", [(), (2, 0), (1, -1)])
def test_a_level_without_a_block_is_refused(placement):
    with pytest.raises(InputError, match="number of blocks at each level"):
        pooling.get("hierarchy", placement=placement)(np.ones((2, 2), "f4"), [2])
