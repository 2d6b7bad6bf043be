"""The published method: its worked numbers, and its flaws."""

from __future__ import annotations

import math

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost_lab.cet.product import true_negative  # noqa: E402
from milepost_lab.cet.published import (  # noqa: E402
    coupled_pairs,
    published_weights,
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
    value = published_weights(double(score), temperature).item()
    assert value == pytest.approx(weight, rel=1e-6)
    assert value == pytest.approx(1 / (1 - 1 / (1 + math.exp(-score / temperature))), rel=1e-6)


def test_published_weights_are_exact_where_the_authors_are_infinite() -> None:
    """As written by the authors they are infinite in float32 from 17 on."""
    scores = torch.tensor([15.0, 16.0, 17.0])
    written = 1 / (1 - torch.sigmoid(scores))
    assert written[:2].tolist() == pytest.approx([2796202.75, 8388608], rel=1e-6)
    assert torch.isinf(written[2])
    exact = published_weights(scores, 1.0)
    assert exact.tolist() == pytest.approx([3269018.37, 8886111.5, 1 + math.exp(17)], rel=1e-6)


def test_one_published_step_by_hand() -> None:
    """Scores 2 over 1 under the weight of 1: loss, weight, product and gradient; level is free."""
    positive, negative = double(2.0), double(1.0).requires_grad_()
    weights = published_weights(double(1.0), 2.0)
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
    assert published_weights(double(6.0), 2.0).item() == pytest.approx(21.085537, rel=1e-6)


def test_means_under_weights_by_hand() -> None:
    """As published 1.391683, divided by the weights 0.609174, unweighted 0.416667."""
    weights = published_weights(double(0, 2, -4), 2.0)
    assert weights.mean().item() == pytest.approx(2.284539, rel=1e-6)
    # Pairs whose losses log(1 + exp(s)) are these.
    negative = double(0.2, 1.0, 0.05).expm1().log()
    positive = torch.zeros_like(negative)
    published = weighted_pairs(positive, negative, weights, self_normalised=False).item()
    assert published == pytest.approx(1.391683, rel=1e-6)
    assert weighted_pairs(positive, negative, weights).item() == pytest.approx(0.609174, rel=1e-5)
    plain = weighted_pairs(positive, negative, torch.ones(3)).item()
    assert plain == pytest.approx(0.416667, rel=1e-5)
    assert weighted_pairs(positive, negative, torch.zeros(3)).item() == 0.0


def trained(one: object, two: object) -> tuple:
    """Both linear models after fifty simultaneous steps of the published method on 64 pairs."""
    random = torch.Generator().manual_seed(7)
    good, bad = (torch.randn(64, 3, generator=random, dtype=torch.float64) for _ in range(2))
    weights = [one.clone().requires_grad_(), two.clone().requires_grad_()]
    for _ in range(50):
        pairs = [((good + 0.5) @ w, bad @ w) for w in weights]
        both = coupled_pairs(*pairs, (pairs[0][1], pairs[1][1]), 2.0)
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
    first, second = coupled_pairs(relevance, selection, (relevance[1], selection[1]), 2.0)
    assert first.item() == pytest.approx(0.313262 * (1 + math.exp(1.5)), rel=1e-5)
    assert second.item() == pytest.approx(2.126928 * (1 + math.exp(0.5)), rel=1e-5)
    # In training the scores that set the weights are those without dropout.
    first, second = coupled_pairs(relevance, selection, (double(0.0), double(-4.0)), 2.0)
    assert first.item() == pytest.approx(0.313262 * 1.135335, rel=1e-5)
    assert second.item() == pytest.approx(2.126928 * 2, rel=1e-5)
    first, _ = coupled_pairs(relevance, selection, (relevance[1], selection[1]), 10.0)
    assert first.item() == pytest.approx(0.313262 * (1 + math.exp(0.3)), rel=1e-5)


def test_the_published_weights_are_not_the_unbiased_ones() -> None:
    """At r = 0.6; then four documents, whose expected loss is 1.3 in truth and 6.9 as published."""
    values = true_negative(double(0.6, 0.6, 0.6), double(0.1, 0.5, 0.9)).tolist()
    published = published_weights(torch.logit(double(0.1, 0.5, 0.9)), 1.0).tolist()
    assert published == pytest.approx([1.111111, 2, 10], abs=1e-6)
    assert published[2] / published[0] == pytest.approx(9)
    assert values[2] / values[0] == pytest.approx(2.043478, abs=1e-6)
    r, s, loss = double(0.9, 0.6, 0.1, 0), double(0.2, 0.5, 0.5, 0.9), double(2, 1, 0.5, 0.25)
    weights = published_weights(torch.logit(s), 1.0)
    assert ((1 - r * s) * weights * loss).sum().item() == pytest.approx(6.9)
    assert ((1 - s) * weights * loss).sum().item() == pytest.approx(3.75)  # all are negatives


def test_gradients_are_right() -> None:
    """Those of small differences; none flows into weights, however sure the scores."""
    random = torch.Generator().manual_seed(4)
    one, two, weights = (torch.randn(6, generator=random, dtype=torch.float64) for _ in range(3))
    one.requires_grad_()
    two.requires_grad_()
    for normalised in (True, False):
        assert torch.autograd.gradcheck(
            lambda x, y, n=normalised: weighted_pairs(x, y, weights.exp(), self_normalised=n),
            (one, two),
        )
    assert not published_weights(one, 2.0).requires_grad
    still = one.detach(), two.detach()
    relevance, selection = coupled_pairs((one, two), still, (two, still[1]), 2.0)
    assert relevance.requires_grad
    assert not selection.requires_grad  # the relevance model only weighs it
    sure = torch.tensor([1e4, 1e4, -1e4, -1e4, 40.0], requires_grad=True)
    other = torch.tensor([1e4, -1e4, 1e4, -1e4, 40.0], requires_grad=True)
    value = weighted_pairs(sure, other, torch.ones(5))
    assert math.isfinite(value.item())
    for gradient in torch.autograd.grad(value, (sure, other)):
        assert torch.isfinite(gradient).all()
