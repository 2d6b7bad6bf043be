"""MaxSim, token pooling and fixed encodings: numbers worked by hand, and what must always hold."""

import math

import numpy as np
import pytest

from milepost.errors import InputError
from milepost.windows.document_vector import unit
from milepost_lab.pooling.fixed_encoding import FixedEncoding
from milepost_lab.pooling.maxsim import maxsim
from milepost_lab.pooling.token_pooling import pool_tokens, ward


def states(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def around(centres, tokens, seed=1, spread=0.3):
    """Vectors of unit length around some of the centres."""
    rng = np.random.default_rng(seed)
    chosen = centres[rng.integers(len(centres), size=tokens)]
    return unit(chosen + spread * rng.standard_normal(chosen.shape) / math.sqrt(chosen.shape[1]))


# --- maxsim


def test_each_token_of_a_query_finds_its_best():
    """Query (1, 0), (0, 1): of the first text 3 and 5, of the second 4 and -1. Then (-1, 0)."""
    texts = np.array([[3, 0], [1, 5], [4, -1]], "f4")
    found = maxsim(np.array([[1, 0], [0, 1], [-1, 0]], "f4"), [2, 1], texts, [2, 1])
    np.testing.assert_array_equal(found, [[8, 3], [-1, -4]])


def test_scores_of_texts_alone_are_those_in_a_batch():
    asked, read = states(5, 8), states(9, 8, seed=1)
    whole = maxsim(asked, [2, 3], read, [4, 5])
    for query, rows in enumerate((slice(0, 2), slice(2, 5))):
        for text, tokens in enumerate((slice(0, 4), slice(4, 9))):
            alone = (asked[rows] @ read[tokens].T).max(1).sum()
            np.testing.assert_allclose(whole[query, text], alone, rtol=1e-5)


def test_no_query_and_no_text_give_no_score():
    none = np.zeros((0, 4), "f4")
    assert maxsim(none, [], states(3, 4), [3]).shape == (0, 1)
    assert maxsim(states(3, 4), [3], none, []).shape == (1, 0)


def test_widths_must_be_equal():
    with pytest.raises(InputError, match="queries have 3 channels, and states 4"):
        maxsim(states(2, 3), [2], states(2, 4), [2])


# --- token pooling


def test_near_tokens_are_averaged_and_the_first_is_kept():
    """Of five tokens one is kept; of four, two groups: those along x and those along y."""
    rows = np.array([[7, 7], [1, 0], [0, 2], [3, 0], [0, 4]], "f4")
    pooled, lengths = pool_tokens(rows, [5], factor=2)
    np.testing.assert_array_equal(pooled, [[7, 7], [2, 0], [0, 3]])
    assert lengths.tolist() == [3]


def test_direction_counts_and_not_length():
    """(9, 1) lies nearer to (0, 1) than to (90, 10) but points where the latter does."""
    rows = np.array([[90, 10], [0, 1], [9, 1]], "f4")
    pooled, _ = pool_tokens(rows, [3], factor=1, kept=0)
    np.testing.assert_array_equal(pooled, rows)
    assert ward(unit(rows), 2).tolist() == [0, 1, 0]
    assert ward(rows, 2).tolist() == [0, 1, 1]


def test_large_groups_are_joined_late():
    """0, 0, 0 and 3, 3, 3 cost 9 * 9 / 6 = 13.5 to join; 3 and 7.5 alone 4.5² * 3 / 4 = 15.2.

    With single points the gap of 3 would be far cheaper than that of 4.5.
    """
    points = np.array([0, 0, 0, 3, 3, 3, 7.5])[:, None]
    assert ward(points, 3).tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert ward(points, 2).tolist() == [0, 0, 0, 0, 0, 0, 1]
    nearer = np.array([0, 0, 0, 3, 3, 3, 7.0])[:, None]  # 4² * 3 / 4 = 12
    assert ward(nearer, 2).tolist() == [0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("groups", [1, 2, 7, 30, 59, 60])
def test_groups_are_those_of_scipy(groups):
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy", reason="needs the eval extra")
    points = around(states(6, 8), 60).astype("f8")
    wanted = hierarchy.fcluster(hierarchy.linkage(points, "ward"), groups, "maxclust")
    found = ward(points, groups)
    assert len(set(found)) == groups
    pairs = set(zip(found.tolist(), wanted.tolist(), strict=True))
    assert len(pairs) == groups, "each group is one of theirs"


def test_the_number_of_vectors():
    rows = states(1 + 2 + 9 + 20, 8)
    for factor, wanted in ((1, [1, 2, 9, 20]), (2, [1, 2, 5, 10]), (100, [1, 2, 2, 2])):
        pooled, lengths = pool_tokens(rows, [1, 2, 9, 20], factor)
        assert lengths.tolist() == wanted
        assert pooled.shape == (sum(wanted), 8)
    assert pool_tokens(rows[:0], [], 2)[0].shape == (0, 8)


def test_pooling_of_tokens_that_repeat_loses_nothing():
    """Four directions, each of them ten times: four vectors give the same scores as forty."""
    few = unit(states(4, 16))
    many = np.repeat(few, 10, axis=0)
    asked = unit(states(3, 16, seed=2))
    pooled, lengths = pool_tokens(many, [40], factor=10, kept=0)
    assert lengths.tolist() == [4]
    np.testing.assert_allclose(
        maxsim(asked, [3], pooled, lengths), maxsim(asked, [3], many, [40]), rtol=1e-5
    )


@pytest.mark.parametrize("wrong", [{"factor": 0}, {"factor": 2, "kept": -1}])
def test_numbers_that_are_too_small_are_refused(wrong):
    with pytest.raises(InputError, match="a factor of at least 1"):
        pool_tokens(states(3, 4), [3], **wrong)


# --- fixed encodings

AXES = FixedEncoding(np.eye(2, dtype="f4")[None])
"""One repetition; cells are the quadrants: 0 (-, -), 1 (+, -), 2 (-, +), 3 (+, +)."""


def test_queries_are_summed_and_texts_averaged_in_each_cell():
    rows = np.array([[1, 2], [3, 4], [-1, 6]], "f4")
    np.testing.assert_array_equal(AXES.queries(rows, [3]), [[0, 0, 0, 0, -1, 6, 4, 6]])
    plain = AXES.documents(rows, [3], fill=False)
    np.testing.assert_array_equal(plain, [[0, 0, 0, 0, -1, 6, 2, 3]])


def test_an_empty_cell_gets_the_token_whose_signs_differ_least():
    """Cell 0 (-, -) is one sign from (-1, 6); cell 1 (+, -) is one sign from (1, 2), the first."""
    rows = np.array([[1, 2], [3, 4], [-1, 6]], "f4")
    found = AXES.documents(rows, [3])
    np.testing.assert_array_equal(found, [[-1, 6, 1, 2, -1, 6, 2, 3]])


def test_texts_are_encoded_apart():
    rows, encoding = states(12, 8), FixedEncoding.drawn(8, planes=3, repetitions=4, projected=5)
    whole = encoding.documents(rows, [3, 1, 8])
    assert whole.shape == (3, encoding.size) == (3, 4 * 8 * 5)
    for text, part in enumerate((slice(0, 3), slice(3, 4), slice(4, 12))):
        length = [part.stop - part.start]
        np.testing.assert_allclose(encoding.documents(rows[part], length)[0], whole[text])
        alone = encoding.queries(rows[part], length)[0]
        np.testing.assert_allclose(alone, encoding.queries(rows, [3, 1, 8])[text])
    assert encoding.documents(rows[:0], []).shape == encoding.queries(rows[:0], []).shape


def test_repetitions_are_averaged_and_projections_keep_products():
    """S = (1, 1) of two channels: ψ(x) = x_1 + x_2. Repeated, the product stays the same."""
    planes, signs = np.eye(2, dtype="f4")[None], np.ones((1, 1, 2), "f4")
    for repetitions in (1, 3):
        encoding = FixedEncoding(
            np.repeat(planes, repetitions, 0), np.repeat(signs, repetitions, 0)
        )
        asked = encoding.queries(np.array([[1, 1], [2, 3]], "f4"), [2])
        read = encoding.documents(np.array([[1, 2], [3, 4]], "f4"), [2])
        assert asked[0] @ read[0] == pytest.approx(7 * 5, rel=1e-6)  # 2 + 5, and the mean of 3, 7


def test_a_text_of_one_token_has_its_score_exactly():
    """All cells hold the only token."""
    encoding = FixedEncoding.drawn(8, planes=4, repetitions=3, projected=0)
    asked, read = states(5, 8), states(1, 8, seed=1)
    product = encoding.queries(asked, [5]) @ encoding.documents(read, [1]).T
    np.testing.assert_allclose(product, maxsim(asked, [5], read, [1]), rtol=1e-4)


def test_without_projection_no_product_is_above_the_score():
    """A mean of a text's tokens, and one token, have products of at most the greatest."""
    asked, read = states(20, 16), states(90, 16, seed=1)
    exact = maxsim(asked, [5] * 4, read, [30] * 3)
    for planes in (0, 2, 6):
        encoding = FixedEncoding.drawn(16, planes=planes, repetitions=2, projected=0, seed=planes)
        product = encoding.queries(asked, [5] * 4) @ encoding.documents(read, [30] * 3).T
        assert (product <= exact + 1e-3).all()


def ranked():
    """Texts of several topics, queries about one text each, and the exact scores."""
    centres = unit(states(40, 32))
    rng = np.random.default_rng(3)
    topics = [centres[rng.choice(40, 4, replace=False)] for _ in range(60)]
    read = np.concatenate([around(each, 24, seed=n) for n, each in enumerate(topics)])
    asked = np.concatenate([around(each, 6, seed=100 + n) for n, each in enumerate(topics[:20])])
    return asked, [6] * 20, read, [24] * 60


def test_more_repetitions_bring_products_nearer_to_scores():
    asked, parts, read, lengths = ranked()
    exact = maxsim(asked, parts, read, lengths)
    nearness = []
    for repetitions in (1, 5, 40):
        encoding = FixedEncoding.drawn(32, repetitions=repetitions, projected=8)
        product = encoding.queries(asked, parts) @ encoding.documents(read, lengths).T
        nearness.append(np.corrcoef(product.ravel(), exact.ravel())[0, 1])
    assert nearness == sorted(nearness)
    assert nearness[-1] > 0.9


def test_candidates_hold_the_best_text():
    """What the encoding is for: the text of the greatest score is among the ten best products."""
    asked, parts, read, lengths = ranked()
    best = maxsim(asked, parts, read, lengths).argmax(1)
    encoding = FixedEncoding.drawn(32)
    product = encoding.queries(asked, parts) @ encoding.documents(read, lengths).T
    candidates = np.argsort(-product, axis=1)[:, :10]
    assert (candidates == best[:, None]).any(1).mean() >= 0.95


def test_a_seed_gives_the_same_encoding_again():
    one, again, other = (FixedEncoding.drawn(8, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.planes, again.planes)
    np.testing.assert_array_equal(one.signs, again.signs)
    assert (one.planes != other.planes).all()


def test_encodings_refuse_other_widths_and_numbers_too_small():
    with pytest.raises(InputError, match="states have 3 channels, and the encoding 2"):
        AXES.queries(states(2, 3), [2])
    with pytest.raises(InputError, match="repetitions=0"):
        FixedEncoding.drawn(8, repetitions=0)
