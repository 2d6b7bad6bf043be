"""Token vectors, their groups and their encodings as operators: the functions, and by hand."""

import numpy as np
import pytest

from milepost.windows.document_vector import unit
from milepost_lab import pooling
from milepost_lab.pooling.fixed_encoding import FixedEncoding
from milepost_lab.pooling.maxsim import maxsim
from milepost_lab.pooling.token_pooling import pool_tokens
from milepost_lab.show.study import moves

ROWS = np.array([[7, 7], [1, 0], [0, 2], [3, 0], [0, 4], [5, 6]], "f4")


def states(tokens, seed=0):
    return unit(np.random.default_rng(seed).standard_normal((tokens, 8)).astype("f4"))


def flat(vectors):
    """Concatenated vectors of texts, and how many each has: rows of zeros are none."""
    there = vectors.any(-1)
    return vectors[there], there.sum(1)


def test_every_token_is_kept_and_shorter_texts_end_in_zeros():
    found = pooling.get("tokens")(ROWS, [2, 1, 3])
    nothing = [0, 0]
    wanted = [[[7, 7], [1, 0], nothing], [[0, 2], nothing, nothing], [[3, 0], [0, 4], [5, 6]]]
    np.testing.assert_array_equal(found, wanted)


def test_of_the_first_text_two_groups_are_left_and_of_a_single_token_itself():
    """The first of five tokens stays; those along x and those along y are averaged."""
    found = pooling.get("token-pool")(ROWS, [5, 1])
    np.testing.assert_array_equal(found, [[[7, 7], [2, 0], [0, 3]], [[5, 6], [0, 0], [0, 0]]])


@pytest.mark.parametrize("factor", [1, 2, 3, 20])
def test_groups_are_those_of_the_function(factor):
    rows, lengths = states(30), [12, 1, 17]
    for kept in (0, 1, 3):
        vectors, counts = pool_tokens(rows, lengths, factor, kept=kept)
        found, sizes = flat(pooling.get("token-pool", factor=factor, kept=kept)(rows, lengths))
        np.testing.assert_array_equal(found, vectors)
        np.testing.assert_array_equal(sizes, counts)


def test_queries_keep_every_token():
    pool = pooling.get("token-pool", factor=3).of_queries()
    assert pool.settings["factor"] == 1
    np.testing.assert_array_equal(pool(ROWS, [5, 1]), pooling.get("tokens")(ROWS, [5, 1]))


def test_cells_hold_the_mean_of_a_text_and_the_sum_of_a_query_by_its_tokens():
    """Cells are the quadrants: (1, 2) and (3, 4) share the last, (-1, 6) is in the one before."""
    rows = np.array([[1, 2], [3, 4], [-1, 6]], "f4")
    weights = {"planes": np.eye(2, dtype="f4")[None]}
    pool = pooling.get("fixed-encoding", weights=weights, planes=2, repetitions=1, projected=0)
    np.testing.assert_array_equal(pool(rows, [3]), [[-1, 6, 1, 2, -1, 6, 2, 3]])
    query = np.array([[0, 0, 0, 0, -1, 6, 4, 6]]) / 3
    np.testing.assert_allclose(pool.of_queries()(rows, [3]), query, rtol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"projected": 0, "planes": 2}, {"planes": 0}])
def test_encodings_are_those_of_the_function(settings):
    asked, read, parts, lengths = states(7), states(40, 1), [3, 4], [5, 34, 1]
    pool = pooling.get("fixed-encoding", seed=3, repetitions=6, **settings)
    texts, queries = pool(read, lengths), pool.of_queries()(asked, parts)
    encoding = FixedEncoding(pool.weights["planes"], pool.weights.get("signs"))
    assert texts.shape == (3, encoding.size)
    np.testing.assert_allclose(texts, encoding.documents(read, lengths), atol=1e-6)
    wanted = encoding.queries(asked, parts) / np.array(parts)[:, None]
    np.testing.assert_allclose(queries, wanted, atol=1e-6)


def test_queries_and_texts_of_one_seed_share_their_cells():
    """Drawn apart, and of a text of one token the product is MaxSim by the query's tokens."""
    settings = {"projected": 0, "repetitions": 3}
    asked, read = states(5), states(1, 1)
    query = pooling.get("fixed-encoding", side="query", seed=4, **settings)(asked, [5])
    text = pooling.get("fixed-encoding", seed=4, **settings)(read, [1])
    np.testing.assert_allclose(query @ text.T, maxsim(asked, [5], read, [1]) / 5, rtol=1e-4)
    other = pooling.get("fixed-encoding", seed=5, **settings)(states(9), [9])
    assert not np.allclose(other, pooling.get("fixed-encoding", seed=4, **settings)(states(9), [9]))


def test_poolings_of_one_vector_pool_queries_alike():
    pool = pooling.get("mean")
    np.testing.assert_array_equal(pool.of_queries()(ROWS, [6]), pool(ROWS, [6]))


def test_of_several_vectors_that_counts_whose_nearest_is_far():
    """Without the third the nearest to it is 3 away; the first two stand for each other."""
    rows = np.array([[1, 0], [1, 0], [1, 3]], "f4")
    np.testing.assert_allclose(moves(pooling.get("tokens"), rows), [0, 0, 1], atol=1e-6)


def test_equal_tokens_do_not_take_long():
    """Each joins the first at no cost; a search for every one of them would take a minute."""
    rows = np.ones((2048, 2), "f4")
    vectors, counts = pool_tokens(rows, [2048], 2, kept=0)
    assert counts.tolist() == [1024]
    np.testing.assert_allclose(vectors, 1)
