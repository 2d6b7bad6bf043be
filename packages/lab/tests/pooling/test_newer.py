"""Numbers worked by hand for pma, latent-attention, adapool, top-k and splade."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.pooling.attention import attend, attend_each

LOG3 = math.log(3)
EYE = np.eye(2, dtype="f4")
FAR = np.array([[0, 0], [math.sqrt(2) * LOG3, 0]], "f4")
"""Two tokens; for the query (1, 0) their scores are 0 and ln 3, so their weights 1/4 and 3/4."""
READ = 0.75 * math.sqrt(2) * LOG3


def gelu(value):
    return value * NormalDist().cdf(value)


def states(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def bare(name, width=2, **settings):
    """The operator with identity maps and no biases; norms leave scale and shift alone."""
    pool = pooling.get(name, **settings)
    pool(np.ones((1, width), "f4"), [1])
    for key, value in pool.weights.items():
        if value.shape == (width, width) and key not in {"latents", "seeds", "terms"}:
            pool.weights[key] = np.eye(width, dtype="f4")
    return pool


def test_each_text_is_attended_to_alone():
    rng = np.random.default_rng(0)
    asked, read = rng.standard_normal((2, 3, 4)), rng.standard_normal((5, 4))
    found = attend_each(asked, read, 2 * read, np.array([2, 3]), heads=2)
    for text, rows in enumerate((slice(0, 2), slice(2, 5))):
        np.testing.assert_allclose(found[text], attend(asked[text], read[rows], 2 * read[rows], 2))


# --- pma


def seeded(*seeds, **settings):
    pool = bare("pma", seeds=len(seeds), norms=False, **settings)
    pool.weights["seeds"] = np.array(seeds, "f4")
    return pool


@pytest.mark.parametrize("heads", [1, 2])
def test_a_seed_attends_by_the_root_of_all_channels(heads):
    """H = S + what is read; rFF(H) = relu(H), which doubles what is positive.

    With a head's channels alone under the root, two heads would read other numbers.
    """
    found = seeded([1, 0], heads=heads)(FAR, [2])
    np.testing.assert_allclose(found, [[2 * (1 + READ), 0]], rtol=1e-6)


def test_seeds_are_averaged():
    """The seed (-1, 0) has weights 3/4 and 1/4, and what it finds is negative: rFF adds nothing."""
    found = seeded([1, 0], [-1, 0], heads=1)(FAR, [2])
    np.testing.assert_allclose(found, [[(2 * (1 + READ) - 1 + READ / 3) / 2, 0]], rtol=1e-6)


def test_the_feed_forward_layer_before_the_attention_can_be_left_out():
    rows = np.array([[-2, 1], [-2, 3]], "f4")
    fed, plain = (seeded([0, 0], heads=1, feed_states=given)(rows, [2]) for given in (True, False))
    np.testing.assert_allclose(fed, [[0, 4]])  # of relu(x): 0 and 2, doubled
    np.testing.assert_allclose(plain, [[-2, 4]])


def test_both_norms_are_taken():
    """LN(1 + READ, 0) is ±1, rFF makes of it (2, -1), and LN of that is ±1 again."""
    pool = bare("pma", heads=1)
    pool.weights["seeds"] = np.array([[1, 0]], "f4")
    np.testing.assert_allclose(pool(FAR, [2]), [[1, -1]], atol=1e-4)
    pool.weights["attended_scale"] = np.array([-1, -1], "f4")
    np.testing.assert_allclose(pool(FAR, [2]), [[-1, 1]], atol=1e-4)
    pool.weights["final_shift"] = np.array([5, 7], "f4")
    np.testing.assert_allclose(pool(FAR, [2]), [[4, 8]], atol=1e-4)


def test_pma_begins_near_the_mean_of_what_it_reads():
    """Small seeds, equal weights: nearly the feed-forward block of the mean of relu(x)."""
    rows = states(40, 32)
    pool = pooling.get("pma")
    vector = pool(rows, [40])[0]
    mean = pool(np.maximum(rows, 0).mean(0, keepdims=True), [1])[0]
    assert np.corrcoef(vector, mean)[0, 1] > 0.95
    assert np.corrcoef(vector, pool(states(1, 32, seed=9), [1])[0])[0, 1] < 0.8


# --- latent-attention


def test_each_token_reads_the_latents_and_the_mean_comes_last():
    """The paper's equation: O = softmax(QK')V, an MLP with GELU, the mean over tokens.

    The token (1, 0) weighs the latents by 1/4 and 3/4, the token (0, 0) by halves.
    """
    pool = bare("latent-attention", latents=2, heads=1, hidden=2, norms=False, residual=False)
    pool.weights["latents"] = FAR
    found = pool(np.array([[1, 0], [0, 0]], "f4"), [2])
    np.testing.assert_allclose(found, [[(gelu(READ) + gelu(READ * 2 / 3)) / 2, 0]], rtol=1e-5)


def test_the_released_model_adds_what_goes_in():
    pool = bare("latent-attention", latents=2, heads=1, hidden=2, norms=False)
    pool.weights["latents"] = FAR
    read = 1 + READ
    found = pool(np.array([[1, 0]], "f4"), [1])
    np.testing.assert_allclose(found, [[read + gelu(read), 0]], rtol=1e-5)


def test_three_norms_stand_before_attention_and_mlp():
    """Of pairs, so that each norm gives ±1."""
    pool = bare("latent-attention", latents=2, heads=1, hidden=2, residual=False)
    pool.weights["latents"] = np.array([[3, 1], [1, 5]], "f4")  # (1, -1) and (-1, 1)
    near = 1 / (1 + math.exp(-4 / math.sqrt(2)))  # of scores ±2/√2
    row = np.array([[9, 2]], "f4")  # (1, -1)
    np.testing.assert_allclose(pool(row, [1]), [[gelu(1), gelu(-1)]], atol=1e-4)
    pool.weights["found_scale"] = np.zeros(2, "f4")
    pool.weights["found_shift"] = np.array([0.5, 2], "f4")
    np.testing.assert_allclose(pool(row, [1]), [[gelu(0.5), gelu(2)]], atol=1e-4)
    without = bare("latent-attention", latents=2, heads=1, hidden=2, residual=False, norms=False)
    without.weights["latents"] = np.array([[1, -1], [-1, 1]], "f4")
    read = 2 * near - 1
    found = without(np.array([[1, -1]], "f4"), [1])
    np.testing.assert_allclose(found, [[gelu(read), gelu(-read)]], atol=1e-4)


@pytest.mark.parametrize(("hidden", "wide"), [(0, 32), (5, 5)])
def test_the_width_of_the_mlp(hidden, wide):
    pool = pooling.get("latent-attention", hidden=hidden)
    pool(states(3, 8), [3])
    assert pool.weights["widen"].shape == (8, wide)


# --- adapool

SIDE = math.sqrt(LOG3 / math.sqrt(2))
TWO = np.array([[0, 0], [2 * SIDE, 0]], "f4")
"""Their mean is (SIDE, 0), whose scores with them are 0 and 2 SIDE²/√2 = ln 3."""


@pytest.mark.parametrize(
    ("query", "share"),
    [("mean", 0.75), ("last", 0.9), ("first", 0.5)],
)
def test_the_query_weighs_states_by_their_product_with_it(query, share):
    """The last state is twice the mean, so its score is 2 ln 3; the first is 0, and all equal."""
    found = pooling.get("adapool", query=query)(TWO, [2])
    np.testing.assert_allclose(found, [[2 * SIDE * share, 0]], rtol=1e-6)


def test_the_query_is_added_where_asked_for():
    asking = {"mean": SIDE, "last": 2 * SIDE, "first": 0}
    for query, number in asking.items():
        bare_, added = (
            pooling.get("adapool", query=query, residual=given)(TWO, [2]) for given in (False, True)
        )
        np.testing.assert_allclose(added - bare_, [[number, 0]], atol=1e-6)


def test_without_a_query_map_it_is_the_mean_and_with_a_large_one_the_nearest_state():
    rows = states(6, 8)
    pool = bare("adapool", 8, query="last")
    pool.weights["query_map"] = np.zeros((8, 8), "f4")
    np.testing.assert_allclose(pool(rows, [6]), rows.mean(0, keepdims=True), atol=1e-6)
    pool.weights["query_map"] = 1000 * np.eye(8, dtype="f4")
    nearest = rows[(rows @ rows[-1]).argmax()]
    np.testing.assert_allclose(pool(rows, [6])[0], nearest, atol=1e-6)


def test_each_head_has_its_weights():
    """Channel 0 alone in its head: scores 0 and 2 SIDE², with no root; channel 1 is 0."""
    share = 1 / (1 + math.exp(-2 * SIDE**2))
    found = pooling.get("adapool", heads=2)(TWO, [2])
    np.testing.assert_allclose(found, [[2 * SIDE * share, 0]], rtol=1e-6)


def test_the_order_of_tokens_counts_where_one_of_them_asks():
    rows = states(4, 8)
    for query in ("first", "last"):
        pool = pooling.get("adapool", query=query)
        assert not np.allclose(pool(rows, [4]), pool(rows[::-1], [4]))


# --- top-k


def test_the_greatest_of_each_channel_are_averaged():
    rows = np.array([[1, -5], [5, -7], [3, -6], [9, 9]], "f4")
    found = pooling.get("top-k", k=2)(rows, [3, 1])
    np.testing.assert_array_equal(found, [[4, -5.5], [9, 9]])


def test_it_lies_between_maximum_and_mean():
    rows, lengths = states(12, 8), [7, 5]
    for k, name in ((1, "max"), (7, "mean"), (100, "mean")):
        wanted = pooling.get(name)(rows, lengths)
        np.testing.assert_allclose(pooling.get("top-k", k=k)(rows, lengths), wanted, rtol=1e-5)
    falling = [pooling.get("top-k", k=k)(rows, lengths) for k in range(1, 8)]
    assert (np.diff(falling, axis=0) <= 1e-6).all()


# --- splade


def saturated(**settings):
    """Three terms: channel 0, channel 1, and twice channel 0 less 1."""
    pool = bare("splade", terms=3, **settings)
    pool.weights["terms"] = np.array([[1, 0], [0, 1], [2, 0]], "f4")
    pool.weights["terms_bias"] = np.array([0, 0, -1], "f4")
    return pool


ROWS = np.array([[3, 1], [5, 2], [1, 3]], "f4")
"""Their norms are (1, -1), (1, -1) and (-1, 1): logits (1, -1, 1) twice, and (-1, 1, -3)."""


@pytest.mark.parametrize(("join", "twice"), [("max", 1), ("sum", 2)])
def test_weights_are_saturated_and_joined(join, twice):
    found = saturated(join=join)(ROWS, [3])
    np.testing.assert_allclose(found, [np.log(2) * np.array([twice, 1, twice])], atol=1e-4)
    alone = saturated(join=join)(ROWS, [1, 1, 1])
    wanted = np.log([[2, 1, 2], [2, 1, 2], [1, 2, 1]])
    np.testing.assert_allclose(alone, wanted, atol=1e-4)


def test_the_dense_layer_comes_before_gelu_and_the_norm_after_it():
    """Of (1, -30) GELU leaves (0.841, 0), of (-30, -30) nothing, whose norm is the shift."""
    pool = saturated()
    pool.weights["dense_bias"] = np.array([0, -30], "f4")
    np.testing.assert_allclose(pool(np.array([[1, 0]], "f4"), [1]), np.log([[2, 1, 2]]), atol=1e-3)
    pool.weights["dense_shift"] = np.array([0.5, 0.25], "f4")
    found = pool(np.array([[-30, 0]], "f4"), [1])
    np.testing.assert_allclose(found, np.log([[1.5, 1.25, 1]]), atol=1e-6)


def test_weights_are_never_negative_and_many_are_zero():
    """About half of a token's terms at the start; hardly any of a long text's maximum."""
    pool = pooling.get("splade")
    one, many = pool(states(1, 64), [1]), pool(states(200, 64), [200])
    assert one.min() == 0
    assert 0.4 < (one == 0).mean() < 0.6
    assert (many == 0).mean() < 0.01


# --- all


@pytest.mark.parametrize("name", ["pma", "latent-attention", "adapool"])
def test_heads_that_do_not_divide_the_width_are_refused(name):
    with pytest.raises(InputError, match=f"{name}: 3 heads do not divide states of width 8"):
        pooling.get(name, heads=3)(states(4, 8), [4])


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("pma", 887_424), ("latent-attention", 1_798_272), ("adapool", 589_824), ("splade", 542_848)],
)
def test_the_page_counts_the_trained_numbers(name, numbers):
    """At d = 384, with the settings as they are."""
    row = pooling.names()[name]
    begun = row.begun(row.settings({}), 384, 0, 1, np.random.default_rng(0))
    assert sum(value.size for value in begun.values()) == numbers
