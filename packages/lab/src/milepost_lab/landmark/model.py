"""An encoder read in other windows, units and contexts, with the same weights (arXiv 2402.11573).

1. a window reads halo, own units, halo; each unit is closed by a landmark
2. the vector of a unit is the state of its landmark
3. front-k: a hit comes with the sentences in front of it; both-sides-k with those around it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from milepost.documents import split
from milepost.encoder import Encoder
from milepost.encoder.engine import ModelFolder
from milepost.encoder.windows import Window, WindowSize, plan
from milepost.errors import ModelError
from milepost.types import Document, Span

Sizes = tuple[int, int, int]
"""Tokens of a window, its left halo and its right halo."""
Way = Literal["front", "both-sides"]
WAYS: tuple[Way, ...] = ("front", "both-sides")
EXTRA = (0, 2, 4, 6)
"""Number of context sentences of a hit; even, so that both sides get the same number."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One document as a reader saw it.

    Attributes:
        spans: ``(n, 2)`` of its units.
        vectors: ``(n, d)`` float32.
        costs: tokens of each unit, its landmark included.
        windows: the units that each window reads and owns.
    """

    spans: NDArray[np.int64]
    vectors: NDArray[np.float32]
    costs: tuple[int, ...]
    windows: tuple[Window, ...]

    def touched(self, evidence: Sequence[Span]) -> NDArray[np.int64]:
        """Numbers of the units that share a character with an evidence span."""
        starts, ends = self.spans.T
        hit = [(starts < end) & (ends > start) for start, end in evidence]
        return np.flatnonzero(np.any(hit, 0)) if hit else np.zeros(0, np.int64)

    def edges(self) -> list[int | None]:
        """Tokens between each unit and the nearest edge of the window that owns it.

        The beginning and the end of the text are no edges. None for a window without one.
        """
        found: list[int | None] = []
        for window in self.windows:
            for number in range(window.own_first, window.own_last):
                sides = []
                if window.first > 0:
                    sides.append(sum(self.costs[window.first : number]))
                if window.last < len(self.costs):
                    sides.append(sum(self.costs[number + 1 : window.last]))
                found.append(min(sides, default=None))
        return found


class Reader(Encoder):
    """An encoder with other window sizes that reports its windows."""

    _costs: tuple[int, ...] = ()

    @classmethod
    def like(cls, encoder: Encoder, sizes: Sizes | None = None, longest: int = 0) -> Reader:
        """Make a reader with the weights of another encoder.

        Args:
            encoder: weights and tokenizer.
            sizes: of the windows; None for the encoder's.
            longest: maximum tokens of a unit; 0 for the encoder's.

        Raises:
            ModelError: the model's landmarks do not close sentences.
        """
        manifest = encoder.manifest
        if manifest.every:
            raise ModelError(
                f"{manifest.name} has a landmark every {manifest.every} tokens", "another --model"
            )
        window, left, right = sizes or (manifest.window, manifest.left, manifest.right)
        changed = replace(
            manifest, window=window, left=left, right=right, longest=longest or manifest.longest
        )
        return cls(ModelFolder(Path(), changed), encoder._engine, encoder.tokenizer)

    def read(self, document: Document, spans: Sequence[Span] | None = None) -> Reading:
        """Read a document by its sentences, or by other spans."""
        self._costs = ()
        landmarks = self.encode(document, spans=spans)
        manifest = self.manifest
        size = WindowSize(manifest.window, manifest.left, manifest.right, manifest.longest + 1)
        windows = tuple(plan(self._costs, size))
        return Reading(landmarks.spans, landmarks.vectors, self._costs, windows)

    def every(self, text: str, tokens: int) -> list[Span]:
        """Tile a text with spans of at most ``tokens`` tokens, which begin where words do."""
        starts: list[int] = []
        ends: list[int] = []
        parts = split(text)
        words = [text[start:end] for start, end in parts]
        for (at, _), found in zip(parts, self.tokenizer.encode(words), strict=True):
            starts += [at + start for start in found.starts]
            ends += [at + end for end in found.ends]
        borders, first = [0], 0
        while len(starts) - first > tokens:
            limit = first + tokens
            # A word cut in two would be tokenized differently.
            whole = (
                n for n in range(limit, first, -1) if not _inside(text, ends[n - 1], starts[n])
            )
            first = next(whole, limit)
            if starts[first] > borders[-1]:  # one character may have several tokens
                borders.append(starts[first])
        return list(pairwise([*borders, len(text)])) if text else []

    def _run(self, ids: Any, vectors: Any, progress: Any) -> int:
        self._costs = tuple(len(sentence) + 1 for sentence in ids)
        return super()._run(ids, vectors, progress)


def _inside(text: str, end: int, start: int) -> bool:
    return end == start and text[end - 1 : end].isalnum() and text[start : start + 1].isalnum()


def with_context(hit: int, extra: int, way: Way, count: int) -> list[int]:
    """Equation 3: a hit, then its context, the nearest first; cut at the ends of the text.

    >>> with_context(4, 2, "front", 10), with_context(4, 2, "both-sides", 10)
    ([4, 3, 2], [4, 3, 5])
    """
    if way == "front":
        near = [hit - step for step in range(1, extra + 1)]
    else:
        near = [beside for step in range(1, extra // 2 + 1) for beside in (hit - step, hit + step)]
    return [hit, *(number for number in near if 0 <= number < count)]


def spent(order: Sequence[int], spans: Sequence[Span], extra: int, way: Way) -> Iterator[Span]:
    """Sentences in the order returned: hits best first, each with its context, none twice."""
    seen: set[int] = set()
    for hit in order:
        for number in with_context(hit, extra, way, len(spans)):
            if number not in seen:
                seen.add(number)
                yield spans[number]


def evidence_found(returned: Iterator[Span], evidence: Sequence[Span], budget: int) -> float:
    """Share (0-1) of the evidence's characters within the first ``budget`` characters returned."""
    found, left = 0, budget
    for start, end in returned:
        end = min(end, start + left)
        found += sum(max(0, min(end, stop) - max(start, begin)) for begin, stop in evidence)
        left -= end - start
        if left <= 0:
            break
    return found / max(1, sum(stop - begin for begin, stop in evidence))
