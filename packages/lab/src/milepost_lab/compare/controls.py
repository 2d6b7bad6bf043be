"""Untrained baselines: a score that a pooling reaches on these is not due to meaning.

    random         the requested network with random weights
    nonsense       a small byte encoder pre-trained on words without meaning
    hierarchical   the same, pre-trained on nested brackets

The last two follow MonoByte (arXiv 2209.11035, ``lab/controls``). They read the words that the
tokenizer decodes from token ids, so an uncased tokenizer gives them a text without capitals.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from milepost_lab.compare.reading import Progress, Text, TokenReader
from milepost_lab.compare.states import States, kept
from milepost_lab.controls.encoders import ControlEncoder, control_encoder
from milepost_lab.controls.kinds import KINDS, Kind

CONTROLS: dict[str, Kind] = {kind: kind for kind in KINDS}
"""Every table has a row of the mean over each."""

_TOGETHER = 16  # texts read between two reports of progress


class Reader(Protocol):
    """Texts to states, as ``TokenReader`` gives them."""

    def states(self, texts: Sequence[Text], progress: Progress | None = None) -> States:
        """States of texts."""


class ByteReader:
    """A byte encoder that reads token ids as the words they stand for.

    Args:
        kind: of ``lab.controls.control_encoder``.
        beside: the reader whose tokenizer made the ids, and whose folder keeps states.
    """

    def __init__(self, kind: Kind, beside: TokenReader) -> None:
        self._kind, self._words, self._cache = kind, beside.words, beside.cache
        self._identity = f"bytes {kind} {beside.identity} 1"

    @cached_property
    def _encoder(self) -> ControlEncoder:
        """Made when there is something to read: pre-training takes a minute."""
        return control_encoder(self._kind)

    def states(self, texts: Sequence[Text], progress: Progress | None = None) -> States:
        """A state a byte; the last of a sentence stands for its landmark, of one layer.

        Args:
            texts: token ids of each sentence.
            progress: told how far it is.
        """
        return kept(self._cache, self._identity, texts, lambda: self._read(texts, progress))

    def _read(self, texts: Sequence[Text], progress: Progress | None) -> States:
        parts: list[tuple[np.ndarray, ...]] = []
        for at in range(0, len(texts), _TOGETHER):
            some = [self._words.text(text) or " " for text in texts[at : at + _TOGETHER]]
            parts.append(self._encoder.states(some))
            if progress is not None:
                progress(at + len(some), len(texts))
        states, lengths, segments = (np.concatenate(each) for each in zip(*parts, strict=True))
        tokens = states.astype(np.float16)
        ends = np.cumsum(segments)
        per_text = np.diff(np.searchsorted(ends, np.cumsum(lengths)) + 1, prepend=0)
        return States(tokens, tokens[ends - 1][:, None], lengths, segments, per_text)


def control(name: str, reader: TokenReader) -> Reader:
    """One of ``CONTROLS`` beside a reader."""
    return reader.random() if name == "random" else ByteReader(CONTROLS[name], reader)
