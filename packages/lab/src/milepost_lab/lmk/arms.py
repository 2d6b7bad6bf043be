"""Document poolings as one rule: the tokens of a row, and the positions whose states are averaged.

    content         11 12 13 14 15 16 17                  opening 1, closing 2
    cls, mean, last     1 11 12 13 14 15 16 17 2          averaged: 0 | all | 8
    lmk, g = 3          1 11 12 13 2 14 15 16 2 17 2      averaged: 4, 8, 10
    every, g = 3        1 11 12 13 14 15 16 17 2          averaged: 3, 6
    multi-cls, g = 3    1 11 12 13 1 14 15 16 1 17 2      averaged: 0, 4, 8

So the poolings of arXiv 2601.21525 differ only in their ``Row``, and ``lmk.pool`` serves all of
them. ``every`` and ``multi-cls`` are controls of LMK: samples without the extra tokens, and as many
extra tokens in front of each piece. Content is cut before rows are made, so that all poolings read
the same tokens of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal, get_args

from milepost_train.model.lmk import Row, chunks, insert

Pooling = Literal["lmk", "mean", "cls", "every", "multi-cls", "last"]
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


def pooled_row(
    content: Sequence[int], pooling: Pooling, *, opening: int, closing: int, granularity: int
) -> Row:
    """Make the row that the network reads; its ``landmarks`` are the averaged positions.

    Args:
        content: token ids without special tokens.
        pooling: see the module.
        opening: id of the first token, ``[CLS]``.
        closing: id of the last token, ``[SEP]``, which is also the landmark.
        granularity: tokens per piece, for ``lmk``, ``every`` and ``multi-cls``.
    """
    if pooling == "lmk":
        limit = 2 + 2 * len(content)
        cut = chunks(content, granularity)
        return insert(cut, bos_ids=(opening,), landmark=closing, limit=limit)
    if pooling == "multi-cls":
        pieces = chunks(content, granularity) or [()]
        ids = list(chain.from_iterable((opening, *piece) for piece in pieces))
        size = granularity + 1
        return Row([*ids, closing], [number * size for number in range(len(pieces))])
    ids = [opening, *content, closing]
    if pooling == "every":
        samples = list(range(granularity, len(content) + 1, granularity))
        return Row(ids, samples or [len(content)])  # a short text has its last token
    if pooling == "mean":
        return Row(ids, list(range(len(ids))))
    return Row(ids, [0 if pooling == "cls" else len(ids) - 1])
