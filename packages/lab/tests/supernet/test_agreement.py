"""Kendall's tau, its interval, and regret."""

import numpy as np
import pytest

from milepost_lab.supernet.agreement import gap, interval, regret, tau


def test_tau_is_scipy_s_with_ties_too():
    stats = pytest.importorskip("scipy.stats", reason="needs the eval extra")
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 6, (2, 12)).astype(float)
        assert tau(a, b) == pytest.approx(stats.kendalltau(a, b).statistic)
    assert tau(np.arange(5.0), -np.arange(5.0)) == -1
    assert tau(np.arange(5.0), np.ones(5)) == 0


def test_what_was_never_heard_comes_last():
    assert tau(np.array([1.0, 2, 3]), np.array([-np.inf, -np.inf, 1])) == pytest.approx(2 / 6**0.5)


def test_an_interval_holds_its_mean_and_widens_with_less():
    rng = np.random.default_rng(1)
    truth = np.arange(40.0)
    runs = truth + rng.normal(0, 8, (4, 40))
    mean, low, high = interval(truth, runs, draws=200)
    assert low < mean < high
    _, lower, higher = interval(truth[:8], runs[:, :8], draws=200)
    assert higher - lower > high - low
    assert interval(truth, runs, draws=200) == (mean, low, high)


def test_an_architecture_drawn_twice_ties_with_itself():
    """By hand: the interval of two runs, each draw by itself."""
    rng = np.random.default_rng(5)
    truth, runs = rng.normal(size=(2, 6)), rng.integers(0, 4, (2, 6)).astype(float)
    draws, drawn = np.random.default_rng(3), []
    for _ in range(50):
        some, of = draws.integers(0, 6, 6), draws.integers(0, 2, 2)
        drawn.append(np.mean([tau(truth[run][some], runs[run][some]) for run in of]))
    _, low, high = interval(truth, runs, draws=50, seed=3)
    assert (low, high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))


def test_a_gap_is_paired():
    """Drawn together: a method less itself is 0, and its order reversed twice as far as from 0."""
    rng = np.random.default_rng(2)
    truth = np.arange(12.0)
    runs = truth + rng.normal(0, 4, (3, 12))
    assert gap(truth, runs, runs, draws=50) == (0, 0, 0, 0)
    mean, low, high = interval(truth, runs, draws=50)
    found = gap(truth, runs, -runs, draws=50)
    assert found[:3] == pytest.approx((2 * mean, 2 * low, 2 * high))
    assert found[3] > 0


def test_each_run_may_have_a_truth_of_its_own():
    truths = np.array([[1.0, 2, 3], [3.0, 2, 1]])
    assert interval(truths, truths, draws=10)[0] == 1
    assert interval(truths[0], truths, draws=10)[0] == 0


def test_regret_is_against_what_was_allowed():
    truth = np.array([0.5, 0.9, 0.7])
    assert regret(truth, 0, [0, 1, 2]) == pytest.approx(0.4)
    assert regret(truth, 0, [0, 2]) == pytest.approx(0.2)
