"""Untrained baselines in place of a model that reads texts and questions.

    for control in control_readers():
        control.name                                     # random, nonsense, hierarchical
        control.encode("A text. Of two sentences.")      # landmarks, as milepost.Encoder gives them
        control.encode_query("Of how many sentences?")

A row of a table that stands on one is called ``NAME@random`` and so on. What it reaches there is
overlap of words, length and place, not understanding (MonoByte, arXiv 2209.11035).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from milepost.errors import BadQuestion
from milepost.text import split
from milepost.types import Document, Landmarks, Span
from milepost.windows.document_vector import document_vector, unit
from milepost_lab import pooling
from milepost_lab.controls.encoders import ControlEncoder, control_encoder
from milepost_lab.controls.kinds import KINDS, Kind
from milepost_lab.model.bytes.tokenizer import as_bytes


class ControlReader:
    """A control that reads as ``milepost.Encoder`` does.

    A sentence's vector is the mean of the states of its bytes, each in its window. The state of the
    last byte, where a model's landmark stands, finds less: the mean is the harder control.

    Args:
        kind: see ``lab.controls``.

    Attributes:
        name: the kind.
    """

    def __init__(self, kind: Kind) -> None:
        self.name: str = kind
        self._kind = kind

    @cached_property
    def _encoder(self) -> ControlEncoder:
        """Made when there is something to read: pre-training takes some ten seconds."""
        return control_encoder(self._kind)

    @property
    def parameters(self) -> int:
        """Numbers that it reads by."""
        return self._encoder.parameters

    def encode(self, text: str | Document, *, spans: Sequence[Span] | None = None) -> Landmarks:
        """Read a text of any length; sentences are those of every model, and none is cut.

        Args:
            text: a string, or a document (whose known document_offsets are then respected).
            spans: what is to have a vector in the place of each sentence, ascending and apart,
                none of them empty. The whole text is read all the same.

        Returns:
            One vector a sentence; a token is a byte of UTF-8.

        Raises:
            InputError: the text holds half a character.
        """
        blocks = text.blocks if isinstance(text, Document) else ()
        words = text.text if isinstance(text, Document) else text
        spans = split(words, blocks) if spans is None else spans
        vectors = np.zeros((0, self._encoder.width), np.float32)
        size = 0
        if spans:
            states, lengths, _ = self._encoder.states([words])
            size = int(lengths[0])
            document_offsets = [0, *(border for span in spans for border in span)]
            # Lengths in bytes of what lies between spans, and of the spans, by turns.
            counts = [len(as_bytes(words[a:b])) for a, b in pairwise(document_offsets)]
            own = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
            means = pooling.get("mean")(states[: len(own)][own], counts[1::2])
            vectors = unit(means)
        return Landmarks(
            vectors=vectors,
            spans=np.array(spans, np.int64).reshape(-1, 2),
            document=document_vector(vectors),
            tokens_given=size,
            tokens_read=size,
            vocab_coverage=np.ones(len(spans), np.float32),
        )

    def encode_query(self, question: str) -> NDArray[np.float32]:
        """The vector of a question, ``(d,)`` float32, unit length: one sentence, whatever it holds.

        Raises:
            BadQuestion: the question is empty.
        """
        words = question.strip()
        if not words:
            raise BadQuestion("the question is empty", "ask in words")
        vector: NDArray[np.float32] = self.encode(words, spans=[(0, len(words))]).vectors[0]
        return vector


def control_readers(wanted: bool = True) -> tuple[ControlReader, ...]:
    """Every control, pre-trained when it first reads; none where none is wanted."""
    return tuple(ControlReader(kind) for kind in KINDS) if wanted else ()
