"""How far apart landmarks stand, drawn for each text: sentences or ``g`` tokens (LMK pooling).

One forward pass serves both objectives. Every landmark counts for its document's vector; those of
texts read in sentences are sentence vectors too, and ``Drawn.of_sentences`` says which these are.
A text is read in pieces of ``g`` tokens so that the document's vector does not hang on one way of
cutting it (arXiv 2601.21525).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.model.lmk import chunks
from milepost.model.lmk_model import SENTENCES, Granularity
from milepost.train.batches import Batch, Piece, assemble
from milepost.train.data import Text
from milepost.train.losses import means_of


@dataclass(frozen=True, slots=True)
class Granularities:
    """What training draws from and what evaluation uses.

    Attributes:
        choices: drawn from with equal chance; ``"sentences"`` may be among them, more than once
            to weigh more.
        evaluation: the fixed one.
    """

    choices: tuple[Granularity, ...] = (32, 64, 128, 256)
    evaluation: Granularity = 32

    def __post_init__(self) -> None:
        if not self.choices:
            raise ValueError("no granularity to draw from")
        for each in (*self.choices, self.evaluation):
            if each != SENTENCES and (isinstance(each, bool | str) or each < 1):
                raise ValueError(f"{each!r} is no granularity")

    def draw(self, random: Random, texts: int) -> list[Granularity]:
        """One for each of ``texts`` texts; a text keeps it for all its windows."""
        return random.choices(self.choices, k=texts)


def worker_random(seed: int, worker: int) -> Random:
    """The generator of one worker: its own sequence, the same in every run of ``seed``."""
    return Random(f"{seed}/{worker}")


@dataclass(frozen=True, slots=True)
class Drawn:
    """Windows whose texts are cut as drawn.

    Attributes:
        batch: the windows. ``batch.owners[:, 1]`` is the sentence of a landmark where
            ``of_sentences``, else the number of its piece within the window.
        of_sentences: ``(n,)`` bool: landmarks that close one sentence.
    """

    batch: Batch
    of_sentences: NDArray[np.bool_]


def drawn_windows(
    pieces: Sequence[Piece],
    texts: Sequence[Text],
    granularities: Sequence[Granularity],
    opening: int | None,
    landmark: int,
) -> Drawn:
    """Each piece as one window, its landmarks at the granularity of its text.

    Args:
        pieces: text, first and last sentence of each window.
        texts: the texts.
        granularities: one for each text.
        opening: id of the token that opens a window; None where the model has none.
        landmark: id of the landmark token.
    """
    rows: list[list[NDArray[np.int32]]] = []
    owners: list[tuple[int, int]] = []
    of_sentences: list[bool] = []
    for number, first, last in pieces:
        text, granularity = texts[number], granularities[number]
        whole = granularity == SENTENCES
        if whole:
            row = [text.sentence(n) for n in range(first, last)]
        else:
            flat = text.ids[text.starts[first] : text.starts[last]].tolist()
            row = [np.array(part, np.int32) for part in chunks(flat, int(granularity))]
        begin = first if whole else 0
        rows.append(row)
        owners.extend((number, begin + n) for n in range(len(row)))
        of_sentences.extend([whole] * len(row))
    return Drawn(assemble(rows, owners, opening, landmark), np.array(of_sentences, bool))


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
