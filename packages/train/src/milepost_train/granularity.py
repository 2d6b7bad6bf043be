"""The spacing of landmarks, drawn for each text: sentences or ``g`` tokens (LMK pooling).

One forward pass serves both objectives. Every landmark counts for its document's vector; those of
texts read in sentences are sentence vectors too, and ``Drawn.of_sentences`` says which these are.
A text is read in chunks of ``g`` tokens so that the document's vector does not hang on one way of
cutting it (arXiv 2601.21525). Chunks are cut over the whole text: one of ``n`` tokens has
``ceil(n / g)`` of them, in whatever windows it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.engine.manifest import SENTENCES, Granularity
from milepost_train.batches import Batch, Piece, assemble
from milepost_train.data import Text
from milepost_train.losses import means_of
from milepost_train.model.lmk import chunks


def units_of(text: Text, granularity: Granularity) -> list[NDArray[np.int32]]:
    """What each landmark of a text closes: sentences, or ``g`` tokens and in the end the rest.

    A text without tokens has one landmark.
    """
    if granularity == SENTENCES:
        return [text.sentence(n) for n in range(len(text.spans))]
    parts = chunks(text.ids.tolist(), int(granularity)) or [[]]
    return [np.array(part, np.int32) for part in parts]


def windows_in(number: int, units: Sequence[NDArray[np.int32]], size: int) -> list[Piece]:
    """A text's units in windows that hold whole ones, without halo.

    Args:
        number: of the text.
        units: see ``units_of``.
        size: maximum tokens of a window, BOS token and landmarks included; a unit that does not
            fit has a longer window for itself.

    Returns:
        The text's number, first and last unit (exclusive) of each window.
    """
    pieces: list[Piece] = []
    first, room = 0, size - 1
    for place, unit in enumerate(units):
        if len(unit) + 1 > room and place > first:
            pieces.append((number, first, place))
            first, room = place, size - 1
        room -= len(unit) + 1
    return [*pieces, (number, first, len(units))]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Windows whose texts are cut as drawn.

    Attributes:
        batch: the windows. ``batch.owners[:, 1]`` is the number of a landmark's unit in its text:
            a sentence where ``of_sentences``, else a chunk.
        of_sentences: ``(n,)`` bool: landmarks that close one sentence.
    """

    batch: Batch
    of_sentences: NDArray[np.bool_]


def drawn_windows(
    pieces: Sequence[Piece],
    texts: Sequence[Text],
    granularities: Sequence[Granularity],
    bos_id: int | None,
    landmark: int,
) -> Drawn:
    """Each piece as one window, its landmarks at the granularity of its text.

    Args:
        pieces: text, first and last unit of each window, see ``windows_in``.
        texts: the texts.
        granularities: one for each text.
        bos_id: of the BOS token; None where the model has none.
        landmark: id of the landmark token.
    """
    read = {number for number, _, _ in pieces}
    units = {number: units_of(texts[number], granularities[number]) for number in read}
    rows = [units[number][first:last] for number, first, last in pieces]
    owners = [(number, place) for number, first, last in pieces for place in range(first, last)]
    of_sentences = np.array([granularities[number] == SENTENCES for number, _ in owners], bool)
    return Drawn(assemble(rows, owners, bos_id, landmark), of_sentences)


def document_vectors(
    landmarks: Tensor, owners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Tensor]:
    """The texts of a batch, ascending, and one unit vector each, ``(texts, d)``.

    The mean goes over unit landmarks, as in Milepost's index; the paper averages the states as
    they come out of the network. ``LmkSettings.unit_landmarks`` tells a reader which it is.

    Args:
        landmarks: ``(n, d)`` unit vectors in the order of ``owners``, over all windows of a text.
        owners: ``Batch.owners``.
    """
    texts, place = np.unique(owners[:, 0], return_inverse=True)
    owner = torch.from_numpy(place.astype(np.int64)).to(landmarks.device)
    return texts, means_of(landmarks, owner, len(texts))
