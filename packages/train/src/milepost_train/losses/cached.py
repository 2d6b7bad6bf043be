"""Gradient cache: contrast over thousands of texts in the memory of a few (arXiv 2101.06983)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

Chunk = TypeVar("Chunk")


@dataclass(frozen=True, slots=True)
class _Randomness:
    """State of torch's generators, so that dropout falls the same way twice."""

    cpu: Tensor
    cuda: tuple[Tensor, ...]

    @classmethod
    def now(cls) -> _Randomness:
        # Asking would initialise CUDA in a process that never meant to use it.
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        return cls(torch.get_rng_state(), tuple(cuda))

    def restore(self) -> None:
        torch.set_rng_state(self.cpu)
        if self.cuda:
            torch.cuda.set_rng_state_all(list(self.cuda))


def cached_backward(
    encode: Callable[[Chunk], Tensor],
    groups: Sequence[Sequence[Chunk]],
    loss: Callable[..., Tensor],
) -> Tensor:
    """Gradients of one big batch, with the activations of one chunk in memory at a time.

    1. Every chunk is encoded without a graph; what remains is its vectors.
    2. ``loss`` of the full matrices ``V`` gives the cache, ``G = dloss/dV``.
    3. Every chunk is encoded again, now with a graph, under the random numbers of its first time;
       its part of ``G`` is sent back through it: ``dloss/dw = sum over chunks of G_c dV_c/dw``.

    Gradients are added to ``.grad`` as by ``backward``; parameters of ``loss`` itself (a learned
    temperature) get theirs in step 2. Twice the forward passes, and memory does not grow with the
    batch but for vectors and scores. Random numbers go on afterwards as after one pass. Inside an
    autocast region both passes run under it, and the loss and all backward passes outside it.

    Args:
        encode: vectors ``(rows, d)`` of a chunk; depends on the chunk, on parameters and on torch's
            random numbers, on nothing else. What it counts on the way it counts twice.
        groups: chunks of each matrix of the loss, for instance of queries and of documents.
        loss: of one matrix ``(n_k, d)`` per group, in their order.

    Returns:
        The loss, without a graph.
    """
    first: list[list[Tensor]] = []
    states: list[list[_Randomness]] = []
    with torch.no_grad():
        for group in groups:
            first.append([])
            states.append([])
            for chunk in group:
                states[-1].append(_Randomness.now())
                first[-1].append(encode(chunk))
    # Older torch keeps what autocast has cast here, without a graph, and would use it again.
    torch.clear_autocast_cache()
    sizes = [[len(rows) for rows in matrix] for matrix in first]
    leaves = [torch.cat(matrix).requires_grad_() for matrix in first]
    del first
    with _outside_autocast(leaves):
        value = loss(*leaves)
        value.backward()
    value = value.detach()
    afterwards = _Randomness.now()
    for group, leaf, lengths, begun in zip(groups, leaves, sizes, states, strict=True):
        if leaf.grad is None:  # the loss does not look at this group
            continue
        for chunk, state, part in zip(group, begun, leaf.grad.split(lengths), strict=True):
            state.restore()
            again = encode(chunk)
            with _outside_autocast([again]):
                again.backward(part)
    afterwards.restore()
    return value


def _outside_autocast(tensors: Sequence[Tensor]) -> ExitStack:
    """A region without autocast on the devices of ``tensors``: its backward passes belong there."""
    region = ExitStack()
    for kind in {tensor.device.type for tensor in tensors}:
        region.enter_context(torch.autocast(kind, enabled=False))
    return region
