"""The product model of judging: exact EM, its likelihood, and what it recovers."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost_lab.cet import product
from milepost_lab.cet.product import Logistic, fit_product, logistic, sigmoid, true_negative, trust


@pytest.mark.parametrize(("s", "weight"), [(0.1, 0.425532), (0.5, 0.571429), (0.9, 0.869565)])
def test_the_posterior_has_its_worked_numbers(s, weight):
    """Relevant with 0.6: the share of unlabelled ones that are no answer."""
    found = true_negative(np.array([0.6]), np.array([s]))
    assert found[0] == pytest.approx(weight, abs=1e-6)


def test_the_posterior_makes_the_expected_loss_true():
    """Four documents: 1.3 with the posterior weight, 3.065 with none, 6.9 with 1/(1 - s)."""
    r, s = np.array([0.9, 0.6, 0.1, 0.0]), np.array([0.2, 0.5, 0.5, 0.9])
    loss = np.array([2.0, 1.0, 0.5, 0.25])
    unlabelled = 1 - r * s
    assert ((1 - r) * loss).sum() == pytest.approx(1.3)
    assert (unlabelled * loss).sum() == pytest.approx(3.065)
    assert (unlabelled / (1 - s) * loss).sum() == pytest.approx(6.9)
    assert (unlabelled * true_negative(r, s) * loss).sum() == pytest.approx(1.3)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.02, 1))
def test_trust_falls_with_the_score_and_stays_a_chance(score, best, selected):
    """A sentence that scores higher is no surer a negative; all are sure where all is marked."""
    weight = trust(score, best, selected)
    assert 0 < weight <= 1
    assert trust(score + 0.1, best, selected) <= weight + 1e-12  # both may be rounded
    assert trust(score, best, 1.0) == 1.0


def test_the_example_holds():
    """The worked number in the docstring."""
    assert doctest.testmod(product).failed == 0


def test_newton_finds_the_logistic_that_made_the_targets():
    """Soft targets of a known model are fitted exactly; a fitted model has no slope left."""
    random = np.random.default_rng(3)
    features = random.normal(size=(200, 3))
    truth = Logistic(np.array([1.5, -2.0, 0.5]), -1.0)
    found = logistic(features, truth(features), pull=0.0)
    np.testing.assert_allclose(found.weights, truth.weights, atol=1e-6)
    assert found.bias == pytest.approx(-1.0, abs=1e-6)


def test_em_on_the_table_by_hand():
    """Two ranks by two texts, labelled with .72 .36 .24 .12: the product is recovered."""
    ranks, texts = np.repeat(np.eye(2), 2, axis=0), np.tile(np.eye(2), (2, 1))
    labels = np.array([0.72, 0.36, 0.24, 0.12])
    found = fit_product(texts, ranks, labels, pull=0.0, rounds=3000)
    product = found.relevance(texts) * found.selection(ranks)
    np.testing.assert_allclose(product, labels, atol=1e-4)
    assert found.likelihood[0] == pytest.approx(-2.732730, abs=1e-6)
    assert found.likelihood[-1] == pytest.approx(-2.164376, abs=1e-5)
    # The same product at another scale, where a prior puts it.
    high = fit_product(texts, ranks, labels, expected=0.9, strength=50.0, pull=0.0, rounds=3000)
    low = fit_product(texts, ranks, labels, expected=0.3, strength=50.0, pull=0.0, rounds=3000)
    assert (
        high.selection(ranks).mean() > found.selection(ranks).mean() > low.selection(ranks).mean()
    )


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(5, 60),
    widths=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    expected=st.sampled_from([None, 0.2, 0.7]),
)
def test_the_likelihood_never_falls(seed, rows, widths, expected):
    """Whatever the data, the prior and the start."""
    random = np.random.default_rng(seed)
    text, shown = (random.normal(0, 3, size=(rows, width)) for width in widths)
    labels = (random.random(rows) < 0.3).astype(float)
    labels[0] = 1.0
    start = tuple(Logistic(random.normal(size=width), random.normal()) for width in widths)
    found = fit_product(text, shown, labels, expected=expected, rounds=40, start=start)
    assert (np.diff(found.likelihood) >= -1e-9 * np.abs(found.likelihood[:-1])).all()
    weights = found.weights(text, shown)
    assert ((weights >= 0) & (weights <= 1)).all()


def test_roles_with_features_of_their_own_are_told_apart():
    """True r and s of generated rows come back from labels that are only their product."""
    random = np.random.default_rng(1)
    text, shown = random.normal(size=(5000, 2)), random.normal(size=(5000, 1))
    r = sigmoid(text @ np.array([1.5, 1.0]) - 1.0)
    s = sigmoid(3 * shown[:, 0] - 1.0)
    labels = ((random.random(5000) < r) & (random.random(5000) < s)).astype(float)
    found = fit_product(text, shown, labels)
    assert np.abs(found.relevance(text) - r).mean() < 0.03
    assert np.abs(found.selection(shown) - s).mean() < 0.03


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": np.zeros(4)}, "no document is labelled"),
        ({"labels": np.array([1.0, 0, 0, 2])}, "outside of 0 to 1"),
        ({"labels": np.ones(3)}, "4, 4 and 3 rows"),
        ({"text": np.full((4, 1), np.nan)}, "not finite"),
        ({"expected": 1.0}, "expected is 1"),
    ],
)
def test_what_cannot_be_fitted_is_refused(change, words):
    """One line, and never a silent NaN."""
    given_ = {"text": np.ones((4, 1)), "shown": np.ones((4, 1)), "labels": np.array([1.0, 0, 0, 0])}
    with pytest.raises(InputError, match=words):
        fit_product(**{**given_, **change})
