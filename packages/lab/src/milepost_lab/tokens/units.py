"""How a text is cut for a language model, and what it is scored on.

    words     at the borders of words (``milepost_lab.model.bytes.words``)
    bytes     not at all: every byte is read
    subwords  at the tokens of a vocabulary (``milepost_lab.tokens.subwords``)
    stride    every s bytes, s the mean length of a word: the same number of pieces
    random    pieces as long as words are, in another order: the same lengths at other places

The last two ask whether it is the border that helps, or only that there are fewer places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from milepost.errors import InputError
from milepost.text import read
from milepost_lab.controls.corpora import morphology
from milepost_lab.model.bytes.tokenizer import as_bytes
from milepost_lab.model.bytes.words import CAP, Word, split_words

Cut = Literal["words", "bytes", "subwords", "stride", "random"]

BUCKETS = ("unseen", "1-5", "6-50", "over 50")
"""Frequency of a word in the training text."""

_PART = 20_000  # characters of a part where a text has no chapters


@dataclass(frozen=True, slots=True)
class Corpus:
    """A text in documents, some of them held out.

    Attributes:
        name: for tables.
        train: documents to learn from.
        test: other documents.
        ceiling: the best possible share of right words, where it is known.
    """

    name: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    ceiling: float | None = None

    def counts(self) -> Counter[str]:
        """Frequency of each word in the training documents."""
        words = (word for text in self.train for word in split_words(text))
        return Counter(word.text for word in words if word.kind == "word")


@dataclass(frozen=True, slots=True)
class Window:
    """So many bytes of a document, beginning at a word.

    Attributes:
        data: its bytes.
        words: the pieces that tile it; ``first`` and ``last`` count from the window's beginning.
        document: its document's number.
    """

    data: bytes
    words: tuple[Word, ...]
    document: int


def generated(size: int, seed: int = 0) -> Corpus:
    """The generated morphology: a fifth of all pairs of stem and suffix occur in the test only."""
    made = morphology(size, seed)
    return Corpus("morphology", made.train, made.test, made.ceiling)


def from_file(file: Path, size: int) -> Corpus:
    """A document cut into chapters (or parts of 20,000 characters), every fifth of them held out.

    Args:
        file: any document that Milepost reads.
        size: characters of training text at most; the test has a fifth of it at most.

    Raises:
        UnreadableFile: the file is missing or no text.
        InputError: it is too short to hold a part out.
    """
    document = read(file)
    text = document.text
    chapters = [m.offset for m in document.marks if m.kind == "heading" and m.level == 1]
    parts = _between(text, chapters)
    if len(parts) < 5:
        parts = _between(text, range(0, len(text), _PART))
    if len(parts) < 2:
        raise InputError(f"{file} is too short for a held-out part", "a longer text")
    held_out = [part for number, part in enumerate(parts) if number % 5 == 1]
    kept = [part for number, part in enumerate(parts) if number % 5 != 1]
    return Corpus(file.stem, _up_to(kept, size), _up_to(held_out, size // 5))


def _between(text: str, borders: Iterable[int]) -> list[str]:
    """The pieces between borders that are not too short to count (tables of contents)."""
    cuts = sorted({0, len(text), *borders})
    pieces = [text[start:end] for start, end in pairwise(cuts)]
    return [piece for piece in pieces if len(piece) > _PART // 4]


def _up_to(parts: Sequence[str], size: int) -> tuple[str, ...]:
    """The beginning of every part, so that all of them have ``size`` characters together."""
    return tuple(part[: max(1, size // len(parts))] for part in parts)


def windows_of(texts: Sequence[str], size: int) -> list[Window]:
    """Divide documents into windows of at most ``size`` bytes, at borders of words."""
    found: list[Window] = []
    for document, text in enumerate(texts):
        held: list[Word] = []
        for word in split_words(text):
            if held and word.last - held[0].first > size:
                found.append(_window(held, document))
                held = []
            held.append(word)
        if held:
            found.append(_window(held, document))
    return found


def _window(words: Sequence[Word], document: int) -> Window:
    data = b"".join(as_bytes(word.text) for word in words)
    start, first = words[0].start, words[0].first
    moved = tuple(
        Word(w.text, w.start - start, w.end - start, w.first - first, w.last - first) for w in words
    )
    return Window(data, moved, document)


def mean_length(windows: Sequence[Window]) -> int:
    """Bytes of a word on average, a whole number: the stride."""
    words = sum(len(window.words) for window in windows)
    return min(CAP, max(1, round(sum(len(window.data) for window in windows) / words)))


def pieces(window: Window, cut: Cut, stride: int, rng: np.random.Generator) -> list[int]:
    """Lengths in bytes of what a window is cut into; they add up to it.

    Args:
        window: what is cut.
        cut: how; subwords are cut by their vocabulary, not here.
        stride: for ``stride``.
        rng: for ``random``.
    """
    size = len(window.data)
    if cut == "bytes":
        return [1] * size
    if cut == "stride":
        full, rest = divmod(size, stride)
        return [stride] * full + [rest] * (rest > 0)
    lengths = [word.last - word.first for word in window.words]
    if cut == "random":
        return [lengths[n] for n in rng.permutation(len(lengths))]
    return lengths


def bucket(count: int) -> str:
    """Which of ``BUCKETS`` a word belongs to that was seen ``count`` times."""
    for name, least in zip(reversed(BUCKETS), (51, 6, 1, 0), strict=True):
        if count >= least:
            return name
    raise InputError(f"a word cannot be seen {count} times")
