"""LMK pooling (Doshi et al., arXiv 2601.21525): insert landmarks, and pool them by their mean.

The content of a text is cut into pieces of ``g`` tokens or of one sentence, and a landmark closes
every piece, including a shorter last one. With BOS token 1, landmark 2 and ``g = 3``:

    content   11 12 13 14 15 16 17
    row       1 11 12 13 2 14 15 16 2 17 2        landmarks at 4, 8, 10

Landmarks are identified by position and padding by lengths. A separator in the text is content, so
neither can be mistaken for a landmark or hide one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

Pieces = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Row:
    """Token ids of one text, and the positions of its landmarks."""

    ids: list[int]
    landmarks: list[int]


@dataclass(frozen=True, slots=True)
class Padded:
    """Rows of one batch, padded on the right.

    Attributes:
        ids: ``(b, t)`` int64.
        mask: ``(b, t)`` bool, False for padding.
        landmarks: ``(b, t)`` bool, True at landmarks.
    """

    ids: NDArray[np.int64]
    mask: NDArray[np.bool_]
    landmarks: NDArray[np.bool_]


def chunks(content: Sequence[int], granularity: int) -> list[Sequence[int]]:
    """Cut content into pieces of ``granularity`` tokens; the last may be shorter.

    >>> chunks([11, 12, 13, 14], 3)
    [[11, 12, 13], [14]]
    """
    if granularity < 1:
        raise ValueError(f"a granularity is at least 1, not {granularity}")
    return [content[at : at + granularity] for at in range(0, len(content), granularity)]


def insert(
    pieces: Pieces,
    *,
    bos_ids: Sequence[int],
    landmark: int,
    limit: int,
) -> Row:
    """Build a row: opening tokens, then every piece followed by its landmark.

    Content is cut first, so that the last landmark fits and closes every token that is read.

    Args:
        pieces: token ids without special tokens; empty pieces are left out. Without pieces the row
            is ``bos_ids`` and one landmark.
        bos_ids: tokens that begin a row, ``[CLS]`` for most encoders.
        landmark: id of the landmark token.
        limit: maximum length of the row.
    """
    if limit < len(bos_ids) + 1:
        raise ValueError(f"a row of {limit} tokens has no room for a landmark")
    whole = list(_fitting([piece for piece in pieces if len(piece)], limit - len(bos_ids)))
    ids, landmarks = list(bos_ids), []
    for piece in whole or [()]:
        ids.extend(piece)
        landmarks.append(len(ids))
        ids.append(landmark)
    return Row(ids, landmarks)


def _fitting(pieces: Pieces, room: int) -> Iterator[Sequence[int]]:
    """Yield as much of the pieces as fits into ``room`` with a landmark after each."""
    for piece in pieces:
        if room < 2:
            return
        kept = piece[: room - 1]
        yield kept
        room -= len(kept) + 1


def pad(rows: Sequence[Row], padding: int) -> Padded:
    """Pad rows to one batch.

    Args:
        rows: results of ``insert``.
        padding: id of padding; any id works, because the masks do not depend on ids.
    """
    longest = max((len(row.ids) for row in rows), default=0)
    ids = np.full((len(rows), longest), padding, np.int64)
    mask = np.zeros((len(rows), longest), bool)
    landmarks = np.zeros((len(rows), longest), bool)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = row.ids
        mask[number, : len(row.ids)] = True
        landmarks[number, row.landmarks] = True
    return Padded(ids, mask, landmarks)


def pool(
    states: Tensor,
    mask: Tensor,
    landmarks: Tensor,
    *,
    normalized: bool = True,
    unit_landmarks: bool = False,
) -> Tensor:
    """Average the landmarks' states, ``(b, d)`` float32.

    A row without landmarks gives the mean of all its tokens.

    Args:
        states: ``(b, t, d)`` of the last layer, any floating type; sums are float32.
        mask: ``(b, t)`` bool, False for padding.
        landmarks: ``(b, t)`` bool.
        normalized: scale the mean to unit length, as in the paper.
        unit_landmarks: scale each landmark to unit length before the mean, as Milepost's own
            training and index do; the paper does not.
    """
    # States of padding are arbitrary and may be NaN, which a product with 0 would not remove.
    kept = states.float().masked_fill(~mask.bool().unsqueeze(-1), 0.0)
    if unit_landmarks:
        kept = F.normalize(kept, dim=-1)
    chosen = torch.where(landmarks.any(dim=1, keepdim=True), landmarks, mask).to(kept)
    mean = torch.einsum("btd,bt->bd", kept, chosen) / chosen.sum(dim=1, keepdim=True).clamp(min=1)
    return F.normalize(mean, dim=-1) if normalized else mean
