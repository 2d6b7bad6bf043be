"""Coupled negatives: the worked numbers of the method, its flaws, and what replaces it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the train extra: pip install 'milepost[train]'")

from milepost.train.losses import (  # noqa: E402
    coupled_pairs,
    each_against_negatives,
    effective_sample_size,
    posterior_weights,
    published_weights,
    weighted_contrast,
    weighted_mean,
    weighted_pairs,
)


def double(*values: float) -> object:
    """A row of float64."""
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize(
    ("score", "temperature", "weight"),
    [
        (0, 2, 2),
        (2, 2, 3.718282),
        (2, 10, 2.221403),
        (-4, 2, 1.135335),
        (20, 10, 8.389056),
        (20, 1, 485165196),
    ],
)
def test_published_weights_have_their_worked_numbers(
    score: float, temperature: float, weight: float
) -> None:
    """1 + exp(score / T), which is 1 / (1 - sigmoid(score / T))."""
    value = published_weights(double(score), temperature, most=30.0).item()
    assert value == pytest.approx(weight, rel=1e-6)
    assert value == pytest.approx(1 / (1 - 1 / (1 + math.exp(-score / temperature))), rel=1e-6)


def test_published_weights_are_bounded_and_finite_in_float32() -> None:
    """As written by the authors they are infinite from 17 on; ours are exact, then level."""
    scores = torch.tensor([15.0, 16.0, 17.0, 1e6])
    written = 1 / (1 - torch.sigmoid(scores))
    assert written[:2].tolist() == pytest.approx([2796202.75, 8388608], rel=1e-6)
    assert torch.isinf(written[2:]).all()
    exact = published_weights(scores, 1.0, most=20.0)
    assert exact[:2].tolist() == pytest.approx([3269018.37, 8886111.5], rel=1e-6)
    assert exact[3].item() == pytest.approx(1 + math.exp(20), rel=1e-6)
    assert published_weights(scores).max().item() == pytest.approx(1 + math.exp(3), rel=1e-6)


def test_one_published_step_by_hand() -> None:
    """Scores 2 over 1 under the weight of 1: loss, weight, product and gradient; level is free."""
    positive, negative = double(2.0), double(1.0).requires_grad_()
    weights = published_weights(double(1.0))
    assert weights.item() == pytest.approx(2.648721, rel=1e-6)
    plain = weighted_pairs(positive, negative, torch.ones_like(weights)).item()
    assert plain == pytest.approx(0.313262, rel=1e-5)
    value = weighted_pairs(positive, negative, weights, self_normalised=False)
    value.backward()
    assert value.item() == pytest.approx(0.829743, rel=1e-5)
    assert negative.grad.item() == pytest.approx(0.712351, rel=1e-5)
    # The same pairs five points higher: the loss does not move, the weight does.
    shifted = weighted_pairs(positive + 5, negative + 5, torch.ones_like(weights)).item()
    assert shifted == pytest.approx(plain)
    assert published_weights(double(6.0)).item() == pytest.approx(21.085537, rel=1e-6)


def test_means_under_weights_by_hand() -> None:
    """As published 1.391683, divided by the weights 0.609174, unweighted 0.416667."""
    weights = published_weights(double(0, 2, -4))
    losses = double(0.2, 1.0, 0.05)
    assert weights.mean().item() == pytest.approx(2.284539, rel=1e-6)
    published = weighted_mean(losses, weights, self_normalised=False).item()
    assert published == pytest.approx(1.391683, rel=1e-6)
    assert weighted_mean(losses, weights).item() == pytest.approx(0.609174, rel=1e-5)
    assert weighted_mean(losses, torch.ones(3)).item() == pytest.approx(0.416667, rel=1e-5)
    assert weighted_mean(losses, torch.zeros(3)).item() == 0.0


def trained(one: object, two: object) -> tuple:
    """Both linear models after fifty simultaneous steps of the published method on 64 pairs."""
    random = torch.Generator().manual_seed(7)
    good, bad = (torch.randn(64, 3, generator=random, dtype=torch.float64) for _ in range(2))
    weights = [one.clone().requires_grad_(), two.clone().requires_grad_()]
    for _ in range(50):
        pairs = [((good + 0.5) @ w, bad @ w) for w in weights]
        both = coupled_pairs(pairs[0], pairs[1])
        gradients = torch.autograd.grad(sum(both), weights)
        for w, gradient in zip(weights, gradients, strict=True):
            w.data -= 0.1 * gradient
    return weights[0].detach(), weights[1].detach()


def test_the_published_roles_are_one_and_the_same() -> None:
    """Same inputs: equal starts stay equal, swapped starts end swapped, unequal ones converge."""
    a, b = double(0.1, -0.2, 0.3), double(-0.3, 0.2, 0.05)
    same = trained(a, a)
    assert torch.equal(same[0], same[1])
    there, back = trained(a, b), trained(b, a)
    assert torch.equal(there[0], back[1])
    assert torch.equal(there[1], back[0])
    assert (there[0] - there[1]).norm() < 0.2 * (a - b).norm()


def test_a_coupled_step_by_hand() -> None:
    """Relevance (2, 1) and selection (1, 3), T = 2: each loss under 1 + exp(the other's / 2)."""
    relevance, selection = (double(2.0), double(1.0)), (double(1.0), double(3.0))
    first, second = coupled_pairs(relevance, selection)
    assert first.item() == pytest.approx(0.313262 * (1 + math.exp(1.5)), rel=1e-5)
    assert second.item() == pytest.approx(2.126928 * (1 + math.exp(0.5)), rel=1e-5)
    # Scores without dropout set the weights, where they are given.
    first, second = coupled_pairs(relevance, selection, weighing=(double(0.0), double(-4.0)))
    assert first.item() == pytest.approx(0.313262 * 1.135335, rel=1e-5)
    assert second.item() == pytest.approx(2.126928 * 2, rel=1e-5)
    first, _ = coupled_pairs(relevance, selection, temperature=10.0)
    assert first.item() == pytest.approx(0.313262 * (1 + math.exp(0.3)), rel=1e-5)


def test_posterior_weights_by_hand() -> None:
    """P(r = 0 | unlabelled) at r = 0.6, beside the published weights."""
    values = posterior_weights(double(0.6, 0.6, 0.6), double(0.1, 0.5, 0.9)).tolist()
    assert values == pytest.approx([0.425532, 0.571429, 0.869565], abs=1e-6)
    published = published_weights(torch.logit(double(0.1, 0.5, 0.9)), 1.0).tolist()
    assert published == pytest.approx([1.111111, 2, 10], abs=1e-6)
    assert published[2] / published[0] == pytest.approx(9)
    assert values[2] / values[0] == pytest.approx(2.043478, abs=1e-6)


def test_posterior_weights_are_the_unbiased_ones() -> None:
    """Four documents: the expected loss is that of the truth, 1.3; the published one's is 6.9."""
    r, s, loss = double(0.9, 0.6, 0.1, 0), double(0.2, 0.5, 0.5, 0.9), double(2, 1, 0.5, 0.25)
    unlabelled = 1 - r * s
    assert ((1 - r) * loss).sum().item() == pytest.approx(1.3)
    assert (unlabelled * loss).sum().item() == pytest.approx(3.065)
    assert (unlabelled * posterior_weights(r, s) * loss).sum().item() == pytest.approx(1.3)
    published = published_weights(torch.logit(s), 1.0)
    assert (unlabelled * published * loss).sum().item() == pytest.approx(6.9)
    assert ((1 - s) * published * loss).sum().item() == pytest.approx(3.75)  # all are negatives


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
    check = torch.autograd.gradcheck
    assert check(lambda x: weighted_contrast(x, positive, negative, weights, 0.5), (scores,))
    for normalised in (True, False):
        assert check(
            lambda x, y, n=normalised: weighted_pairs(x, y, weights[0] + 0.1, self_normalised=n),
            (one, two),
        )
    assert not published_weights(one).requires_grad
    assert not posterior_weights(one.sigmoid(), two.sigmoid()).requires_grad
    relevance, selection = coupled_pairs((one, two), (one.detach(), two.detach()))
    assert relevance.requires_grad
    assert not selection.requires_grad  # the relevance model only weighs it


def test_extreme_logits_stay_finite() -> None:
    """Certainty of any kind overflows nothing, in values or gradients."""
    one = torch.tensor([1e4, 1e4, -1e4, -1e4, 40.0], requires_grad=True)
    two = torch.tensor([1e4, -1e4, 1e4, -1e4, 40.0], requires_grad=True)
    weights = posterior_weights(one.sigmoid(), two.sigmoid())
    for value in (
        weighted_pairs(one, two, weights),
        weighted_contrast(
            one[None], torch.eye(1, 5) == 1, torch.eye(1, 5) == 0, weights[None], 0.02
        ),
    ):
        gradients = torch.autograd.grad(value, (one, two), allow_unused=True)
        assert math.isfinite(value.item())
        assert all(g is None or torch.isfinite(g).all() for g in gradients)
