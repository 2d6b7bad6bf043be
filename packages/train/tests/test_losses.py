"""Each loss against its formula written out, over prefixes too, and the cache of gradients."""

import math
import weakref
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.encoder.windows.document_vector import document_vector
from milepost_train.losses import (
    any_against_negatives,
    away_from,
    distances_of,
    divergence,
    each_against_negatives,
    means_of,
    over_prefixes,
    position_aware,
    similarities,
)
from milepost_train.objectives.base import backward

T = 0.05


def batch(seed: int) -> tuple[Any, Any, Any, Any]:
    """Scores; for each column 0 unused, 1 positive, 2 negative; distances; a teacher's scores.

    The second question has nothing to learn from, and the third one positive and no negative.
    """
    random = torch.Generator().manual_seed(seed)
    scores = torch.rand(5, 7, generator=random, dtype=torch.float64) * 0.6 - 0.1
    kind = torch.randint(0, 3, (5, 7), generator=random)
    kind[:, 0], kind[:, 1] = 1, 2
    kind[1] = 0
    kind[2] = torch.tensor([1, 0, 0, 0, 0, 0, 0])
    back = torch.where(kind == 1, torch.randint(0, 4, (5, 7), generator=random), -1)
    teacher = torch.randn(5, 7, generator=random, dtype=torch.float64) * 3
    return scores, kind, back, teacher


LOSSES = {
    "each": lambda s, k, b, t: each_against_negatives(s, k == 1, k == 2, T),
    "any": lambda s, k, b, t: any_against_negatives(s, k == 1, k == 2, T),
    "position": lambda s, k, b, t: position_aware(s, b, k == 2, T, 0.3),
    "divergence": lambda s, k, b, t: divergence(s, t, k > 0, 0.5, 2.0),
}


def powers(values: Any, chosen: list[int], heat: float) -> dict[int, float]:
    return {j: math.exp(values[j] / heat) for j in chosen}


def longhand(name: str, s: list, k: list, b: list, t: list) -> float | None:
    """One question, one logarithm at a time; None where it has nothing to learn from.

    each        mean over positives of log(1 + sum over negatives of exp((s_n - s_p) / T))
    any         log(1 + sum over negatives of exp(s / T) / sum over positives of exp(s / T))
    position    - sum of w log p / sum of w, over the evidence, w = exp(-alpha times distance)
    divergence  sum of t (log t - log p) over the used columns, each at its own temperature
    """
    right, wrong = ([j for j in range(len(s)) if k[j] == kind] for kind in (1, 2))
    if name == "divergence":
        used = right + wrong
        own, truth = powers(s, used, 0.5), powers(t, used, 2.0)
        p, q = ({j: v / sum(each.values()) for j, v in each.items()} for each in (own, truth))
        return sum(q[j] * math.log(q[j] / p[j]) for j in used) if len(used) > 1 else None
    if not right:
        return None
    good, bad = powers(s, right, T), sum(powers(s, wrong, T).values())
    if name == "each":
        return sum(math.log(1 + bad / each) for each in good.values()) / len(right)
    if name == "any":
        return math.log(1 + bad / sum(good.values()))
    whole = bad + sum(good.values())
    w = {j: math.exp(-0.3 * b[j]) for j in right}
    return -sum(w[j] * math.log(good[j] / whole) for j in right) / sum(w.values())


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_loss_is_its_formula(name: str, seed: int) -> None:
    """A mean over the questions that have something to learn from."""
    given = batch(seed)
    rows = [longhand(name, *row) for row in zip(*(part.tolist() for part in given), strict=True)]
    wanted = [row for row in rows if row is not None]
    value = LOSSES[name](*given).item()
    assert value == pytest.approx(sum(wanted) / len(wanted), rel=1e-9, abs=1e-12)
    assert len(wanted) < len(rows)


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_stand_up_to_gradcheck(name: str) -> None:
    """And where nothing is to be learned there is none: of a question, and of a whole batch."""
    scores, kind, back, teacher = batch(3)
    scores.requires_grad_()
    loss = LOSSES[name]
    assert torch.autograd.gradcheck(lambda s: loss(s, kind, back, teacher), (scores,))
    loss(scores, kind, back, teacher).backward()
    assert scores.grad.any()
    assert not scores.grad[1].any()
    scores.grad = None
    nothing = loss(scores, torch.zeros_like(kind), torch.full_like(back, -1), teacher)
    nothing.backward()
    assert nothing.item() == 0.0
    assert not scores.grad.any()


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("name", LOSSES)
def test_extreme_scores_stay_finite(name: str) -> None:
    """Whatever the teacher says of what is not used; a positive without negatives costs nothing."""
    scores, kind, back, teacher = batch(7)
    scores = (scores * 1e4).float().requires_grad_()
    teacher = (teacher * 1e4).float()
    teacher[kind == 0] = float("nan")
    with torch.autograd.detect_anomaly(check_nan=True):
        value = LOSSES[name](scores, kind, back, teacher)
        value.backward()
    assert math.isfinite(value.item())
    assert torch.isfinite(scores.grad).all()
    assert scores.grad.any()
    assert not scores.grad[2].any()


def rows_of(seed: int, rows: int = 5) -> torch.Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(rows, 8, generator=random, dtype=torch.float64)


def test_losses_count_in_float32_under_autocast() -> None:
    """Vectors in bfloat16, inside a region that would turn products to bfloat16: exact scores."""
    queries, documents = (
        torch.nn.functional.normalize(rows_of(n, 64), dim=-1).to(torch.bfloat16) for n in (7, 8)
    )
    own = torch.eye(64, dtype=torch.bool)
    exact = each_against_negatives(queries.double() @ documents.double().T, own, ~own, 0.02).item()
    with torch.autocast("cpu", torch.bfloat16):
        value = each_against_negatives(similarities(queries, documents), own, ~own, 0.02)
        coarse = torch.nn.functional.cross_entropy(queries @ documents.T / 0.02, torch.arange(64))
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(exact, rel=1e-6)
    assert coarse.item() != pytest.approx(exact, rel=1e-6)  # what the region does if let


def test_distance_is_one_minus_the_cosine() -> None:
    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    targets = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    assert float(away_from(vectors, targets)) == pytest.approx(1.0)
    assert float(away_from(vectors[:1], targets[:1])) == 0.0


def test_means_are_those_of_the_reference() -> None:
    """Document vectors in training are the ones that the encoder's pooling gives."""
    random = torch.Generator().manual_seed(1)
    rows = torch.nn.functional.normalize(torch.randn(9, 6, generator=random), dim=-1)
    owner = torch.tensor([0, 2, 0, 1, 2, 2, 0, 1, 2])
    means = means_of(rows, owner, 3)
    for number in range(3):
        wanted = document_vector(rows[owner == number].numpy())
        assert torch.allclose(means[number], torch.from_numpy(wanted), atol=1e-6)


def test_a_teacher_has_no_gradient_and_agrees_with_itself() -> None:
    scores, kind, _, teacher = batch(4)
    scores.requires_grad_()
    teacher.requires_grad_()
    divergence(scores, teacher, kind > 0, 0.5, 2.0).backward()
    assert teacher.grad is None
    assert divergence(scores, 4 * scores, kind > 0, 0.5, 2.0).item() == pytest.approx(0, abs=1e-12)


def test_distances_are_those_of_the_document_not_of_the_window() -> None:
    """Half a run in a window keeps its distances; other texts' sentences are no evidence."""
    owners = torch.tensor([[0, 2], [0, 3], [0, 4], [1, 3], [0, 4], [0, 8]])
    wanted = [[-1, 2, 1, -1, 1, 0], [-1, -1, -1, 0, -1, -1]]
    evidence = [(0, (3, 4, 5, 8)), (1, (3,))]
    assert distances_of(owners, evidence).tolist() == wanted


def plain(queries: object, documents: object) -> object:
    own = torch.arange(len(queries))
    return torch.nn.functional.cross_entropy(similarities(queries, documents) / 0.2, own)


def of_prefixes(queries: list, documents: list, size: int) -> float:
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
    queries, documents = rows_of(1), rows_of(2)
    terms = [of_prefixes(queries.tolist(), documents.tolist(), size) for size in (2, 4, 8)]
    value = over_prefixes(plain, (queries, documents), (2, 4, 8))
    assert value.item() == pytest.approx(sum(terms) / 3)


def test_only_named_sizes_are_trained() -> None:
    rows = rows_of(7).requires_grad_()
    over_prefixes(away_from, (rows, rows_of(8)), (2, 4)).backward()
    assert rows.grad[:, :4].abs().min() > 0
    assert not rows.grad[:, 4:].any()


def test_a_prefix_of_zeros_stays_finite() -> None:
    """A vector that starts with zeros has no direction there, and harms nothing."""
    rows = rows_of(11).float()
    rows[0, :2] = 0.0
    rows.requires_grad_()
    value = over_prefixes(plain, (rows, rows_of(12).float()), (2, 8))
    value.backward()
    assert math.isfinite(value.item())
    assert torch.isfinite(rows.grad).all()


def network(*, dropout: float = 0.0) -> object:
    """A small encoder of rows of six numbers, the same each time."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return torch.nn.Sequential(
            torch.nn.Linear(6, 32),
            torch.nn.GELU(),
            torch.nn.Dropout(dropout),
            torch.nn.Linear(32, 8),
        )


def inputs(seed: int, rows: int) -> object:
    return torch.randn(rows, 6, generator=torch.Generator().manual_seed(seed))


def contrast(queries: object, documents: object) -> object:
    def loss(asking: object, read: object) -> object:
        own = torch.arange(len(asking))
        return torch.nn.functional.cross_entropy(similarities(asking, read) / 0.1, own)

    return over_prefixes(loss, (queries, documents), (4, 8))


def gradients(model: object) -> list:
    return [p.grad.clone() for p in model.parameters()]


def in_one_graph(model: object, groups: list, loss: object) -> tuple:
    """Value and gradients with every chunk's graph kept to the end."""
    model.zero_grad()
    value = loss(*(torch.cat([model(chunk) for chunk in group]) for group in groups))
    value.backward()
    return value.item(), gradients(model)


def test_dropout_falls_the_same_way_twice() -> None:
    """Under dropout, gradients are those of the masks of the first pass, and draws go on after."""
    model, groups = network(dropout=0.5), [inputs(1, 12).split(4), inputs(2, 12).split(5)]

    def noisy(queries: object, documents: object) -> object:
        return contrast(queries, documents + 0.1 * torch.randn(12, 8))

    torch.manual_seed(11)
    wanted, exact = in_one_graph(model, groups, noisy)
    following = torch.rand(3)
    model.zero_grad()
    torch.manual_seed(11)
    value = backward(model, groups, noisy)
    assert torch.equal(torch.rand(3), following)
    assert value.item() == pytest.approx(wanted, rel=1e-6)
    for one, other in zip(gradients(model), exact, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-6)


def most_held(rows: int, chunk: int) -> int:
    """The most outputs of the first layer that are in memory at any one time, in rows."""
    model, now, most = network(dropout=0.1), [0], [0]

    def release(size: int) -> None:
        now[0] -= size

    def hold(_module: object, _inputs: object, output: torch.Tensor) -> None:
        now[0] += len(output)
        most[0] = max(most[0], now[0])
        weakref.finalize(output, release, len(output))

    model[0].register_forward_hook(hold)
    backward(model, [inputs(1, rows).split(chunk), inputs(2, rows).split(chunk)], contrast)
    assert now[0] == 0  # nothing is left behind
    return most[0]


def test_memory_does_not_grow_with_the_batch() -> None:
    """Eight times the batch in as small chunks: the same activations; in one chunk, far more."""
    assert most_held(16, 8) == most_held(128, 8)
    assert most_held(128, 128) >= 8 * most_held(128, 8)
