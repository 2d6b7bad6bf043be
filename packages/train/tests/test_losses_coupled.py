"""Coupled negatives: the unbiased weights, and the contrast under weights."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost_train.losses import (  # noqa: E402
    each_against_negatives,
    effective_sample_size,
    posterior_weights,
    weighted_contrast,
)


def double(*values: float) -> object:
    """A row of float64."""
    return torch.tensor(values, dtype=torch.float64)


def test_posterior_weights_by_hand() -> None:
    """P(r = 0 | unlabelled) at r = 0.6."""
    values = posterior_weights(double(0.6, 0.6, 0.6), double(0.1, 0.5, 0.9)).tolist()
    assert values == pytest.approx([0.425532, 0.571429, 0.869565], abs=1e-6)


def test_posterior_weights_are_the_unbiased_ones() -> None:
    """Four documents: the expected loss is that of the truth, 1.3; unweighted it is 3.065."""
    r, s, loss = double(0.9, 0.6, 0.1, 0), double(0.2, 0.5, 0.5, 0.9), double(2, 1, 0.5, 0.25)
    unlabelled = 1 - r * s
    assert ((1 - r) * loss).sum().item() == pytest.approx(1.3)
    assert (unlabelled * loss).sum().item() == pytest.approx(3.065)
    assert (unlabelled * posterior_weights(r, s) * loss).sum().item() == pytest.approx(1.3)


@given(r=st.floats(0, 1), s=st.floats(0, 1))
def test_posterior_weights_stay_inside(r: float, s: float) -> None:
    """Always in [0, 1], never quite zero, and the surer the selection the larger."""
    weight = posterior_weights(double(r), double(s)).item()
    assert 0.0 < weight <= 1.0
    assert posterior_weights(double(r), double(1.0)).item() >= weight - 1e-12
    assert posterior_weights(double(1.0), double(s)).item() <= weight + 1e-12


def test_the_effective_sample_size_by_hand() -> None:
    """One giant among four leaves 1.15 examples; capped at three, 3.27; equal ones all count."""
    weights = torch.tensor([1.1, 1.2, 1.3, 50.0])
    assert effective_sample_size(weights).item() == pytest.approx(1.147192, rel=1e-5)
    assert effective_sample_size(weights.clamp(max=3)).item() == pytest.approx(3.265367, rel=1e-5)
    assert effective_sample_size(torch.full((7,), 1e30)).item() == pytest.approx(7)
    assert effective_sample_size(torch.zeros(3)).item() == 0.0


@pytest.mark.parametrize(
    ("weights", "wanted"), [((1, 1), 1.407606), ((1, 0.4), 0.898205), ((1, 0), 0.313262)]
)
def test_weighted_contrast_by_hand(weights: tuple, wanted: float) -> None:
    """A positive of 2 against 1 and 3, whose weight falls."""
    scores = double(2, 1, 3)[None]
    positive = torch.tensor([[True, False, False]])
    value = weighted_contrast(scores, positive, ~positive, double(9, *weights)[None], 1.0)
    assert value.item() == pytest.approx(wanted, abs=1e-6)


def batch(seed: int) -> tuple:
    """Scores, positives, negatives and weights, some of them zero."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(4, 6, generator=random, dtype=torch.float64)
    kind = torch.randint(0, 3, (4, 6), generator=random)
    kind[:, 0], kind[1] = 1, 2
    weights = torch.rand(4, 6, generator=random, dtype=torch.float64)
    return scores, kind == 1, kind == 2, weights * (weights > 0.3)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), shift=st.floats(-5, 5))
def test_weighted_contrast_is_its_formula(seed: int, shift: float) -> None:
    """log(1 + Σ w exp((s_n - s_p) / t)) written out; a constant on all scores changes nothing."""
    scores, positive, negative, weights = batch(seed)
    rows = []
    for number in range(4):
        s, w = (scores[number] / 0.5).tolist(), weights[number].tolist()
        terms = [
            math.log(1 + sum(w[n] * math.exp(s[n] - s[p]) for n in range(6) if negative[number, n]))
            for p in range(6)
            if positive[number, p]
        ]
        if terms:
            rows.append(sum(terms) / len(terms))
    value = weighted_contrast(scores + shift, positive, negative, weights, 0.5)
    assert value.item() == pytest.approx(sum(rows) / len(rows), rel=1e-8, abs=1e-12)


def test_weights_of_one_are_the_plain_contrast() -> None:
    """The weighted form changes nothing where every negative is trusted."""
    scores, positive, negative, weights = batch(3)
    plain = each_against_negatives(scores, positive, negative, 0.5).item()
    value = weighted_contrast(scores, positive, negative, torch.ones_like(weights), 0.5)
    assert value.item() == pytest.approx(plain)


def test_gradients_are_right() -> None:
    """Gradients are those of small differences, and none flows into weights."""
    scores, positive, negative, weights = batch(4)
    one, two = scores[0].clone().requires_grad_(), scores[2].clone().requires_grad_()
    scores.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: weighted_contrast(x, positive, negative, weights, 0.5), (scores,)
    )
    assert not posterior_weights(one.sigmoid(), two.sigmoid()).requires_grad


def test_extreme_logits_stay_finite() -> None:
    """Certainty of any kind overflows nothing, in values or gradients."""
    one = torch.tensor([1e4, 1e4, -1e4, -1e4, 40.0], requires_grad=True)
    two = torch.tensor([1e4, -1e4, 1e4, -1e4, 40.0], requires_grad=True)
    weights = posterior_weights(one.sigmoid(), two.sigmoid())
    value = weighted_contrast(
        one[None], torch.eye(1, 5) == 1, torch.eye(1, 5) == 0, weights[None], 0.02
    )
    (gradient,) = torch.autograd.grad(value, one)
    assert math.isfinite(value.item())
    assert torch.isfinite(gradient).all()
