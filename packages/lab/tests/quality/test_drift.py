"""Another model's vectors of the same texts: neighbours, labels, and the alarm."""

import math

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_eval.drift import agreement, cka
from milepost_lab.quality.drift import drift

RNG = np.random.default_rng(0)
LABELS = np.arange(120) % 2
VECTORS = RNG.standard_normal((120, 16)) + 3 * np.eye(16)[0] * LABELS[:, None]
TURN = np.linalg.qr(RNG.standard_normal((16, 16)))[0]


def test_a_rotated_and_scaled_model_is_the_same():
    found = drift(VECTORS, 3 * VECTORS @ TURN, LABELS)
    assert found.kept.mean == 1
    assert found.cka == pytest.approx(1)
    assert found.ratio == pytest.approx((1, 1, 1))
    assert {one.mean for one in found.accuracy.values()} == {0}
    assert found.alarms == ()


def test_unrelated_vectors_ring_every_alarm():
    noise = np.random.default_rng(5).standard_normal((120, 300))
    found = drift(VECTORS, noise, LABELS)
    assert found.kept.low < found.kept.chance + 0.03
    assert found.kept.chance == pytest.approx(10 / 119)
    assert abs(found.cka) < 0.1
    assert found.separation[1] < found.separation[0] / 3
    assert len(found.alarms) == 4
    assert "texts keep" in found.alarms[0]
    assert "times as far apart" in found.alarms[1]


def test_what_knows_nothing_keeps_what_chance_does_and_rings_nothing():
    """Floors are of the first model's neighbours; one with its vectors keeps all."""
    noise = np.random.default_rng(5).standard_normal((120, 9))
    found = drift(VECTORS, VECTORS @ TURN, controls={"noise": noise, "twin": 2 * VECTORS})
    assert found.alarms == ()
    assert found.baselines["twin"].mean == 1
    assert found.baselines["noise"].mean == pytest.approx(agreement(VECTORS, noise, 10).mean())
    assert found.baselines["noise"].high < 0.2
    assert found.baselines["noise"].chance == found.kept.chance
    with pytest.raises(InputError, match="120 vectors before and 119 after"):
        drift(VECTORS, VECTORS, controls={"short": noise[1:]})


def test_a_little_noise_rings_none():
    found = drift(VECTORS, VECTORS + 0.1 * RNG.standard_normal(VECTORS.shape), LABELS)
    assert 0.5 < found.kept.low < found.kept.mean < 1
    assert found.alarms == ()


def test_a_better_model_rings_none_though_neighbours_change():
    """Labels further apart: neighbours are others, and the least that is asked decides."""
    better = VECTORS + 6 * np.eye(16)[0] * (LABELS[:, None] - 0.5)
    found = drift(VECTORS, better, LABELS, min_kept=0.1)
    assert found.ratio[0] > 1
    assert found.alarms == ()


def test_labels_that_no_longer_lie_apart_ring_the_alarm():
    """Two centres at one place, and a model that gives all texts one vector: 0 times, not NaN."""
    half = np.random.default_rng(1).standard_normal((60, 16))
    crossed = np.repeat(half, 2, axis=0)  # each vector once with each label
    for after in (crossed, np.ones((120, 16))):
        found = drift(VECTORS, after, LABELS)
        assert found.ratio[0] == 0
        assert "labels are 0.00 times as far apart" in found.alarms
    back = drift(crossed, VECTORS, LABELS, min_kept=0)
    assert math.isinf(back.ratio[0])
    assert back.alarms == ()
    assert math.isnan(drift(crossed, crossed, LABELS).ratio[0])


def test_without_labels_neighbours_are_all_there_is():
    found = drift(VECTORS, VECTORS)
    assert (found.separation, found.ratio, found.accuracy) == (None, None, {})
    assert found.kept.mean == 1


def test_agreement_by_hand():
    a = np.array([[0.0], [1.0], [3.0], [7.0]])
    b = np.array([[0.0], [1.0], [3.0], [-7.0]])
    assert agreement(a, b, 1).tolist() == [1, 1, 1, 0]


def test_the_unbiased_alignment_of_noise_is_about_zero():
    """The usual estimate of these is over 0.8: there are more axes than texts."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 40, 400))
    assert abs(cka(a, b)) < 0.1
    one, other = (each - each.mean(axis=0) for each in (a, b))
    cross = np.linalg.norm(one.T @ other) ** 2
    usual = cross / np.linalg.norm(one.T @ one) / np.linalg.norm(other.T @ other)
    assert usual > 0.8
    assert math.isnan(cka(np.ones((5, 2)), a[:5]))


def test_rare_labels_have_a_place_in_the_sample():
    """Of 2,600 texts 2,000 are compared, among them all of two labels with three texts each."""
    labels = np.zeros(2600, np.int64)
    labels[:3], labels[-3:] = 1, 2
    vectors = np.random.default_rng(0).standard_normal((2600, 4)) + 5 * np.eye(4)[labels]
    for seed in range(5):
        found = drift(vectors, vectors, labels, draws=2, seed=seed)
        assert found.ratio[0] == 1
        assert found.separation[0] > 0


def test_what_cannot_be_compared_is_named():
    with pytest.raises(InputError, match="120 vectors before and 100 after"):
        drift(VECTORS, VECTORS[:100])
    with pytest.raises(InputError, match="8 texts are too few for 10 neighbours"):
        drift(VECTORS[:8], VECTORS[:8])
    with pytest.raises(InputError, match="a label has only one text"):
        drift(VECTORS[:20], VECTORS[:20], np.array([0] * 19 + [1]))
    broken = VECTORS.copy()
    broken[3, 1] = math.nan
    for given in ((broken, VECTORS), (VECTORS, broken)):
        with pytest.raises(InputError, match="a vector is not finite"):
            drift(*given)
