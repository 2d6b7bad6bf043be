"""Texts with labels, as JSON lines, and their vectors.

    {"text": "…", "label": "physics", "source": "textbook"}

Either every line has a ``label`` or none has, and the same holds for ``source``; both are strings
or whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError
from milepost_eval.tasks.reading import Line, lines

if TYPE_CHECKING:
    from milepost.types import Reader

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts in their file's order; labels and sources are empty if no line has one."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of texts by one model.

    Attributes:
        vectors: ``(n, d)`` float32, of texts or of their landmarks.
        texts: ``(n,)`` int64: number of each vector's text.
        lengths: ``(n,)`` int64: tokens of each vector's text.
        spans: ``(n, 2)`` int64: the part of its text that each represents, in code points.
    """

    vectors: NDArray[np.float32]
    texts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    spans: NDArray[np.int64]


def read_texts(path: Path) -> Texts:
    """Read a file of JSON lines, gzipped or not.

    Raises:
        UnreadableFile: the file is missing or damaged.
        InputError: a line cannot be used, or there are none.
    """
    found = list(lines(path))
    if not found:
        raise InputError(f"{path}: no texts", 'lines such as {"text": "…", "label": "…"}')
    for line in found:
        if not line.text("text").strip():
            raise line.wrong("the text is empty", "the file without this line")
    return Texts(
        tuple(line.text("text") for line in found),
        _all_or_none(found, "label"),
        _all_or_none(found, "source"),
    )


def _all_or_none(found: Sequence[Line], key: str) -> tuple[str, ...]:
    if not any(key in line.fields for line in found):
        return ()
    return tuple(line.name(key) for line in found)


def encode(
    encoder: Reader,
    texts: Sequence[str],
    *,
    landmarks: bool = False,
    progress: Progress = lambda *_: None,
) -> Vectors:
    """Encode texts: one vector for each, or one for each of its landmarks."""
    rows, owners, lengths, spans = [], [], [], []
    for number, text in enumerate(texts):
        progress("reading", number, len(texts))
        read = encoder.encode(text)
        own = read.vectors if landmarks else read.document[None]
        rows.append(own)
        owners += [number] * len(own)
        lengths += [read.tokens_given] * len(own)
        spans.append(read.spans if landmarks else np.array([[0, len(text)]], np.int64))
    return Vectors(
        np.concatenate(rows),
        np.array(owners, np.int64),
        np.array(lengths, np.int64),
        np.concatenate(spans),
    )
