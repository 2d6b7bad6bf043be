"""Gradient cache: the gradients of one big batch, in the memory of one chunk."""

import weakref
from contextlib import nullcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost_train.losses import (
    any_against_negatives,
    cached_backward,
    means_of,
    over_prefixes,
    similarities,
)


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
    value = cached_backward(model, groups, contrast)
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
    value = cached_backward(model, groups, noisy)
    assert torch.equal(torch.rand(3), following)
    assert value.item() == pytest.approx(wanted, rel=1e-6)
    for one, other in zip(gradients(model), exact, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-6)


@pytest.mark.parametrize("inside", [True, False])
def test_autocast_is_respected(inside: bool) -> None:
    """In a bfloat16 region, or with one inside the encoder, both passes run in it."""
    model, groups = network(), [inputs(1, 12).split(4), inputs(2, 12).split(5)]
    kinds = []

    def encode(chunk: object) -> object:
        around = torch.autocast("cpu", torch.bfloat16) if inside else nullcontext()
        with around:
            rows = model(chunk)
        kinds.append(rows.dtype)
        return rows

    with torch.autocast("cpu", torch.bfloat16, enabled=not inside):
        value = cached_backward(encode, groups, contrast)
    assert set(kinds) == {torch.bfloat16}
    assert len(kinds) == 2 * 6
    assert value.dtype == torch.float32
    found = gradients(model)
    model.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        matrices = [torch.cat([model(chunk) for chunk in group]) for group in groups]
    contrast(*matrices).backward()
    for one, other in zip(found, gradients(model), strict=True):
        assert other.abs().max() > 0.01
        assert torch.allclose(one, other, rtol=0, atol=0.01 * other.abs().max().item())


def test_any_loss_and_its_own_parameters() -> None:
    """Landmarks averaged to documents, under a temperature that is learned: both get gradients."""
    owner = torch.tensor([0, 0, 1, 2, 2, 2, 3, 3])
    same = torch.eye(4, dtype=torch.bool)
    found = []
    for cached in (True, False):
        model, heat = network(), torch.nn.Parameter(torch.tensor(0.3))

        def loss(queries: object, landmarks: object, heat: object = heat) -> object:
            scores = similarities(queries, means_of(landmarks, owner, 4))
            return any_against_negatives(scores, same, ~same, heat)

        groups = [inputs(1, 4).split(3), inputs(2, 8).split(3)]
        if cached:
            cached_backward(model, groups, loss)
        else:
            in_one_graph(model, groups, loss)
        found.append([*gradients(model), heat.grad])
    for one, other in zip(*found, strict=True):
        assert other.any()
        assert torch.allclose(one, other, rtol=0, atol=1e-6)


def test_a_group_that_the_loss_ignores_is_not_encoded_again() -> None:
    """Chunks of any kind go in; where no gradient comes back, the second pass is spared."""
    model, seen = network(), []

    def encode(chunk: dict) -> object:
        seen.append(chunk["name"])
        return model(chunk["rows"])

    groups = [[{"name": n, "rows": inputs(k, 3)}] for k, n in enumerate("ab")]
    cached_backward(encode, groups, lambda a, b: a.square().mean())
    assert seen == ["a", "b", "a"]


class Saved:
    """A tensor that a graph holds on to."""

    def __init__(self, tensor: object) -> None:
        self.tensor = tensor


def most_held(rows: int, chunk: int, *, cached: bool) -> int:
    """The most numbers that encoder graphs keep for their backward pass at any one time."""
    model, now, most = network(dropout=0.1), [0], [0]

    def release(size: int) -> None:
        now[0] -= size

    def pack(tensor: object) -> Saved:
        held = Saved(tensor)
        now[0] += tensor.numel()
        most[0] = max(most[0], now[0])
        weakref.finalize(held, release, tensor.numel())
        return held

    def encode(part: object) -> object:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda held: held.tensor):
            return model(part)

    groups = [inputs(1, rows).split(chunk), inputs(2, rows).split(chunk)]
    if cached:
        cached_backward(encode, groups, contrast)
    else:
        contrast(*(torch.cat([encode(part) for part in group]) for group in groups)).backward()
    assert now[0] == 0  # nothing is left behind
    return most[0]


def test_memory_does_not_grow_with_the_batch() -> None:
    """Eight times the batch: the same activations are held; in one graph, far more."""
    small, large = most_held(16, 8, cached=True), most_held(128, 8, cached=True)
    assert 0 < large == small
    assert most_held(128, 8, cached=False) > 7 * large
