"""Documents read in several ways with the same weights: other windows, other units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.encoder import Encoder, Progress
from milepost.engine import ModelFolder
from milepost.errors import ModelError
from milepost.text import split
from milepost.types import Document, Span
from milepost.windows import Window, WindowSize, plan
from milepost_eval.systems.units import Units
from milepost_eval.types import Question, Task
from milepost_eval.vectors import CachedEncoder, Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POSITIONS = 512
"""Maximum tokens of a window: MiniLM has no more positions."""

Sizes = tuple[int, int, int]
"""Tokens of a window, its left halo and its right halo."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One document as a reader saw it.

    Attributes:
        units: its sentences, or the spans that had landmarks instead; one document.
        vectors: ``(n, d)`` float32.
        costs: tokens of each unit, its landmark included.
        windows: the units that each window reads and owns.
    """

    units: Units
    vectors: NDArray[np.float32]
    costs: tuple[int, ...]
    windows: tuple[Window, ...]

    @property
    def run(self) -> int:
        """Tokens that went through the network; those of halos count in every window."""
        return sum(1 + sum(self.costs[w.first : w.last]) for w in self.windows)

    def evidence(self, question: Question) -> list[int]:
        """Numbers of the units that share a character with an evidence span."""
        return [
            number
            for number, (start, end) in enumerate(self.units.spans.tolist())
            if any(start < stop and begin < end for begin, stop in question.spans)
        ]


class Reader(CachedEncoder):
    """An encoder that caches its vectors, reports its windows and can have other window sizes."""

    _costs: tuple[int, ...] = ()

    @classmethod
    def like(
        cls, encoder: Encoder, vectors: Vectors, sizes: Sizes | None = None, longest: int = 0
    ) -> Reader:
        """Make a reader with the weights of another encoder.

        Args:
            encoder: weights, tokenizer and whatever is not given here.
            vectors: cache of vectors.
            sizes: sizes of the windows; None for the encoder's.
            longest: maximum tokens of a unit; 0 for the encoder's.

        Raises:
            ModelError: the model's landmarks do not close sentences.
        """
        manifest = encoder.manifest
        if manifest.every:
            raise ModelError(
                f"{manifest.name} has a landmark every {manifest.every} tokens, and this study is "
                "of landmarks after sentences",
                "another --model",
            )
        window, left, right = sizes or (manifest.window, manifest.left, manifest.right)
        changed = replace(
            manifest, window=window, left=left, right=right, longest=longest or manifest.longest
        )
        # The tokenizer is passed in, so the folder is never read.
        folder = ModelFolder(Path(), changed)
        return cls(folder, encoder._engine, vectors, encoder.tokenizer)

    def read(self, document: Document, spans: Sequence[Span] | None = None) -> Reading:
        """Read a document by its sentences, or by other spans."""
        import numpy as np

        self._costs = ()
        marks = self.encode(document, spans=spans)
        document_offsets = np.array([0, len(marks.spans)], np.int64)
        size = WindowSize(
            self.manifest.window, self.manifest.left, self.manifest.right, self.manifest.longest + 1
        )
        return Reading(
            Units((document,), marks.spans, document_offsets),
            marks.vectors,
            self._costs,
            tuple(plan(self._costs, size)),
        )

    def ask(self, questions: Sequence[Question]) -> NDArray[np.float32]:
        """Encode questions: ``(q, d)`` float32."""
        import numpy as np

        rows = [self.encode_query(question.text) for question in questions]
        return np.array(rows, np.float32).reshape(-1, self.dimensions)

    def every(self, text: str, tokens: int) -> list[Span]:
        """Tile a text with spans of at most ``tokens`` tokens.

        Spans begin where words do; only a word with more tokens than that is cut inside.
        """
        starts: list[int] = []
        ends: list[int] = []
        parts = split(text)
        words = [text[start:end] for start, end in parts]
        for (at, _), found in zip(parts, self.tokenizer.encode(words), strict=True):
            starts += [at + start for start in found.starts]
            ends += [at + end for end in found.ends]
        borders = [0]
        first = 0
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

    def _run(
        self,
        ids: Sequence[Sequence[int]],
        vectors: NDArray[np.float32],
        progress: Progress | None,
    ) -> int:
        self._costs = tuple(len(sentence) + 1 for sentence in ids)
        return super()._run(ids, vectors, progress)


def _inside(text: str, end: int, start: int) -> bool:
    """Whether a word continues across two tokens, one up to ``end`` and one from ``start``."""
    return end == start and text[end - 1 : end].isalnum() and text[start : start + 1].isalnum()


def asked(task: Task) -> Iterator[tuple[Document, list[Question]]]:
    """Yield each document that has questions, with these questions, in the task's order."""
    by_document: dict[str, list[Question]] = {}
    for question in task.questions:
        by_document.setdefault(question.document, []).append(question)
    for document in task.documents:
        if document.name in by_document:
            yield document, by_document[document.name]
