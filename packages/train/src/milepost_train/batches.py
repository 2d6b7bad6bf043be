"""Windows of training text as padded tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost_train.data import Text

Piece = tuple[int, int, int]  # text, first sentence, last sentence (exclusive)


@dataclass(frozen=True, slots=True)
class Batch:
    """Input of ``LandmarkEncoder`` and whose each landmark is.

    Attributes:
        ids, sentences: ``(b, t)`` int64.
        marks: ``(b, m)`` int64.
        used: ``(b, m)`` bool: the places of ``marks`` that hold a landmark; ``vectors[used]``
            has the order of ``owners``.
        owners: ``(n, 2)`` int64: text and sentence of each landmark.
    """

    ids: Tensor
    sentences: Tensor
    marks: Tensor
    used: Tensor
    owners: NDArray[np.int64]


def assemble(
    rows: Sequence[Sequence[NDArray[np.int32]]],
    owners: Sequence[tuple[int, int]],
    bos_id: int | None,
    landmark: int,
) -> Batch:
    """Pad rows of sentences: ``[CLS] s1 [LMK] s2 [LMK] …`` each.

    ``owners`` are text and sentence of every sentence of every row, in order.
    """
    begin = 0 if bos_id is None else 1
    longest = max(begin + sum(len(s) + 1 for s in row) for row in rows)
    most = max(len(row) for row in rows)
    ids = np.zeros((len(rows), longest), np.int64)
    sentences = np.full((len(rows), longest), -1, np.int64)
    marks = np.zeros((len(rows), most), np.int64)
    used = np.zeros((len(rows), most), bool)
    for number, row in enumerate(rows):
        if bos_id is not None:
            ids[number, 0], sentences[number, 0] = bos_id, 0
        at = begin
        for place, tokens in enumerate(row):
            end = at + len(tokens)
            ids[number, at:end] = tokens
            ids[number, end] = landmark
            sentences[number, at : end + 1] = place + 1
            marks[number, place], used[number, place] = end, True
            at = end + 1
    return Batch(
        ids=torch.from_numpy(ids),
        sentences=torch.from_numpy(sentences),
        marks=torch.from_numpy(marks),
        used=torch.from_numpy(used),
        owners=np.array(owners, np.int64).reshape(-1, 2),
    )


def windows_of(
    pieces: Sequence[Piece], texts: Sequence[Text], bos_id: int | None, landmark: int
) -> Batch:
    """The sentences of each piece as one window."""
    rows = [[texts[t].sentence(i) for i in range(a, b)] for t, a, b in pieces]
    owners = [(t, i) for t, a, b in pieces for i in range(a, b)]
    return assemble(rows, owners, bos_id, landmark)


def queries_of(questions: Sequence[NDArray[np.int32]], bos_id: int | None, landmark: int) -> Batch:
    """Each question as a window of one sentence: ``[CLS] question [LMK]``."""
    return assemble(
        [[ids] for ids in questions], [(n, 0) for n in range(len(questions))], bos_id, landmark
    )


def around(
    text: Text, number: int, sentence: int, size: int, random: Random, *, causal: bool = False
) -> Piece:
    """A window of about ``size`` tokens that holds ``sentence`` at a random place.

    A text that fits the window is read whole. A causal model does not see what follows: for it the
    sentence is the last of the window.
    """
    costs = text.lengths + 1
    room = size - 1 - int(costs[sentence])
    before = float(room) if causal else random.uniform(0, max(room, 0))
    first, last = sentence, sentence + 1
    while first > 0 and costs[first - 1] <= before:
        first -= 1
        before -= costs[first]
        room -= int(costs[first])
    while not causal and last < len(costs) and costs[last] <= room:
        room -= int(costs[last])
        last += 1
    while not causal and first > 0 and costs[first - 1] <= room:  # the text has ended
        first -= 1
        room -= int(costs[first])
    return number, first, last
