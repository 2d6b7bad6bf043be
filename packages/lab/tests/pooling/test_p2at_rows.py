"""Pyramids over segments and attention among them, held to numbers worked out by hand."""

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.pooling.neighbours import averages, shifted
from milepost_lab.pooling.p2at import attended, columns, landmarks, scales
from milepost_lab.pooling.ragged import means


def column(*values):
    return np.array(values, np.float64)[:, None]


def whole(*lengths):
    return np.array(lengths, np.int64)


def test_a_constant_text_stays_constant_under_every_average():
    # Zeros counted in would give [2/3, 1, 1, 1, 2/3], and 0.533 at the ends of the next average.
    np.testing.assert_allclose(averages(np.ones((5, 1)), whole(5), 3), np.ones((5, 1)))
    for cascade in (True, False):
        seen = scales(np.ones((5, 2)), whole(5), (3, 5, 7), cascade=cascade)
        np.testing.assert_allclose(seen, np.ones((5, 2, 3)))


def test_no_window_crosses_the_end_of_a_text():
    # 1, 2, 3 and what another text holds behind them: 4.667 would stand at the end.
    seen = averages(column(1, 2, 3, 9, 9), whole(3, 2), 3)
    np.testing.assert_allclose(seen[:, 0], [1.5, 2, 2.5, 9, 9])
    np.testing.assert_array_equal(shifted(column(1, 2, 3), whole(2, 1), 1)[:, 0], [2, 0, 0])


def test_a_cascade_of_3_5_7_sees_13_places():
    impulse = np.zeros((41, 1))
    impulse[20] = 1
    seen = scales(impulse, whole(41), (3, 5, 7), cascade=True)[:, 0]
    assert [int((seen[:, s] > 0).sum()) for s in range(3)] == [3, 7, 13]
    assert seen[20].tolist() == pytest.approx([1 / 3, 1 / 5, 1 / 7])
    kernel = np.array([1, 3, 6, 9, 12, 14, 15, 14, 12, 9, 6, 3, 1]) / 105
    np.testing.assert_allclose(seen[14:27, 2], kernel, atol=1e-12)


def test_each_channel_stands_beside_its_own_scales():
    states = np.arange(12.0).reshape(4, 3)
    seen = scales(states, whole(4), (1, 3), cascade=False)
    np.testing.assert_array_equal(seen[..., 0], states)
    np.testing.assert_allclose(seen[..., 1], averages(states, whole(4), 3))


def test_tokens_1_to_7_in_rows_of_three():
    tokens, segments = column(*range(1, 8)), whole(3, 3, 1)
    np.testing.assert_allclose(means(tokens, segments)[:, 0], [2, 5, 7])
    down, wide, of_token = columns(tokens, segments, whole(3))
    np.testing.assert_allclose(down[:, 0], [4, 3.5, 4.5])
    assert wide.tolist() == [3]
    assert of_token.tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_columns_of_several_texts_are_their_own():
    down, wide, _ = columns(column(1, 2, 3, 10, 20), whole(2, 1, 2), whole(2, 1))
    assert wide.tolist() == [2, 2]
    assert down[:, 0].tolist() == [2, 2, 10, 20]


def flat(rows):
    """Attention with one head, q = k = v and no positions."""
    given = column(*rows)[:, None]
    return attended(given, given, given, whole(len(rows)), np.zeros((1, 3)))[:, 0, 0]


def test_attention_among_rows_by_hand():
    np.testing.assert_allclose(flat([2, 6]), [5.998659, 6.0], atol=1e-6)
    np.testing.assert_allclose(flat([3, 5]), [4.995055, 4.999909], atol=1e-6)
    np.testing.assert_allclose(flat([0.5, 1.5]), [1.122459, 1.317574], atol=1e-6)
    np.testing.assert_allclose(flat([0.75, 1.25]), [1.046333, 1.075677], atol=1e-6)


def test_a_ragged_grid_has_the_means_of_what_is_there():
    # [[1, 3], [5, –]] / 4: rows [0.5, 1.25], columns [0.75, 0.75].
    tokens, segments = column(0.25, 0.75, 1.25), whole(2, 1)
    np.testing.assert_allclose(flat(means(tokens, segments)[:, 0]), [0.944500, 1.038946], atol=1e-6)
    down, _, _ = columns(tokens, segments, whole(2))
    np.testing.assert_allclose(flat(down[:, 0]), [0.75, 0.75], atol=1e-6)


def test_a_distance_s_number_moves_attention():
    given = np.zeros((3, 1, 1))
    values = column(1, 2, 4)[:, None]
    forward = np.array([[-50.0, 0.0, 50.0]])  # look one place on, or as far as there is
    got = attended(given, given, values, whole(3), forward)[:, 0, 0]
    np.testing.assert_allclose(got, [3.0, 4.0, 4.0], atol=1e-6)


def warmed(seed=0, **settings):
    """The operator with weights that all do something."""
    rng = np.random.default_rng(seed)
    pool = pooling.get("p2at", **settings)
    pool(rng.standard_normal((3, 6)).astype("f4"), [3], segments=[1] * 3)
    pool.weights = {
        n: rng.standard_normal(v.shape).astype("f4") / 2 for n, v in pool.weights.items()
    }
    return pool


def test_a_document_of_one_segment_gives_its_own_value():
    pool, states = warmed(), np.random.default_rng(1).standard_normal((4, 6)).astype("f4")
    w = pool.weights
    row = (states / np.sqrt((states**2).mean(-1, keepdims=True) + 1e-6) @ w["inward"]).mean(0)
    row = row * 2 / (1 + np.exp(-(row * w["mix"].sum(1))))  # every average is the row itself
    value = row @ w["value"]
    wanted = states.mean(0) + (value + value @ w["row"]) @ w["outward"]
    np.testing.assert_allclose(pool(states, [4], segments=[4])[0], wanted, rtol=1e-5, atol=1e-5)


def test_it_begins_as_the_mean_of_segments_means():
    states = np.random.default_rng(2).standard_normal((5, 6)).astype("f4")
    vector = pooling.get("p2at")(states, [5], segments=[4, 1])[0]
    np.testing.assert_allclose(vector, (states[:4].mean(0) + states[4]) / 2, atol=1e-6)


def test_places_in_a_segment_count_only_with_columns():
    states = np.random.default_rng(3).standard_normal((6, 6)).astype("f4")
    turned = states[[2, 0, 1, 3, 5, 4]]  # within segments of 3, 1 and 2
    segments = [3, 1, 2]
    for settings, alike in (({}, True), ({"columns": True}, False)):
        pool = warmed(**settings)
        a, b = (pool(each, [6], segments=segments) for each in (states, turned))
        assert np.allclose(a, b, atol=1e-5) == alike


@pytest.mark.parametrize(
    "settings",
    [{"rows": False, "columns": True}, {"pyramid": "none"}, {"pyramid": "parallel"}],
)
def test_ablations_leave_weights_away_and_still_read_one_text_at_a_time(settings):
    pool = warmed(**settings)
    assert ("mix" in pool.weights) == (settings.get("pyramid") != "none")
    assert ("row_position" in pool.weights) == settings.get("rows", True)
    states = np.random.default_rng(4).standard_normal((9, 6)).astype("f4")
    both = pool(states, [5, 4], segments=[2, 3, 1, 3])
    np.testing.assert_allclose(both[1], pool(states[5:], [4], segments=[1, 3])[0], atol=1e-5)


def test_each_segment_has_a_vector_that_knows_its_text():
    pool, states = warmed(), np.random.default_rng(5).standard_normal((6, 6)).astype("f4")
    far = states.copy()
    far[5] += 1

    def of(each):
        batch = pool._batch(each, [6], None, [2, 2, 2])
        return landmarks(batch, pool.settings, pool.weights)

    assert of(states).shape == (3, 6)
    assert np.abs(of(states)[0] - of(far)[0]).max() > 1e-4


def test_the_pyramid_takes_the_greatest_average_of_each_width():
    # Widths 1 and 3 of 0, 6, 0, 3: 6, and 3 (of 0, 6, 0 → 2; 6, 0, 3 → 3; ends 3 and 1.5).
    pool = pooling.get("pyramid", widths=(1, 3))
    states = column(0, 6, 0, 3).astype("f4")
    assert pool(states, [4], segments=[1] * 4)[0, 0] == pytest.approx(4.5)
    mean = pooling.get("pyramid", widths=(3,), read="mean")
    found = mean(states, [4], segments=[1] * 4)
    assert found[0, 0] == pytest.approx((3 + 2 + 3 + 1.5) / 4)


def test_an_even_window_is_refused():
    with pytest.raises(InputError, match=r"widths are \(3, 4\); try: odd numbers"):
        pooling.get("pyramid", widths=(3, 4))(np.ones((2, 2), "f4"), [2], segments=[1, 1])


@pytest.mark.parametrize(
    ("name", "settings"), [("p2at", {"columns": True}), ("pyramid", {}), ("hierarchy", {})]
)
def test_no_texts_give_no_vectors(name, settings):
    none = np.zeros(0, int)
    vectors = pooling.get(name, **settings)(np.zeros((0, 6), "f4"), none, segments=none)
    assert vectors.shape == (0, 6)
