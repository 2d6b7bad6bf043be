"""Cluster indices by hand, against scikit-learn where it is there, and every degenerate case."""

import math

import numpy as np
import pytest

from milepost_lab.quality.separation import (
    NO_SPREAD,
    ONE_CENTRE,
    ONE_CLASS,
    ONE_POINT,
    centres,
    distances,
    dunn,
    numbered,
    silhouettes,
    views,
)

PAIR = np.array([(0, 0), (2, 0), (10, 0), (12, 0)], float)
TWO = np.array([0, 0, 1, 1])


def all_of(points, labels):
    """Separation (1/XBI), CHI, DBS and Dunn."""
    points = np.asarray(points, float)
    found = centres(points, labels)
    return found.separation, found.chi, found.dbs, dunn(distances(points), labels)


def test_two_pairs_by_hand():
    assert all_of(PAIR, TWO) == pytest.approx((100, 50, 0.2, 4))
    separation, chi, dbs, index = all_of(PAIR, TWO)
    assert 0.5 * separation + 0.5 * chi == centres(PAIR, TWO).aqi() == pytest.approx(75)
    assert centres(PAIR, TWO).aqi(0.2) == pytest.approx(0.2 * 100 + 0.8 * 50)
    assert 0.5 / (1 + dbs) + 0.5 * index / (1 + index) == pytest.approx(0.816666667)


def test_every_point_twice_changes_chi_and_the_published_sum_alone():
    separation, chi, dbs, index = all_of(np.concatenate([PAIR, PAIR]), np.concatenate([TWO, TWO]))
    assert (separation, chi, dbs, index) == pytest.approx((100, 150, 0.2, 4))
    assert 0.5 * separation + 0.5 * chi == pytest.approx(125)


def test_unlike_many_of_each():
    points = np.concatenate([PAIR, PAIR[2:], PAIR[2:]])
    separation, chi, _, _ = all_of(points, np.array([0, 0] + [1] * 6))
    assert (separation, chi) == pytest.approx((100, 112.5))
    assert chi == pytest.approx(2 * 6 * 6 / 64 * separation)


def test_three_classes_in_one_dimension():
    points = np.array([[0], [2], [10], [12], [20], [22]])
    separation, chi, _, _ = all_of(points, np.array([0, 0, 1, 1, 2, 2]))
    assert (separation, chi) == pytest.approx((100, 100))


def test_two_classes_have_one_number_under_two_names():
    """CHI = n1 n2 (n - 2) / n² / XBI for any two classes."""
    rng = np.random.default_rng(0)
    for first in (3, 20, 40):
        labels = np.array([0] * first + [1] * (60 - first))
        found = centres(rng.standard_normal((60, 7)) + labels[:, None], labels)
        wanted = first * (60 - first) * 58 / 3600 * found.separation
        assert found.chi == pytest.approx(wanted)


def test_shift_rotation_and_scale_change_nothing_and_stretching_does():
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    wanted = (100, 50, 0.2, 4)
    assert all_of(3 * PAIR @ turn + 1e4, TWO) == pytest.approx(wanted, rel=1e-6)
    bent = np.array([(0, 0), (2, 1), (10, 0), (12, 1)], float)
    assert all_of(bent, TWO) == pytest.approx((80, 40, 0.223606798, 3.605551275))
    assert all_of(bent * [1, 10], TWO) == pytest.approx(
        (3.846153846, 1.923076923, 1.019803903, 0.980580676)
    )


def test_a_flag_of_the_source_looks_like_a_class():
    points = np.array([(0, 0), (2, 0), (0, 10), (2, 10)], float)
    separation, chi, _, index = all_of(points, TWO)
    assert (separation, chi, index) == pytest.approx((100, 50, 5))


def test_dunn_of_noise_rises_with_the_dimension():
    found = []
    for width in (2, 16, 256):
        rng = np.random.default_rng(1)
        apart = distances(rng.standard_normal((100, width)))
        found.append(dunn(apart, np.arange(100) % 2))
    assert found[0] < 0.1 < found[1] < 0.5 < found[2]


def test_degenerate_cases_have_their_rule_and_their_flag():
    pointed = PAIR[[0, 0, 2, 2]]
    found = centres(pointed, TWO)
    assert (found.separation, found.chi, found.dbs) == (math.inf, math.inf, 0)
    assert found.flags == (NO_SPREAD,)
    assert dunn(distances(pointed), TWO) == math.inf
    crossed = centres(PAIR[[0, 1, 0, 1]], TWO)
    assert (crossed.separation, crossed.dbs) == (0, math.inf)
    assert crossed.flags == (ONE_CENTRE,)
    for points, labels, flag in ((PAIR, TWO * 0, ONE_CLASS), (PAIR * 0 + 7, TWO, ONE_POINT)):
        found = centres(points, labels)
        assert found.flags == (flag,)
        assert math.isnan(found.separation)
        assert math.isnan(found.chi)
        assert math.isnan(dunn(distances(points), labels))
    mixed = centres(PAIR[[0, 0, 0, 0, 2]], np.array([0, 0, 1, 1, 2]))
    assert mixed.flags == (NO_SPREAD, ONE_CENTRE)
    assert math.isnan(mixed.separation)


def test_weights_count_points_as_often():
    rng = np.random.default_rng(0)
    points, labels = rng.standard_normal((12, 3)), np.arange(12) % 3
    times = rng.integers(0, 3, 12)
    often = centres(np.repeat(points, times, axis=0), np.repeat(labels, times))
    found = centres(points, labels, times)
    assert (found.separation, found.chi, found.dbs) == pytest.approx(
        (often.separation, often.chi, often.dbs)
    )
    none = np.where(labels == 1, 0, 1)
    left = labels != 1
    assert centres(points, labels, none).separation == pytest.approx(
        centres(points[left], numbered(labels[left])).separation
    )


def test_against_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="needs the lab extra")
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.arange(4), rng.integers(0, 4, 56)])
    points = rng.standard_normal((60, 9)) + 0.5 * labels[:, None]
    labels[labels == 3] = 0
    labels[0] = 3  # one alone
    found = centres(points, labels)
    assert found.chi == pytest.approx(metrics.calinski_harabasz_score(points, labels))
    assert found.dbs == pytest.approx(metrics.davies_bouldin_score(points, labels))
    np.testing.assert_allclose(
        silhouettes(distances(points), labels), metrics.silhouette_samples(points, labels)
    )


def test_views_take_scale_and_length_away():
    rng = np.random.default_rng(0)
    points = (rng.standard_normal((30, 4)) * [1, 100, 1, 0] + 3).astype(np.float32)
    found = views(points)
    np.testing.assert_allclose(found["standardised"].std(axis=0), [1, 1, 1, 0], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found["unit length"], axis=1), 1)
    assert not views(np.zeros((2, 3)))["unit length"].any()


def test_labels_are_numbered_in_their_order():
    assert numbered(["b", "a", "b", "c"]).tolist() == [1, 0, 1, 2]
