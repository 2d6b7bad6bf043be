"""The position-aware contrast: its worked numbers, and why the printed one is none."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost_train.losses import back_from_boundary, distances_of, position_aware

# Five sentences of which 1, 2 and 3 hold the answer.
SCORES = [0.1, 0.4, 0.6, 0.5, 0.2]
BACK = [-1, 2, 1, 0, -1]
ALPHA = 0.08
WEIGHTS = 2.775260  # 1 + e^-.08 + e^-.16


def fixture() -> tuple:
    """Scores, distances and negatives of the worked example."""
    back = torch.tensor([BACK])
    return torch.tensor([SCORES], dtype=torch.float64, requires_grad=True), back, back < 0


def longhand(scores: list, back: list, negative: list, alpha: float) -> float | None:
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


def batch(seed: int) -> tuple:
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


def test_what_it_asks_for() -> None:
    scores = torch.zeros(1, 5, dtype=torch.float64, requires_grad=True)
    back = torch.tensor([BACK])
    optimizer = torch.optim.LBFGS([scores], max_iter=200, tolerance_grad=1e-12)

    def loss() -> object:
        optimizer.zero_grad()
        value = position_aware(scores, back, back < 0, 1.0, ALPHA)
        value.backward()
        return value

    optimizer.step(loss)
    _, second, first, end, _ = scores[0].tolist()
    assert first - end == pytest.approx(-ALPHA, abs=2e-3)
    assert second - end == pytest.approx(-2 * ALPHA, abs=2e-3)


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
    scores, back, negative = batch(seed)
    rows = zip((scores / 0.05).tolist(), back.tolist(), negative.tolist(), strict=True)
    wanted = [longhand(*row, alpha) for row in rows]
    wanted = [value for value in wanted if value is not None]
    value = position_aware(scores, back, negative, 0.05, alpha)
    assert value.item() == pytest.approx(sum(wanted) / len(wanted), rel=1e-9, abs=1e-12)


def test_the_gradient_is_right() -> None:
    scores, back, negative = batch(3)
    scores.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda s: position_aware(s, back, negative, 0.2, 0.3), (scores,)
    )


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), shift=st.floats(-5, 5))
def test_only_differences_and_not_the_order_count(seed: int, shift: float) -> None:
    scores, back, negative = batch(seed)
    value = position_aware(scores, back, negative, 0.05, 0.3).item()
    order = torch.randperm(9, generator=torch.Generator().manual_seed(seed))
    moved = position_aware(
        (scores + shift)[:, order], back[:, order], negative[:, order], 0.05, 0.3
    )
    assert moved.item() == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_extreme_scores_stay_finite() -> None:
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
