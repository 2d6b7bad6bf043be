"""Losses over prefixes of vectors, and the cache of gradients."""

import math
import weakref

import pytest
import torch

from milepost_train.losses import away_from, over_prefixes, similarities
from milepost_train.objectives.base import backward


def vectors(seed: int, rows: int = 5) -> object:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(rows, 8, generator=random, dtype=torch.float64)


def plain(queries: object, documents: object) -> object:
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
    value = over_prefixes(plain, (queries, documents), (2, 4, 8))
    assert value.item() == pytest.approx(sum(terms) / 3)


def test_only_named_sizes_are_trained() -> None:
    rows = vectors(7).requires_grad_()
    over_prefixes(away_from, (rows, vectors(8)), (2, 4)).backward()
    assert rows.grad[:, :4].abs().min() > 0
    assert not rows.grad[:, 4:].any()


def test_a_prefix_of_zeros_stays_finite() -> None:
    """A vector that starts with zeros has no direction there, and harms nothing."""
    rows = vectors(11).float()
    rows[0, :2] = 0.0
    rows.requires_grad_()
    value = over_prefixes(plain, (rows, vectors(12).float()), (2, 8))
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
