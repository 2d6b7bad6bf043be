"""Shares of nets, loaded alike: numbers worked out by hand, and none that is not finite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost_lab.supernet.balance import (
    ROUNDS,
    UNEVEN,
    balanced,
    shares,
    unevenness,
    warmest,
    warming,
)

GIVEN = np.log([[0.8, 0.2], [0.6, 0.4]])


def test_one_round_and_two_by_hand():
    assert unevenness(GIVEN) == pytest.approx(0.0822829, abs=1e-7)
    once, done = balanced(GIVEN, rounds=1)
    np.testing.assert_allclose(
        np.exp(once), [[0.631579, 0.368421], [0.391304, 0.608696]], atol=1e-6
    )
    np.testing.assert_allclose(np.exp(once).mean(0), [0.511442, 0.488558], atol=1e-6)
    assert done == 1
    assert unevenness(once) == pytest.approx(2.618e-4, rel=1e-3)
    twice, done = balanced(GIVEN)
    assert done == 2
    assert unevenness(twice) == pytest.approx(8.75e-7, rel=1e-2)


def test_the_limit_keeps_the_odds_ratio():
    limit = np.exp(balanced(GIVEN, uneven=0, rounds=60)[0])
    np.testing.assert_allclose(limit, [[0.620204, 0.379796], [0.379796, 0.620204]], atol=1e-6)
    odds = limit[:, 0] / limit[:, 1]
    assert odds[0] == pytest.approx((8 / 3) ** 0.5)
    assert odds[0] / odds[1] == pytest.approx(8 / 3)


def test_scores_that_lie_far_apart_stay_finite():
    # As published, in float32: softmax of 110 and 0 has the columns 1 and 0, and KL is NaN.
    logs, done = balanced(shares(np.array([[110.0, 0.0], [110.0, 0.0]]), 1))
    np.testing.assert_allclose(np.exp(logs), 0.5)
    assert done == 1


def test_warmth_by_hand():
    pairs = [
        np.exp(shares(np.array([[0.80, 0.82]]), warming(e, 100, 1, 100))) for e in (0, 50, 100)
    ]
    assert [float(pair[0, 1]) for pair in pairs] == pytest.approx(
        [0.505000, 0.733020, 0.880797], abs=1e-6
    )
    assert warmest(0) == float("inf")
    assert warmest(0.01) == pytest.approx(70.71, abs=0.01)


@settings(deadline=None)
@given(st.integers(2, 12), st.integers(1, 5), st.floats(0, 100), st.integers(0, 99))
def test_every_net_gets_as_much_and_every_placement_one(placements, nets, temperature, seed):
    scores = np.random.default_rng(seed).uniform(0, 1, (placements, nets))
    logs, done = balanced(shares(scores, temperature))
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(np.exp(logs).sum(1), 1, atol=1e-9)
    assert done == ROUNDS or unevenness(logs) <= UNEVEN
