"""Distillation of scores: each loss against its formula, and where it is zero."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost_train.losses import (  # noqa: E402
    divergence,
    info_nce,
    listwise,
    margin_error,
)


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
    """Shares of exponentials."""
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


def test_a_ranking_is_summed_over_its_candidates() -> None:
    """Scores 0, 0 under a teacher of 0, ln 3: a soft cross-entropy of 0.693147, not half of it.

    Averaged over candidates as well, it would count the less the more of them there are.
    """
    scores, teacher = torch.zeros(1, 2).double(), torch.tensor([[0.0, math.log(3)]]).double()
    used = torch.ones(1, 2, dtype=torch.bool)
    apart = divergence(scores, teacher, used, 1.0).item()
    own = divergence(teacher, teacher, used, 1.0).item()
    entropy = -sum(share * math.log(share) for share in (0.25, 0.75))
    assert own == pytest.approx(0, abs=1e-12)
    assert apart + entropy == pytest.approx(0.693147, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_margin_error_is_its_formula(seed: int) -> None:
    """The squared difference of every margin, pair by pair."""
    scores, teacher, kind = batch(seed)
    terms = []
    for s, t, k in zip(scores.tolist(), teacher.tolist(), kind.tolist(), strict=True):
        pairs = [
            ((s[p] - s[n]) - (t[p] - t[n])) ** 2
            for p in range(6)
            for n in range(6)
            if k[p] == 1 and k[n] == 2
        ]
        if pairs:
            terms.append(sum(pairs) / len(pairs))
    value = margin_error(scores, teacher, kind == 1, kind == 2)
    assert value.item() == pytest.approx(sum(terms) / len(terms), rel=1e-9)


def longhand_listwise(scores: list, places: list, teacher: list, t: float) -> float:
    """Σ w_i · -log( e^{s_i/t} / Σ over D without the own passages before i )."""
    own = [p for p in places if p >= 0]
    w = softmax(teacher[: len(own)])
    total = 0.0
    for i, place in enumerate(own):
        whole = sum(math.exp(s / t) for d, s in enumerate(scores) if d not in own[:i])
        total += w[i] * -math.log(math.exp(scores[place] / t) / whole)
    return total


def test_listwise_has_its_worked_numbers() -> None:
    """Scores 2, 1, 0.5, -1, the first two its own, teacher 1 and 0, temperature 0.5: 0.213521."""
    scores = torch.tensor([[2.0, 1.0, 0.5, -1.0]])
    value = listwise(scores, torch.tensor([[0, 1]]), torch.tensor([[1.0, 0.0]]), 0.5)
    assert value.item() == pytest.approx(0.213521, abs=1e-6)
    for teacher, term in (([100.0, -100.0], 0.171935), ([-100.0, 100.0], 0.326563)):
        value = listwise(scores, torch.tensor([[0, 1]]), torch.tensor([teacher]), 0.5)
        assert value.item() == pytest.approx(term, abs=1e-6)


PLACES = [[4, 0, 2], [1, 3, -1], [-1, -1, -1], [5, -1, -1]]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_listwise_is_its_formula(seed: int) -> None:
    """Groups of several sizes, one of them empty, as the sum written out."""
    scores, teacher, _ = batch(seed)
    value = listwise(scores, torch.tensor(PLACES), teacher[:, :3], 0.5)
    rows = zip(scores.tolist(), PLACES, teacher[:, :3].tolist(), strict=True)
    wanted = [longhand_listwise(*row, 0.5) for row in rows if row[1][0] >= 0]
    assert value.item() == pytest.approx(sum(wanted) / 3, rel=1e-9)


def test_another_right_passage_is_no_rival() -> None:
    """Known ones are left out of what the own passages have to win against; own ones stay."""
    scores = torch.tensor([[2.0, 1.0, 0.5, -1.0]]).double()
    places, teacher = torch.tensor([[0, 1]]), torch.tensor([[1.0, 0.0]])
    known = torch.tensor([[True, False, True, False]])
    value = listwise(scores, places, teacher, 0.5, known=known)
    without = listwise(scores[:, [0, 1, 3]], places, teacher, 0.5)
    assert value.item() == pytest.approx(without.item())
    assert value.item() < listwise(scores, places, teacher, 0.5).item()


def test_listwise_without_a_teacher_is_info_nce() -> None:
    """Scores of 100 and -100 stand for a mere label: the contrast of the positive with all."""
    random = torch.Generator().manual_seed(1)
    queries = torch.randn(3, 8, generator=random, dtype=torch.float64)
    documents = torch.randn(6, 8, generator=random, dtype=torch.float64)
    places = torch.tensor([[0, 3], [1, 4], [2, 5]])
    teacher = torch.tensor([[100.0, -100.0]]).expand(3, 2)
    value = listwise(queries @ documents.T, places, teacher, 0.7)
    assert value.item() == pytest.approx(info_nce(queries, documents, 0.7).item())


CALLS = {
    "divergence": lambda s, t, k: divergence(s, t, k > 0, 0.5, 2.0),
    "margin": lambda s, t, k: margin_error(s, t, k == 1, k == 2),
    "listwise": lambda s, t, k: listwise(s, torch.tensor(PLACES), t[:, :3], 0.5),
}


@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_right_and_the_teacher_has_none(name: str) -> None:
    """Gradients are those of small differences; the teacher stays as it is."""
    scores, teacher, kind = batch(4)
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda s: CALLS[name](s, teacher, kind), (scores,))
    teacher.requires_grad_()
    CALLS[name](scores, teacher, kind).backward()
    assert teacher.grad is None


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), shift=st.floats(-5, 5))
def test_a_constant_changes_nothing(name: str, seed: int, shift: float) -> None:
    """Only differences of scores count, on either side."""
    scores, teacher, kind = batch(seed)
    value = CALLS[name](scores, teacher, kind).item()
    moved = CALLS[name](scores + shift, teacher - shift, kind).item()
    assert moved == pytest.approx(value, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("name", ["divergence", "margin"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_order_of_columns_changes_nothing(name: str, seed: int) -> None:
    """Shuffled columns give the same number."""
    scores, teacher, kind = batch(seed)
    order = torch.randperm(6, generator=torch.Generator().manual_seed(seed))
    value = CALLS[name](scores, teacher, kind).item()
    moved = CALLS[name](scores[:, order], teacher[:, order], kind[:, order]).item()
    assert moved == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_the_order_of_strangers_changes_nothing() -> None:
    """In the listwise loss columns may be shuffled if the places follow them."""
    scores, teacher, _ = batch(8)
    places = torch.tensor(PLACES)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    back = torch.argsort(order)
    moved = torch.where(places >= 0, back[places.clamp(min=0)], -1)
    value = listwise(scores, places, teacher[:, :3], 0.5).item()
    assert listwise(scores[:, order], moved, teacher[:, :3], 0.5).item() == pytest.approx(value)


def test_agreement_costs_nothing() -> None:
    """A student with the teacher's scores (at its temperature) is done."""
    scores, _, kind = batch(2)
    assert divergence(scores, 4 * scores, kind > 0, 0.5, 2.0).item() == pytest.approx(0, abs=1e-12)
    assert margin_error(scores, scores + 7, kind == 1, kind == 2).item() == pytest.approx(0)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_extreme_scores_stay_finite(name: str) -> None:
    """Scores far apart and NaN of a teacher where nothing is used give finite gradients."""
    scores, teacher, kind = batch(7)
    kind[3] = torch.tensor([1, 2, 2, 1, 0, 0])
    scores = (scores * 1e4).float().requires_grad_()
    teacher = (teacher * 1e4).float()
    unread = torch.zeros(4, 6, dtype=torch.bool)
    unread[:, :3] = torch.tensor(PLACES) < 0
    teacher[unread if name == "listwise" else kind == 0] = float("nan")
    with torch.autograd.detect_anomaly(check_nan=True):
        value = CALLS[name](scores, teacher, kind)
        value.backward()
    assert math.isfinite(value.item())
    assert torch.isfinite(scores.grad).all()
    assert scores.grad.any()


@pytest.mark.parametrize("name", CALLS)
def test_nothing_to_learn_from_costs_nothing(name: str) -> None:
    """Rows without used columns, or no row at all, are left out."""
    scores = torch.randn(4, 6, requires_grad=True)
    places = torch.full((4, 3), -1)
    value = (
        listwise(scores, places, scores[:, :3], 0.5)
        if name == "listwise"
        else CALLS[name](scores, scores * 2, torch.zeros(4, 6, dtype=torch.int64))
    )
    value.backward()
    assert value.item() == 0.0
    assert not scores.grad.any()
