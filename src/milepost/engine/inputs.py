"""Token ids of windows as the arrays that an engine reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.engine.tokenizer import Tokenizer

# The engine keeps buffers and kernels for every shape it has met. Lengths are rounded up to a
# multiple of this (a quarter of it for short ones), so that it meets few: memory stays flat.
_STEP = 32


@dataclass(frozen=True, slots=True)
class Inputs:
    """What ``Engine.run`` takes, and what of its answer is whose.

    Attributes:
        ids, sentences, marks: see ``Engine.run``.
        asked: places of ``marks`` that each window uses.
        owned: tokens that each window owns.
    """

    ids: NDArray[np.int32]
    sentences: NDArray[np.int32]
    marks: NDArray[np.int32]
    asked: list[int]
    owned: list[int]


def inputs_of(
    rows: Sequence[Sequence[Sequence[int]]],
    owned: Sequence[tuple[int, int]],
    tokenizer: Tokenizer,
    *,
    most: int,
    everywhere: bool = False,
) -> Inputs:
    """Fill the arrays of one batch.

    Args:
        rows: token ids of each sentence of each window, special tokens left out.
        owned: the sentences of each window whose landmarks are asked for, ``first … last - 1``.
        tokenizer: knows the special tokens.
        most: tokens that a window is padded to at most.
        everywhere: ask for all tokens of a sentence, not for its landmark.
    """
    import numpy as np

    longest = max(1 + sum(len(ids) + 1 for ids in row) for row in rows)
    longest = max(longest, min(_rounded(longest), most))
    tokens = np.full((len(rows), longest), tokenizer.landmark, np.int32)
    sentences = np.full((len(rows), longest), -1, np.int32)
    asked: list[list[int]] = [[] for _ in rows]
    counts = [0] * len(rows)
    for row, (window, (first, last)) in enumerate(zip(rows, owned, strict=True)):
        at = 0
        if tokenizer.bos_id is not None:
            tokens[row, 0], sentences[row, 0], at = tokenizer.bos_id, 0, 1
        for number, ids in enumerate(window):
            end = at + len(ids)
            tokens[row, at:end] = ids  # the landmark behind it is the fill value
            sentences[row, at : end + 1] = number + 1
            if first <= number < last:
                asked[row].extend(range(at, end) if everywhere else (end,))
                counts[row] += end - at
            at = end + 1
    marks = np.zeros((len(rows), _rounded(max(1, *map(len, asked)))), np.int32)
    for row, places in enumerate(asked):
        marks[row, : len(places)] = places
    return Inputs(tokens, sentences, marks, [len(places) for places in asked], counts)


def _rounded(length: int) -> int:
    """A length padded up to one of few: see ``_STEP``."""
    step = 1 if length == 1 else _STEP if length > 2 * _STEP else _STEP // 4
    return -(-length // step) * step
