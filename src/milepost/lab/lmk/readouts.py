"""Four document poolings as one rule: which positions' last states are averaged.

    content       11 12 13 14 15 16 17                        opening 1, closing 2
    cls, mean, last   1 11 12 13 14 15 16 17 2                pooled: 0 | all | 8
    lmk, g = 3        1 11 12 13 2 14 15 16 2 17 2            pooled: 4, 8, 10

So the poolings of arXiv 2601.21525 differ in ``Row.landmarks`` alone, and ``lmk.pool`` serves all
of them. Content is cut before rows are made: each pooling reads the same tokens of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal, get_args

from milepost.model.lmk import Row, chunks, insert
from milepost.model.lmk_model import SENTENCES, Granularity

Pooling = Literal["lmk", "cls", "mean", "last"]
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


def pooled_row(
    sentences: Sequence[Sequence[int]],
    pooling: Pooling,
    *,
    opening: int,
    closing: int,
    granularity: Granularity = 32,
    most: int | None = None,
) -> Row:
    """One text as the network reads it; ``landmarks`` are the pooled positions.

    Args:
        sentences: token ids of each sentence, without special tokens.
        pooling: ``lmk`` puts the closing token behind every piece, the others at the end.
        opening: id of the token in front, ``[CLS]``.
        closing: id of the token behind, ``[SEP]``; the landmark token too.
        granularity: of ``lmk``.
        most: pooled positions of ``mean``, spread evenly; all if None. An estimate: in the last
            layer the cost of a state grows with the length. Of two novels' 16,384 tokens, 2,048
            states had a mean whose cosine with that of all was 0.9992 (all-MiniLM's layers).
    """
    content = list(chain.from_iterable(sentences))
    if pooling == "lmk":
        cut = sentences if granularity == SENTENCES else chunks(content, int(granularity))
        limit = 2 + 2 * len(content)
        return insert(cut, bos_ids=(opening,), landmark=closing, limit=limit)
    ids = [opening, *content, closing]
    if pooling == "cls":
        return Row(ids, [0])
    if pooling == "last":
        return Row(ids, [len(ids) - 1])
    count = min(len(ids), most or len(ids))
    return Row(ids, [(2 * n + 1) * len(ids) // (2 * count) for n in range(count)])
