"""Landmarks on a grid: one after every N tokens of a text, and what they say of its sentences.

In LMK pooling (arXiv 2601.21525) a landmark does not close a sentence but N tokens, 32 for example.
The grid is laid over the whole text, and windows hold whole segments of it, so a text of ``t``
tokens has ``ceil(t / N)`` landmarks, in whatever windows it is read, and the last token of each
window's content is closed by one. So were texts read in training (``train/granularity.py``).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from milepost.windows.document_vector import document_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def segment_ends(tokens: int, every: int) -> list[int]:
    """Where landmarks stand: the number of tokens before each.

    Args:
        tokens: of the text, landmarks not counted; one without tokens has one landmark.
        every: tokens of a segment, at least 1; the last segment may be shorter.

    >>> segment_ends(70, 32)
    [32, 64, 70]
    """
    return [*range(every, tokens, every), tokens]


def segments(parts: Iterable[Sequence[int]], every: int, typecode: str = "i") -> list[array[int]]:
    """The same numbers, in order, cut after every so many instead of between the parts.

    Args:
        parts: one number a token (its id, or its place) for each sentence; at least one sentence.
        every: tokens of a segment, at least 1.
        typecode: of the arrays that are returned.
    """
    numbers = array(typecode, chain.from_iterable(parts))
    return [numbers[a:b] for a, b in pairwise([0, *segment_ends(len(numbers), every)])]


def sentence_vectors(
    landmarks: NDArray[np.float32], ends: Sequence[int], counts: Sequence[int]
) -> NDArray[np.float32]:
    """A vector a sentence: the mean of the landmarks whose segments overlap it, normalised.

    A landmark weighs as many tokens as its segment shares with the sentence. A sentence inside one
    segment has exactly that landmark, and so has one without tokens the landmark at its place. If
    each sentence is a segment, its vector is its landmark.

    Args:
        landmarks: ``(m, d)`` float32, unit length, m at least 1.
        ends: tokens before each landmark, ascending; see ``segment_ends``.
        counts: tokens of each sentence; together as many as ``ends[-1]``.

    Returns:
        ``(n, d)`` float32, unit length; zeros where landmarks cancel out.
    """
    import numpy as np

    borders = np.array([0, *ends], np.int64)
    stops = np.cumsum(np.asarray(counts, np.int64))
    starts = stops - np.asarray(counts, np.int64)
    most = len(landmarks) - 1
    firsts = np.minimum(np.searchsorted(borders[1:], starts, side="right"), most)
    lasts = np.maximum(firsts, np.searchsorted(borders[1:], stops, side="left"))
    vectors = landmarks[firsts]
    for number in np.flatnonzero(lasts > firsts).tolist():
        first, last = int(firsts[number]), int(lasts[number]) + 1
        inside = np.clip(borders[first : last + 1], starts[number], stops[number])
        shared = np.diff(inside).astype(np.float32)
        # The mean's length is lost in normalising, so it need not be divided by the tokens.
        vectors[number] = document_vector(landmarks[first:last] * shared[:, None])
    return vectors
