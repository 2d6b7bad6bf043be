"""X-Pool and its rivals: checks by hand (facts page 03), pairs in bounded memory."""

import tracemalloc

import numpy as np
import pytest

from milepost.errors import InputError
from milepost.windows.document_vector import unit
from milepost_lab import pooling
from milepost_lab.pooling.xpool import XPool, block_of, pair_scores


def block(width, kind=XPool, **settings):
    """The block with the weights that training begins with."""
    row = pooling.names()["xpool"]
    chosen = row.settings(settings)
    return kind(chosen, row.start(chosen, width, width, np.random.default_rng(0)))


def cosine(a, b):
    return float(unit(np.atleast_2d(a))[0] @ unit(np.atleast_2d(b))[0])


class Bare(XPool):
    """The attention alone: no LayerNorm."""

    def _norm(self, name, values):
        return np.asarray(values, np.float64)


@pytest.fixture
def made():
    """Queries, states and lengths of seven texts."""
    rng = np.random.default_rng(1)
    lengths = np.array([3, 1, 8, 5, 2, 9, 4])
    states = rng.standard_normal((lengths.sum(), 8)).astype(np.float32)
    return rng.standard_normal((6, 8)).astype(np.float32), states, lengths


def test_attention_gives_a_query_its_frame_of_check_1():
    attention = block(2, Bare, branch=False)
    query, frames = np.array([[1.0, 0]]), np.array([[1.553672398, 0], [0, 0]])
    np.testing.assert_allclose(attention.shares(query, frames)[:, 0, 0], [0.75, 0.25], atol=1e-9)
    np.testing.assert_allclose(attention(query, frames), [[1.165254299, 0]], atol=1e-9)


def test_a_repeated_frame_takes_a_share_of_its_own_as_in_check_2():
    attention = block(2, Bare, branch=False)
    query, frames = np.array([[1.0, 0]]), np.array([[1.553672398, 0], [0, 0], [0, 0]])
    np.testing.assert_allclose(attention.shares(query, frames)[:, 0, 0], [0.6, 0.2, 0.2], atol=1e-9)
    np.testing.assert_allclose(attention(query, frames), [[0.932203439, 0]], atol=1e-9)


def test_the_whole_block_begins_as_in_check_3():
    query, frames = np.array([[1.0, 2, 3, 4]]), np.array([[1.0, 2, 3, 4], [4, 3, 2, 1]])
    begun = block(4)
    normed = [-1.341635420, -0.447211807, 0.447211807, 1.341635420]
    np.testing.assert_allclose(begun.normed(query)[0], normed, atol=1e-8)
    shares = begun.shares(query, frames)[:, 0, 0]
    np.testing.assert_allclose(shares, [0.982013225, 0.017986775], atol=1e-8)
    vector = begun(query, frames)[0]
    wanted = [-1.341639109, -0.447213036, 0.447213036, 1.341639109]
    np.testing.assert_allclose(vector, wanted, atol=1e-8)
    assert cosine(query, vector) == pytest.approx(0.408248290, abs=1e-6)
    assert cosine(query - query.mean(), vector) == pytest.approx(1, abs=1e-6)
    assert cosine(query, frames.mean(0)) == pytest.approx(0.912870929, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "settings", "wanted", "similar"),
    [
        ("query-top-k", {"k": 2}, [0.8, 0.4], 0.894427191),
        ("query-top-k", {"k": 1}, [1, 0], 1),
        ("query-top-k", {"k": 9}, [1.6 / 3, 1.8 / 3], 0.664363839),
        ("query-softmax", {"temperature": 0.5}, None, 0.931740119),
        ("query-softmax", {"temperature": 0.01}, [1, 0], 1),
    ],
)
def test_baselines_of_check_4(name, settings, wanted, similar):
    query, frames = np.array([[1.0, 0]]), np.array([[1.0, 0], [0, 1], [0.6, 0.8]])
    vector = pooling.get(name, **settings)(frames, [3], queries=query)[0]
    assert cosine(query, vector) == pytest.approx(similar, abs=1e-6)
    if wanted:
        np.testing.assert_allclose(vector, wanted, atol=1e-6)


def test_the_soft_weights_of_check_4():
    query, frames = np.array([[1.0, 0]]), np.array([[1.0, 0], [0, 1], [0.6, 0.8]])
    pool = pooling.get("query-softmax", temperature=0.5)
    shares = block_of(pool, query, frames, np.array([3])).shares(query, frames)
    np.testing.assert_allclose(shares[:, 0, 0], [0.631048502, 0.085403128, 0.283548370], atol=1e-7)


@pytest.mark.parametrize("heads", [1, 4])
def test_scaled_frames_change_nothing_and_frames_have_no_order_as_in_check_7(made, heads):
    queries, states, _ = made
    conditioned = block(8, heads=heads)
    whole = conditioned(queries, states)
    np.testing.assert_allclose(conditioned(queries, states[::-1]), whole, atol=1e-12)
    np.testing.assert_allclose(conditioned(queries, 7 * states), whole, atol=1e-3)
    assert conditioned.shares(queries, states).shape == (len(states), heads, len(queries))


def test_one_landmark_leaves_the_query_nothing_to_choose(made):
    queries, states, _ = made
    vectors = block(8, start="random")(queries, states[:1])
    np.testing.assert_allclose(vectors, np.repeat(vectors[:1], len(queries), 0), atol=1e-12)
    assert np.ptp(block(8, start="random")(queries, states), axis=0).max() > 1e-3


def test_the_published_block_has_1316352_numbers_of_which_the_bias_of_the_keys_is_idle():
    row = pooling.names()["xpool"]
    weights = row.start(row.settings({}), 512, 512, np.random.default_rng(0))
    assert sum(value.size for value in weights.values()) == 1_316_352 - 512


def test_shares_point_at_the_planted_landmark():
    rng = np.random.default_rng(2)
    states = rng.standard_normal((40, 64))
    query = states[23:24] + 0.3 * rng.standard_normal(64)
    for name in ("xpool", "query-softmax", "query-top-k"):
        shares = block_of(pooling.get(name), query, states, np.array([40])).shares(query, states)
        assert shares[:, 0, 0].argmax() == 23, name
        assert shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ["xpool", "query-top-k", "query-softmax"])
@pytest.mark.parametrize("tile", [1, 50, 1 << 20])
def test_pairs_score_as_each_pair_pooled_alone(made, name, tile):
    queries, states, lengths = made
    pool = pooling.get(name, **({"heads": 2} if name == "xpool" else {}))
    found = pair_scores(pool, queries, states, lengths, tile=tile)
    ends = np.cumsum(lengths)
    for row, query in enumerate(queries):
        for text, (end, length) in enumerate(zip(ends, lengths, strict=True)):
            vector = pool(states[end - length : end], [length], queries=query[None])
            assert found[row, text] == pytest.approx(cosine(query, vector), abs=1e-5)


def test_the_best_state_alone_is_the_greatest_cosine(made):
    queries, states, lengths = made
    found = pair_scores(pooling.get("query-top-k", k=1), queries, states, lengths)
    cosines = unit(queries) @ unit(states).T
    for text, part in enumerate(np.split(cosines, np.cumsum(lengths)[:-1], axis=1)):
        np.testing.assert_allclose(found[:, text], part.max(1), atol=1e-6)


def test_pairs_left_out_are_not_scored_and_the_others_as_before(made):
    queries, states, lengths = made
    only = np.random.default_rng(3).random((len(queries), len(lengths))) < 0.5
    pool = pooling.get("xpool")
    whole = pair_scores(pool, queries, states, lengths)
    found = pair_scores(pool, queries, states, lengths, only=only)
    np.testing.assert_allclose(found[only], whole[only], atol=1e-6)
    assert np.isneginf(found[~only]).all()


def test_conditioned_on_something_else_the_query_is_only_compared(made):
    queries, states, lengths = made
    pool = pooling.get("query-top-k", k=1)
    found = pair_scores(pool, queries[:1], states, lengths, asked=queries[1:2])
    nearest = states[: lengths[0]][(unit(states[: lengths[0]]) @ unit(queries[1:2]).T).argmax()]
    assert found[0, 0] == pytest.approx(cosine(queries[0], nearest), abs=1e-6)


def test_all_pairs_take_the_memory_of_a_tile_and_not_of_all_vectors():
    rng = np.random.default_rng(4)
    lengths = np.full(60, 12)
    states = rng.standard_normal((720, 64)).astype(np.float32)
    queries = rng.standard_normal((2000, 64)).astype(np.float32)
    pool = pooling.get("xpool")
    vectors = 2000 * 60 * 64 * 4  # 31 MB, were they all held
    tracemalloc.start()
    pair_scores(pool, queries, states, lengths, tile=1 << 14)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Queries three times (as given, compared with, their norms' squares), scores, some tiles.
    assert peak < 5e6 < vectors / 6


def test_what_scores_no_pairs_is_named(made):
    queries, states, lengths = made
    with pytest.raises(InputError, match="mean does not score pairs; try: use one of xpool"):
        pair_scores(pooling.get("mean"), queries, states, lengths)
    with pytest.raises(InputError, match="no pair to score"):
        pair_scores(pooling.get("xpool"), queries[:0], states, lengths)


@pytest.mark.parametrize("name", ["xpool", "query-top-k"])
def test_a_query_of_another_width_is_named(made, name):
    _, states, lengths = made
    with pytest.raises(InputError, match="queries have the width 5, states 8"):
        pooling.get(name)(states, lengths, queries=np.ones((len(lengths), 5), np.float32))


def test_heads_must_divide_the_width(made):
    _, states, lengths = made
    with pytest.raises(InputError, match="3 heads do not divide states of width 8"):
        pooling.get("xpool", heads=3)(states, lengths, queries=np.ones((7, 8), np.float32))


def test_a_query_of_zeros_gives_finite_scores(made):
    _, states, lengths = made
    for name in ("xpool", "query-top-k", "query-softmax"):
        found = pair_scores(pooling.get(name), np.zeros((1, 8), np.float32), states, lengths)
        assert (found == 0).all()
