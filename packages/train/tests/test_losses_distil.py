"""Losses of distillation, of prefixes and of positions."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost_train.losses import (
    away_from,
    back_from_boundary,
    distances_of,
    divergence,
    over_prefixes,
    position_aware,
    similarities,
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


def vectors(seed: int, rows: int = 5) -> object:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(rows, 8, generator=random, dtype=torch.float64)


def contrast(queries: object, documents: object) -> object:
    own = torch.arange(len(queries))
    return torch.nn.functional.cross_entropy(similarities(queries, documents) / 0.2, own)


def longhand(queries: list, documents: list, size: int) -> float:
    """InfoNCE of the first ``size`` numbers, brought to unit length, one by one."""

    def cut(row: list) -> list:
        length = math.sqrt(sum(x * x for x in row[:size]))
        return [x / length for x in row[:size]]

    total = 0.0
    for number, query in enumerate(queries):
        sizes = [
            math.exp(sum(a * b for a, b in zip(cut(query), cut(d), strict=True)) / 0.2)
            for d in documents
        ]
        total -= math.log(sizes[number] / sum(sizes))
    return total / len(queries)


def test_it_is_the_mean_over_sizes() -> None:
    queries, documents = vectors(1), vectors(2)
    terms = [longhand(queries.tolist(), documents.tolist(), size) for size in (2, 4, 8)]
    value = over_prefixes(contrast, (queries, documents), (2, 4, 8))
    assert value.item() == pytest.approx(sum(terms) / 3)


def test_lengths_do_not_count() -> None:
    queries, documents = vectors(5), vectors(6)
    value = over_prefixes(contrast, (queries, documents), (2, 8)).item()
    longer = over_prefixes(contrast, (10 * queries, 0.1 * documents), (2, 8)).item()
    assert longer == pytest.approx(value)


def test_only_named_sizes_are_trained() -> None:
    rows = vectors(7).requires_grad_()
    over_prefixes(away_from, (rows, vectors(8)), (2, 4)).backward()
    assert rows.grad[:, :4].abs().min() > 0
    assert not rows.grad[:, 4:].any()


def test_its_gradient_is_right() -> None:
    pair = (vectors(9).requires_grad_(), vectors(10).requires_grad_())
    assert torch.autograd.gradcheck(lambda *both: over_prefixes(contrast, both, (2, 4, 8)), pair)


def test_a_prefix_of_zeros_stays_finite() -> None:
    """A vector that starts with zeros has no direction there, and harms nothing."""
    rows = vectors(11).float()
    rows[0, :2] = 0.0
    rows.requires_grad_()
    value = over_prefixes(contrast, (rows, vectors(12).float()), (2, 8))
    value.backward()
    assert math.isfinite(value.item())
    assert torch.isfinite(rows.grad).all()


@pytest.mark.parametrize("sizes", [(), (0, 8), (4, 9)])
def test_impossible_sizes_are_refused(sizes: tuple) -> None:
    with pytest.raises(ValueError, match="width 8"):
        over_prefixes(contrast, (vectors(1), vectors(2)), sizes)


# Five sentences of which 1, 2 and 3 hold the answer.
SCORES = [0.1, 0.4, 0.6, 0.5, 0.2]
BACK = [-1, 2, 1, 0, -1]
ALPHA = 0.08
WEIGHTS = 2.775260  # 1 + e^-.08 + e^-.16


def fixture() -> tuple:
    """Scores, distances and negatives of the worked example."""
    back = torch.tensor([BACK])
    return torch.tensor([SCORES], dtype=torch.float64, requires_grad=True), back, back < 0


def weighted_by_hand(scores: list, back: list, negative: list, alpha: float) -> float | None:
    """One question, one logarithm at a time; ``None`` where it has nothing to learn from."""
    span = [j for j, b in enumerate(back) if b >= 0]
    w = {j: math.exp(-alpha * back[j]) for j in span}
    e = [math.exp(s) for s in scores]
    z = sum(e[j] for j in range(len(e)) if negative[j]) + sum(e[j] for j in span)
    return -sum(w[j] * math.log(e[j] / z) for j in span) / sum(w.values()) if span else None


def printed(scores: object, back: object, alpha: float) -> object:
    """Equation 5 as the paper prints it, the weight inside the logarithm: here, to be judged."""
    weights = torch.exp(-alpha * back)
    share = weights * scores.exp() / scores.exp().sum(dim=1, keepdim=True)
    return -share[back >= 0].log().sum()


def placed(seed: int) -> tuple:
    """Scores, distances and negatives; some columns are neither, one row has no evidence."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.rand(5, 9, generator=random, dtype=torch.float64) * 0.6 - 0.1
    back = torch.randint(-4, 4, (5, 9), generator=random).clamp(min=-1)
    back[0, 0], back[1] = 0, -1
    return scores, back, (back < 0) & (torch.rand(5, 9, generator=random) < 0.8)


def test_the_printed_weight_changes_no_gradient() -> None:
    """Inside the logarithm the weight is a constant: the gradient is that of the plain loss."""
    gradients = []
    for alpha in (ALPHA, 0.0):
        scores, back, _ = fixture()
        value = printed(scores, back, alpha)
        value.backward()
        gradients.append(scores.grad)
        assert value.item() == pytest.approx(4.459197 + alpha * 3, abs=1e-6)
    assert torch.allclose(gradients[0], gradients[1], atol=1e-12)
    wanted = torch.tensor([[0.454850, -0.386016, -0.250079, -0.321443, 0.502687]]).double()
    assert torch.allclose(gradients[0], wanted, atol=2e-6)


def test_outside_the_weight_works() -> None:
    """Where the weight multiplies the logarithm, the boundary is pulled hardest: worked numbers."""
    scores, back, negative = fixture()
    value = position_aware(scores, back, negative, 1.0, ALPHA)
    value.backward()
    assert value.item() == pytest.approx(1.483842, abs=1e-6)
    wanted = torch.tensor([[0.420776, -0.284156, -0.229374, -0.372276, 0.465029]]).double()
    assert torch.allclose(scores.grad * WEIGHTS, wanted, atol=3e-6)


def test_the_floor_is_the_entropy_of_the_weights() -> None:
    """Weight outside: best is 3.043024 over the sum of weights; alpha zero: log 3. Never zero."""
    back = torch.tensor([BACK])
    for alpha, floor in ((ALPHA, 3.043024 / WEIGHTS), (0.0, math.log(3))):
        best = torch.where(back >= 0, -alpha * back, -60.0)
        value = position_aware(best, back, back < 0, 1.0, alpha)
        assert value.item() == pytest.approx(floor, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), alpha=st.sampled_from([0.0, 0.08, 0.7, 1.5]))
def test_it_is_its_formula(seed: int, alpha: float) -> None:
    """The fast form equals the formula written out, rows without evidence left out."""
    scores, back, negative = placed(seed)
    rows = zip((scores / 0.05).tolist(), back.tolist(), negative.tolist(), strict=True)
    wanted = [weighted_by_hand(*row, alpha) for row in rows]
    wanted = [value for value in wanted if value is not None]
    value = position_aware(scores, back, negative, 0.05, alpha)
    assert value.item() == pytest.approx(sum(wanted) / len(wanted), rel=1e-9, abs=1e-12)


def test_the_gradient_is_right() -> None:
    scores, back, negative = placed(3)
    scores.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda s: position_aware(s, back, negative, 0.2, 0.3), (scores,)
    )


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), shift=st.floats(-5, 5))
def test_only_differences_and_not_the_order_count(seed: int, shift: float) -> None:
    scores, back, negative = placed(seed)
    value = position_aware(scores, back, negative, 0.05, 0.3).item()
    order = torch.randperm(9, generator=torch.Generator().manual_seed(seed))
    moved = position_aware(
        (scores + shift)[:, order], back[:, order], negative[:, order], 0.05, 0.3
    )
    assert moved.item() == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_extreme_scores_and_steep_weights_stay_finite() -> None:
    scores = torch.tensor([[-1e4, 1e4, 0.0], [1e4, -1e4, 0.0], [1.0, 2.0, 3.0]])
    scores.requires_grad_()
    back = torch.tensor([[900, -1, 0], [901, 900, -1], [-1, -1, -1]])  # one boundary is not here
    with torch.autograd.detect_anomaly(check_nan=True):
        value = position_aware(scores, back, back < 0, 0.02, 1.5)
        value.backward()
    assert math.isfinite(value.item())
    assert torch.isfinite(scores.grad).all()
    assert not scores.grad[2].any()


def test_a_batch_without_evidence_costs_nothing() -> None:
    scores = torch.rand(2, 3, requires_grad=True)
    back = torch.full((2, 3), -1)
    value = position_aware(scores, back, back < 0, 0.05, ALPHA)
    value.backward()
    assert value.item() == 0.0
    assert not scores.grad.any()


def test_each_run_has_its_own_boundary() -> None:
    """Distances count back from the last sentence of the run that a sentence stands in."""
    assert back_from_boundary([9, 4, 3, 5]) == {3: 2, 4: 1, 5: 0, 9: 0}
    assert back_from_boundary([]) == {}


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 30)))
def test_a_boundary_follows_each_distance(evidence: set) -> None:
    """A sentence at distance b has b evidence sentences after it, and then none."""
    back = back_from_boundary(sorted(evidence))
    assert set(back) == evidence
    for sentence, b in back.items():
        assert set(range(sentence, sentence + b + 1)) <= evidence
        assert sentence + b + 1 not in evidence


def test_distances_are_those_of_the_document_not_of_the_window() -> None:
    """Half a run in a window keeps its distances; other texts' sentences are no evidence."""
    owners = torch.tensor([[0, 2], [0, 3], [0, 4], [1, 3], [0, 4], [0, 8]])
    wanted = [[-1, 2, 1, -1, 1, 0], [-1, -1, -1, 0, -1, -1]]
    evidence = [(0, (3, 4, 5, 8)), (1, (3,))]
    assert distances_of(owners, evidence).tolist() == wanted
