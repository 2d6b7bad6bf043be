"""Kendall's tau, its interval, and regret."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.lab.supernet.agreement import interval, regret, tau  # noqa: E402

pytestmark = pytest.mark.torch


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


def test_each_run_may_have_a_truth_of_its_own():
    truths = np.array([[1.0, 2, 3], [3.0, 2, 1]])
    assert interval(truths, truths, draws=10)[0] == 1
    assert interval(truths[0], truths, draws=10)[0] == 0


def test_regret_is_against_what_was_allowed():
    truth = np.array([0.5, 0.9, 0.7])
    assert regret(truth, 0, [0, 1, 2]) == pytest.approx(0.4)
    assert regret(truth, 0, [0, 2]) == pytest.approx(0.2)
