"""Blocks that mix neighbours, with halvings of the length between them.

This is the search space of *Balanced Mixture of SuperNets for Learning the CNN Pooling
Architecture* (arXiv 2306.11982) for text: ``placement = (a, b, c)`` means a blocks at full length,
b at half, c at a quarter, and ``join`` is the operation on a pair. ``milepost_lab.supernet``
searches both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost_lab.pooling.neighbours import pairs, rms_scaled, shifted
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import maxima, means, softmax, sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights


JOINS = ("mean", "max", "attention")
"""Operations that join a pair."""


def checked_placement(placement: tuple[int, ...]) -> tuple[int, ...]:
    """Return the placement if it is valid.

    Raises:
        InputError: it is empty, or a level has no block.
    """
    if not placement or any(type(blocks) is not int or blocks < 1 for blocks in placement):
        raise InputError(
            f"hierarchy: placement is {placement}",
            "give the number of blocks at each level, each at least 1, as in (2, 1, 1)",
        )
    return placement


def joins(join: str | tuple[str, ...], placement: tuple[int, ...]) -> tuple[str, ...]:
    """List the join of each halving.

    >>> joins("mean", (2, 1, 1))
    ('mean', 'mean')

    Raises:
        InputError: the number of joins is not that of halvings.
    """
    halvings = len(placement) - 1
    each = (join,) * halvings if isinstance(join, str) else join
    if len(each) != halvings:
        raise InputError(
            f"hierarchy: {len(each)} joins for {halvings} halvings",
            "give one join for all of them, or as many as the placement has levels, less one",
        )
    return each


def mixed(
    states: NDArray[np.float64], lengths: NDArray[np.int64], weights: Weights, block: int
) -> NDArray[np.float64]:
    """``x + silu(h W_in + b) W_out``, ``h`` a kernel of width 3 over the scaled states.

    States beyond the ends of a text count as zero, whatever the other texts of the batch.
    """
    import numpy as np

    scaled = rms_scaled(states)
    near = sum(
        shifted(scaled, lengths, place - 1) * weights["kernel"][block, place] for place in range(3)
    )
    inner = near @ weights["inward"][block] + weights["bias"][block]
    inner = inner * (1 + np.tanh(inner / 2)) / 2  # silu, without overflow
    result: NDArray[np.float64] = states + inner @ weights["outward"][block]
    return result


def halved(
    states: NDArray[np.float64],
    lengths: NDArray[np.int64],
    join: str,
    score: NDArray[np.floating] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Join pairs of states; the last state of a text of odd length stays as it is.

    Args:
        states: ``(tokens, d)``.
        lengths: ``(texts,)``.
        join: one of ``JOINS``.
        score: ``(d,)``, for ``attention``: a pair's weights are the softmax of the products of its
            scaled states with this. 0 and None give a mean.

    Returns:
        States and lengths, ``ceil(n/2)`` for each text: 7 tokens become 4, then 2, 1, 1.
    """
    sizes, left = pairs(lengths)
    if join == "attention" and score is not None:
        shares = softmax(rms_scaled(states) @ score, sizes)
        return sums(states * shares[:, None], sizes), left
    joined: Any = (maxima if join == "max" else means)(states, sizes)
    return joined, left


def hierarchy(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """Mean of the last level; initially a mean of means, since the blocks start at 0."""
    states, lengths = batch.states.astype("float64"), batch.lengths
    how = joins(settings["join"], settings["placement"])
    block = 0
    for level, blocks in enumerate(settings["placement"]):
        if level:
            score = weights["score"][level - 1] if "score" in weights else None
            states, lengths = halved(states, lengths, how[level - 1], score)
        for _ in range(blocks):
            states = mixed(states, lengths, weights, block)
            block += 1
    return means(states, lengths)


def _start(
    settings: Mapping[str, Any], width: int, _: int, rng: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    import numpy as np

    placement, channels = checked_placement(settings["placement"]), settings["channels"]
    blocks, how = sum(placement), joins(settings["join"], placement)
    kernel = 0.3 * rng.standard_normal((blocks, 3, width))
    kernel[:, 1] += 1  # initially a block mostly reads the position itself
    inward = rng.standard_normal((blocks, width, channels)) / np.sqrt(width)
    begun = {
        "kernel": kernel.astype(np.float32),
        "inward": inward.astype(np.float32),
        "bias": np.zeros((blocks, channels), np.float32),
        "outward": np.zeros((blocks, channels, width), np.float32),
    }
    if "attention" in how:
        begun["score"] = np.zeros((len(how), width), np.float32)
    return begun


OPERATORS = (
    Operator(
        "hierarchy",
        "blocks that mix neighbours, with halvings between them",
        paper="2306.11982",
        family="supernets",
        equation="z = mean of x_K, x_k = blocks_k(halve(x_{k-1}))",
        order="kept",
        compute=hierarchy,
        start=_start,
        parameters={
            "placement": Parameter((1, 1, 1), "Blocks at each level; a halving between levels."),
            "channels": Parameter(16, "Inner width of a block.", least=1),
            "join": Parameter(
                "mean",
                "How a halving joins a pair; one for all, or one for each halving.",
                choices=JOINS,
                several=True,
            ),
        },
    ),
)
