"""Each loss against its formula written out, and its gradient against small differences."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the train extra: pip install 'milepost[train]'")

from milepost.train.losses import (  # noqa: E402
    any_against_negatives,
    away_from,
    each_against_negatives,
    means_of,
)

T = 0.05


def batch(seed: int, rows: int = 4, columns: int = 7) -> tuple[object, object, object]:
    """Scores, and for each question some positives and some negatives; a few are neither."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.rand(rows, columns, generator=random, dtype=torch.float64) * 0.6 - 0.1
    kind = torch.randint(0, 3, (rows, columns), generator=random)
    kind[:, 0], kind[:, 1] = 1, 2
    return scores, kind == 1, kind == 2


def longhand_each(scores: list, positive: list, negative: list) -> float:
    """Mean over questions of the mean over positives of log(1 + Σ exp((s_n - s_p) / t))."""
    rows = []
    for s, p, n in zip(scores, positive, negative, strict=True):
        terms = [
            math.log(1 + sum(math.exp((s[j] - s[i]) / T) for j in range(len(s)) if n[j]))
            for i in range(len(s))
            if p[i]
        ]
        if terms:
            rows.append(sum(terms) / len(terms))
    return sum(rows) / len(rows)


def longhand_any(scores: list, positive: list, negative: list) -> float:
    """Mean over questions of log(1 + Σ_N exp(s / t) / Σ_P exp(s / t))."""
    rows = []
    for s, p, n in zip(scores, positive, negative, strict=True):
        good = sum(math.exp(s[i] / T) for i in range(len(s)) if p[i])
        bad = sum(math.exp(s[i] / T) for i in range(len(s)) if n[i])
        rows.append(math.log(1 + bad / good))
    return sum(rows) / len(rows)


LOSSES = [(each_against_negatives, longhand_each), (any_against_negatives, longhand_any)]


@pytest.mark.parametrize(("loss", "longhand"), LOSSES)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_contrast_is_its_formula(loss: object, longhand: object, seed: int) -> None:
    """The fast form equals the sum written out."""
    scores, positive, negative = batch(seed)
    wanted = longhand(scores.tolist(), positive.tolist(), negative.tolist())
    assert float(loss(scores, positive, negative, T)) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("loss", "longhand"), LOSSES)
def test_contrast_has_the_right_gradient(loss: object, longhand: object) -> None:
    """Its gradient is that of small differences of the longhand formula."""
    scores, positive, negative = batch(3)
    scores.requires_grad_()
    loss(scores, positive, negative, T).backward()
    step = 1e-6
    for row in range(scores.shape[0]):
        for column in range(scores.shape[1]):
            sides = []
            for sign in (1, -1):
                moved = scores.detach().clone()
                moved[row, column] += sign * step
                sides.append(longhand(moved.tolist(), positive.tolist(), negative.tolist()))
            slope = (sides[0] - sides[1]) / (2 * step)
            assert float(scores.grad[row, column]) == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_worked_numbers() -> None:
    """Two positives at 0.1, one negative at 0.1: log 2 each; at least one of them: log 1.5."""
    scores = torch.tensor([[0.1, 0.1, 0.1]])
    positive = torch.tensor([[True, True, False]])
    each = each_against_negatives(scores, positive, ~positive, T)
    some = any_against_negatives(scores, positive, ~positive, T)
    assert float(each) == pytest.approx(math.log(2), rel=1e-5)
    assert float(some) == pytest.approx(math.log(1.5), rel=1e-5)


def test_positives_do_not_compete() -> None:
    """Evidence of many sentences that all win costs nothing."""
    scores = torch.tensor([[1.0, 1.0, 1.0, -1.0]])
    positive = torch.tensor([[True, True, True, False]])
    assert float(each_against_negatives(scores, positive, ~positive, T)) < 1e-6


def test_questions_without_positives_are_left_out() -> None:
    """A row without evidence in the batch changes neither value nor gradient."""
    scores, positive, negative = batch(5, rows=2)
    alone = each_against_negatives(scores[:1], positive[:1], negative[:1], T)
    positive[1] = False
    scores.requires_grad_()
    both = each_against_negatives(scores, positive, negative, T)
    both.backward()
    assert both.item() == pytest.approx(alone.item())
    assert torch.isfinite(scores.grad).all()
    assert not scores.grad[1].any()


def test_a_question_without_negatives_costs_nothing() -> None:
    """Where there is nothing to be told from, the loss is zero and its gradient too, not NaN."""
    scores, positive, _ = batch(6, rows=1)
    for loss in (each_against_negatives, any_against_negatives):
        given_scores = scores.clone().requires_grad_()
        value = loss(given_scores, positive, torch.zeros_like(positive), T)
        value.backward()
        assert value.item() == 0.0
        assert not given_scores.grad.any()


def test_extreme_scores_stay_finite() -> None:
    """Scores a hundred temperatures apart overflow nothing."""
    scores = torch.tensor([[-5.0, 5.0]], requires_grad=True)
    positive = torch.tensor([[True, False]])
    for loss in (each_against_negatives, any_against_negatives):
        value = loss(scores, positive, ~positive, T)
        value.backward()
        assert value.item() == pytest.approx(200.0)
        assert torch.isfinite(scores.grad).all()


def test_distance_is_one_minus_the_cosine() -> None:
    """Equal directions are 0 away, orthogonal ones 1, opposite ones 2; the mean of them is 1."""
    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    targets = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    assert float(away_from(vectors, targets)) == pytest.approx(1.0)
    assert float(away_from(vectors[:1], targets[:1])) == 0.0


def test_means_are_those_of_the_reference() -> None:
    """Document vectors in training are the ones that the encoder's pooling gives."""
    from milepost.pooling import document_vector

    random = torch.Generator().manual_seed(1)
    rows = torch.nn.functional.normalize(torch.randn(9, 6, generator=random), dim=-1)
    owner = torch.tensor([0, 2, 0, 1, 2, 2, 0, 1, 2])
    means = means_of(rows, owner, 3)
    for number in range(3):
        wanted = document_vector(rows[owner == number].numpy())
        assert torch.allclose(means[number], torch.from_numpy(wanted), atol=1e-6)
