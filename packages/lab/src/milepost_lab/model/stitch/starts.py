"""Initialization of the stitches of a pool, before any descendant is trained.

``random`` keeps the random weights. ``transpose`` (as in the paper) and ``pinv`` map the narrow
states back to the ancestor's by the maps of the distillation, then on to the wide ones.
``least_squares`` fits the activations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from milepost.errors import InputError, nearest
from milepost_lab.model.stitch.affine import Affine, identity, least_squares, mean
from milepost_lab.model.stitch.pool import EncoderPool
from milepost_train.model.bert import embed

Start = Literal["random", "transpose", "pinv", "least_squares"]
STARTS: tuple[Start, ...] = get_args(Start)

Windows = Sequence[tuple[Tensor, Tensor]]
"""Token ids ``(b, t)`` int64, and ``(b, t)`` bool, False for padding."""


@contextmanager
def recorded(blocks: Sequence[nn.Module]) -> Iterator[list[Tensor]]:
    """Record the outputs of blocks within the context, in the order in which they run."""
    found: list[Tensor] = []

    def keep(_module: nn.Module, _given: Any, output: Tensor) -> None:
        found.append(output)

    hooks = [block.register_forward_hook(keep) for block in blocks]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def from_distillation(
    pool: EncoderPool,
    kind: Literal["transpose", "pinv"],
    narrow: Sequence[Affine],
    wide: Sequence[Affine] | None = None,
) -> None:
    """Set the stitches from the maps of the distillation.

    A stitch inverts the mean of the maps of its narrow depths, and applies the mean of the maps of
    its wide depths.

    Args:
        pool: changed in place.
        kind: how a map is inverted.
        narrow: for each block, the map from the ancestor's matched states to its output.
        wide: the same for the wide blocks; None if they share the ancestor's space.

    Raises:
        InputError: there is not one map for each block.
    """
    if len(narrow) != pool.depth or (wide is not None and len(wide) != pool.depth):
        raise InputError(f"{len(narrow)} maps for {pool.depth} blocks", "one for each block")
    for number, stitch in enumerate(pool.stitches):
        served = [path for path in pool.paths if path.narrow and path.stitch == number]
        down = mean([narrow[path.narrow - 1] for path in served])
        # The input of wide block k is the output of block k - 1; the first reads the embeddings,
        # which have no map: the map of its own block is the nearest.
        up = (
            identity(pool.wide.width)
            if wide is None
            else mean([wide[max(0, path.first - 1)] for path in served])
        )
        back = down.transposed() if kind == "transpose" else down.inverted()
        back.then(up).write(stitch)


@torch.no_grad()
def from_activations(pool: EncoderPool, windows: Windows, pull: float = 1e-4) -> None:
    """Set the stitches by least squares, jointly over all paths that share one.

    They map the output of narrow block j to the input of wide block k in the wide auxiliary alone
    (the embeddings for k = 0), over all tokens.

    Args:
        pool: changed in place.
        windows: real text.
        pull: ridge, see ``affine.least_squares``.
    """
    leaves: list[list[Tensor]] = [[] for _ in range(pool.depth)]
    enters: list[list[Tensor]] = [[] for _ in range(pool.depth)]
    for ids, valid in windows:
        allowed = valid[:, None, None, :]
        states = embed(pool.narrow.embeddings, ids)
        for held, layer in zip(leaves, pool.narrow.layers, strict=True):
            states = layer(states, allowed)
            held.append(states[valid])
        states = embed(pool.wide.embeddings, ids)
        for held, layer in zip(enters, pool.wide.layers, strict=True):
            held.append(states[valid])
            states = layer(states, allowed)
    start, end = ([torch.cat(held) for held in kind] for kind in (leaves, enters))
    for number, stitch in enumerate(pool.stitches):
        served = [path for path in pool.paths if path.narrow and path.stitch == number]
        x = torch.cat([start[path.narrow - 1] for path in served])
        y = torch.cat([end[path.first] for path in served])
        least_squares(x, y, pull).write(stitch)


def begin(
    pool: EncoderPool,
    kind: str,
    *,
    narrow: Sequence[Affine] = (),
    wide: Sequence[Affine] | None = None,
    windows: Windows = (),
) -> None:
    """Set the stitches in one of the ``STARTS``; unneeded arguments may be left out.

    Raises:
        InputError: an unknown start, or a missing argument.
    """
    if kind in ("transpose", "pinv"):
        from_distillation(pool, "transpose" if kind == "transpose" else "pinv", narrow, wide)
    elif kind == "least_squares":
        if not windows:
            raise InputError("least squares without activations", "give some windows of text")
        from_activations(pool, windows)
    elif kind != "random":
        hint = f"{nearest(kind, STARTS)}one of {', '.join(STARTS)}"
        raise InputError(f"unknown start {kind!r}", hint)
