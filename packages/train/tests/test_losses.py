"""Each loss against its formula written out, and the cache of gradients."""

import math
import weakref

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.encoder.windows.document_vector import document_vector
from milepost_train.losses import (
    any_against_negatives,
    away_from,
    each_against_negatives,
    means_of,
    over_prefixes,
    similarities,
)
from milepost_train.objectives.base import backward

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
    scores, positive, negative = batch(seed)
    wanted = longhand(scores.tolist(), positive.tolist(), negative.tolist())
    assert float(loss(scores, positive, negative, T)) == pytest.approx(wanted, rel=1e-9)


def test_worked_numbers() -> None:
    """Two positives at 0.1, one negative at 0.1: log 2 each; at least one of them: log 1.5."""
    scores = torch.tensor([[0.1, 0.1, 0.1]])
    positive = torch.tensor([[True, True, False]])
    each = each_against_negatives(scores, positive, ~positive, T)
    some = any_against_negatives(scores, positive, ~positive, T)
    assert float(each) == pytest.approx(math.log(2), rel=1e-5)
    assert float(some) == pytest.approx(math.log(1.5), rel=1e-5)


@pytest.mark.parametrize("loss", [each_against_negatives, any_against_negatives])
def test_questions_without_positives_are_left_out(loss: object) -> None:
    scores, positive, negative = batch(5, rows=2)
    alone = loss(scores[:1], positive[:1], negative[:1], T)
    positive[1] = False
    scores.requires_grad_()
    both = loss(scores, positive, negative, T)
    both.backward()
    assert both.item() == pytest.approx(alone.item())
    assert torch.isfinite(scores.grad).all()
    assert not scores.grad[1].any()


@pytest.mark.parametrize("loss", [each_against_negatives, any_against_negatives])
def test_a_batch_without_positives_costs_nothing(loss: object) -> None:
    scores, positive, negative = batch(5)
    scores.requires_grad_()
    value = loss(scores, torch.zeros_like(positive), negative, T)
    value.backward()
    assert value.item() == 0.0
    assert not scores.grad.any()


@pytest.mark.parametrize("loss", [each_against_negatives, any_against_negatives])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), shift=st.floats(-5, 5))
def test_only_differences_and_not_the_order_count(loss: object, seed: int, shift: float) -> None:
    scores, positive, negative = batch(seed)
    value = loss(scores, positive, negative, T).item()
    random = torch.Generator().manual_seed(seed)
    rows, columns = torch.randperm(4, generator=random), torch.randperm(7, generator=random)
    moved = [m[rows][:, columns] for m in (scores + shift, positive, negative)]
    assert loss(*moved, T).item() == pytest.approx(value, rel=1e-9, abs=1e-9)


def vectors(seed: int, rows: int) -> object:
    random = torch.Generator().manual_seed(seed)
    return torch.nn.functional.normalize(
        torch.randn(rows, 8, generator=random, dtype=torch.float64), dim=-1
    )


def test_gradients_stand_up_to_gradcheck() -> None:
    """Contrast, distance and means: automatic gradients are those of small differences."""
    scores, positive, negative = batch(3)
    queries, documents, owner = vectors(5, 4), vectors(6, 7), torch.tensor([0, 1, 1, 2, 0, 1, 3])
    for tensor in (scores, queries, documents):
        tensor.requires_grad_()
    check = torch.autograd.gradcheck
    assert check(lambda s: each_against_negatives(s, positive, negative, 0.2), (scores,))
    assert check(lambda s: any_against_negatives(s, positive, negative, 0.2), (scores,))
    assert check(similarities, (queries, documents))
    assert check(lambda d: means_of(d, owner, 4), (documents,))
    assert check(lambda q: away_from(q, documents[:4].detach()), (queries,))


def test_losses_count_in_float32_under_autocast() -> None:
    """Vectors in bfloat16, inside a region that would turn products to bfloat16: exact scores."""
    queries, documents = (vectors(n, 64).to(torch.bfloat16) for n in (7, 8))
    own = torch.eye(64, dtype=torch.bool)
    exact = each_against_negatives(queries.double() @ documents.double().T, own, ~own, 0.02).item()
    with torch.autocast("cpu", torch.bfloat16):
        value = each_against_negatives(similarities(queries, documents), own, ~own, 0.02)
        coarse = torch.nn.functional.cross_entropy(queries @ documents.T / 0.02, torch.arange(64))
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(exact, rel=1e-6)
    assert coarse.item() != pytest.approx(exact, rel=1e-6)  # what the region does if let


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_a_question_without_negatives_costs_nothing() -> None:
    scores, positive, _ = batch(6, rows=1)
    for loss in (each_against_negatives, any_against_negatives):
        given_scores = scores.clone().requires_grad_()
        with torch.autograd.detect_anomaly(check_nan=True):
            value = loss(given_scores, positive, torch.zeros_like(positive), T)
            value.backward()
        assert value.item() == 0.0
        assert not given_scores.grad.any()


def test_extreme_scores_stay_finite() -> None:
    scores = torch.tensor([[-5.0, 5.0]], requires_grad=True)
    positive = torch.tensor([[True, False]])
    for loss in (each_against_negatives, any_against_negatives):
        value = loss(scores, positive, ~positive, T)
        value.backward()
        assert value.item() == pytest.approx(200.0)
        assert torch.isfinite(scores.grad).all()


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


@settings(max_examples=8, deadline=None)
@given(sizes=st.tuples(st.integers(1, 16), st.integers(1, 24)), seed=st.integers(0, 1000))
def test_gradients_are_those_of_one_big_batch(sizes: tuple, seed: int) -> None:
    model, whole = network().double(), (inputs(seed, 16).double(), inputs(seed + 1, 24).double())
    wanted, exact = in_one_graph(model, [[rows] for rows in whole], contrast)
    model.zero_grad()
    groups = [rows.split(size) for rows, size in zip(whole, sizes, strict=True)]
    value = backward(model, groups, contrast)
    assert value.item() == pytest.approx(wanted, rel=1e-10)
    assert not value.requires_grad
    for one, other in zip(gradients(model), exact, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-10)


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
