"""Distillation of scores: each loss against its formula, and where it is zero."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost_train.losses import divergence


def batch(seed: int) -> tuple:
    """Scores of student and teacher, and for each column 0 unused, 1 positive, 2 negative."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(4, 6, generator=random, dtype=torch.float64)
    teacher = torch.randn(4, 6, generator=random, dtype=torch.float64) * 3
    kind = torch.randint(0, 3, (4, 6), generator=random)
    kind[0, :2] = torch.tensor([1, 2])
    kind[1] = 0
    kind[2] = torch.tensor([1, 0, 0, 0, 0, 0])
    return scores, teacher, kind


def softmax(values: list) -> list:
    total = sum(math.exp(v) for v in values)
    return [math.exp(v) / total for v in values]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_divergence_is_its_formula(seed: int) -> None:
    """Σ t (log t - log p) of the used columns, each side at its own temperature."""
    scores, teacher, kind = batch(seed)
    terms = []
    for s, t, k in zip(scores.tolist(), teacher.tolist(), kind.tolist(), strict=True):
        used = [j for j in range(6) if k[j]]
        if len(used) > 1:
            own = softmax([s[j] / 0.5 for j in used])
            truth = softmax([t[j] / 2.0 for j in used])
            terms.append(sum(a * math.log(a / b) for a, b in zip(truth, own, strict=True)))
    value = divergence(scores, teacher, kind > 0, 0.5, 2.0)
    assert value.item() == pytest.approx(sum(terms) / len(terms), rel=1e-9)
    assert value.item() >= 0.0


def test_gradients_are_right_and_the_teacher_has_none() -> None:
    scores, teacher, kind = batch(4)
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda s: divergence(s, teacher, kind > 0, 0.5, 2.0), (scores,))
    teacher.requires_grad_()
    divergence(scores, teacher, kind > 0, 0.5, 2.0).backward()
    assert teacher.grad is None


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), shift=st.floats(-5, 5))
def test_a_constant_changes_nothing(seed: int, shift: float) -> None:
    scores, teacher, kind = batch(seed)
    value = divergence(scores, teacher, kind > 0, 0.5, 2.0).item()
    moved = divergence(scores + shift, teacher - shift, kind > 0, 0.5, 2.0).item()
    assert moved == pytest.approx(value, rel=1e-8, abs=1e-9)
    assert divergence(scores, 4 * scores, kind > 0, 0.5, 2.0).item() == pytest.approx(0, abs=1e-12)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_extreme_scores_stay_finite() -> None:
    scores, teacher, kind = batch(7)
    scores = (scores * 1e4).float().requires_grad_()
    teacher = (teacher * 1e4).float()
    teacher[kind == 0] = float("nan")
    with torch.autograd.detect_anomaly(check_nan=True):
        value = divergence(scores, teacher, kind > 0, 0.5, 2.0)
        value.backward()
    assert math.isfinite(value.item())
    assert torch.isfinite(scores.grad).all()
    assert scores.grad.any()
    nothing = divergence(scores, teacher, torch.zeros_like(kind, dtype=torch.bool), 0.5)
    assert nothing.item() == 0.0
