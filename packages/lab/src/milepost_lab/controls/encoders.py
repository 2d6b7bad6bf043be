"""Untrained baselines: byte encoders without knowledge of language, for the last rows of a table.

    random          a byte encoder with random weights
    nonsense        the same, pre-trained on words without meaning
    hierarchical    the same, pre-trained on nested brackets

The score of a pooling on these is due to overlap of bytes, length and position, not to meaning. All
have the same recipe and size (MonoByte, arXiv 2209.11035).

    encoder = control_encoder("nonsense")
    states, lengths, segments = encoder.states(["A text. Of two sentences."])
    pooling.get("lmk")(states, lengths, segments=segments)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from milepost.errors import InputError, nearest
from milepost.text import split
from milepost_lab.controls.byte_training import ByteRecipe, pretrain
from milepost_lab.controls.corpora import brackets, nonsense
from milepost_lab.controls.kinds import KINDS, Kind, Pretrained
from milepost_lab.model.bytes.encoder import ByteModel, made, padded_ids
from milepost_lab.model.bytes.tokenizer import PAD, as_bytes, encode, windows

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOGETHER = 16  # windows read at a time


class ControlEncoder:
    """A frozen byte encoder.

    Args:
        name: as it stands in a table.
        model: its network.
        window: bytes of a window; windows do not see each other.
    """

    def __init__(self, name: str, model: ByteModel, window: int) -> None:
        self.name, self.window = name, window
        self.model = model.eval().requires_grad_(False)

    @property
    def width(self) -> int:
        """Width of the states."""
        width: int = self.model.width
        return width

    @property
    def parameters(self) -> int:
        """Numbers that are read by: the table of bytes and the encoder, without the decoder."""
        read = (*self.model.embedding.parameters(), *self.model.encoder.parameters())
        return sum(weight.numel() for weight in read)

    def states(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
        """States of texts, as ``milepost_lab.pooling`` reads them; a token is a byte of UTF-8.

        Args:
            texts: none of them empty; any length.

        Returns:
            States ``(bytes, d)`` of all texts one behind the other, lengths ``(texts,)``, and
            segments ``(sentences,)``: the bytes of each sentence, which tile the texts.

        Raises:
            InputError: a text is empty.
        """
        pieces: list[bytes] = []
        lengths: list[int] = []
        segments: list[int] = []
        for number, text in enumerate(texts):
            if not text:
                raise InputError(f"text {number} is empty: it has no states", "leave it out")
            data = as_bytes(text)
            pieces += windows(data, self.window)
            lengths.append(len(data))
            segments += [len(as_bytes(text[start:end])) for start, end in split(text)]
        return self._read(pieces), np.array(lengths, np.int64), np.array(segments, np.int64)

    def _read(self, pieces: Sequence[bytes]) -> NDArray[np.float32]:
        rows: list[NDArray[np.float32]] = [np.zeros((0, self.width), np.float32)]
        for place in range(0, len(pieces), _TOGETHER):
            ids = padded_ids([encode(piece, end=False) for piece in pieces[place:][:_TOGETHER]])
            with torch.no_grad():
                rows.append(self.model.states(ids)[ids != PAD].numpy())
        return np.concatenate(rows)


def text_of(kind: Pretrained, size: int, seed: int = 0) -> bytes:
    """At least ``size`` bytes of the text that a control is pre-trained on."""
    return nonsense(size, seed) if kind == "nonsense" else brackets(size, seed)


def control_model(
    kind: Kind, recipe: ByteRecipe, *, seed: int = 0, size: int = 60_000
) -> ByteModel:
    """The network of a control, which may be trained further; see ``control_encoder``."""
    if kind == "random":
        return made(recipe.shape, seed)
    return pretrain(text_of(kind, size, seed), recipe, seed)


def control_encoder(
    kind: Kind, *, seed: int = 0, recipe: ByteRecipe | None = None, size: int = 60_000
) -> ControlEncoder:
    """Make a control: ``random`` at once, the others by some seconds of training.

    Args:
        kind: see ``KINDS``.
        seed: of weights, text and training; the weights begun with are the same for every kind.
        recipe: of pre-training; its shape and its window are the encoder's.
        size: bytes of text to pre-train on.

    Raises:
        InputError: there is no such kind.
    """
    if kind not in KINDS:
        raise InputError(
            f"unknown control {kind!r}", f"{nearest(kind, KINDS)}one of {', '.join(KINDS)}"
        )
    recipe = recipe or ByteRecipe()
    return ControlEncoder(kind, control_model(kind, recipe, seed=seed, size=size), recipe.window)
