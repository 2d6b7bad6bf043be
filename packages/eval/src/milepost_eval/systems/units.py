"""Units of a collection (sentences, chunks …) and rankings of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from milepost.types import Document, Span
from milepost_eval.types import Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Splitter = Callable[[str], Sequence[Span]]
"""A text → its units, ascending by start; they may overlap and need not cover the text."""

_WHITE_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Units:
    """The units of some documents, in order.

    Attributes:
        documents: the documents.
        spans: ``(n, 2)`` int64 offsets, each into its own document: what is read of a unit.
        document_offsets: ``(len(documents) + 1,)`` int64: first unit of each document, and ``n``.
    """

    documents: tuple[Document, ...]
    spans: NDArray[np.int64]
    document_offsets: NDArray[np.int64]

    @classmethod
    def of(cls, documents: Iterable[Document], splitter: Splitter) -> Units:
        """Split documents; white space at the edges of units, and units of it, are left out."""
        import numpy as np

        given = tuple(documents)
        found: list[Span] = []
        document_offsets = [0]
        for document in given:
            for start, end in splitter(document.text):
                words = document.text[start:end]
                start += len(words) - len(words.lstrip())
                if words.strip():
                    found.append((start, start + len(words.strip())))
            document_offsets.append(len(found))
        return cls(
            given, np.array(found, np.int64).reshape(-1, 2), np.array(document_offsets, np.int64)
        )

    def __len__(self) -> int:
        return len(self.spans)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """``(n,)`` number of the document of each unit."""
        import numpy as np

        return np.repeat(np.arange(len(self.documents)), np.diff(self.document_offsets))

    def texts(self, document: int) -> list[str]:
        """The units of one document as strings."""
        text = self.documents[document].text
        rows = self.spans[self.document_offsets[document] : self.document_offsets[document + 1]]
        return [text[a:b] for a, b in rows.tolist()]

    def place(self, number: int, score: float, around: int = 0) -> Place:
        """One unit, with so many neighbours on both sides, as a place.

        White space goes with the unit before it, and in front of a text with the first, as in
        Milepost's sentences: evidence that spans two units can come back whole from every system.
        """
        owner = int(self.owners[number])
        begin, stop = self.document_offsets[owner : owner + 2].tolist()
        text = self.documents[owner].text
        first = max(begin, number - around)
        start = int(self.spans[first, 0])
        if first == begin and text[:start].isspace():
            start = 0
        white = _WHITE_SPACE.match(text, int(self.spans[min(stop - 1, number + around), 1]))
        assert white
        return Place(self.documents[owner].name, start, white.end(), score)


@dataclass(frozen=True)
class Scored:
    """A ranking by one score a unit: the best first, each unit whole. Implements ``Ranking``.

    Attributes:
        units: what is ranked.
        scores: ``(n,)`` float32; equal ones keep their order in the text.
    """

    units: Units
    scores: NDArray[np.float32]

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Unit numbers, best first."""
        import numpy as np

        return np.argsort(-self.scores, kind="stable")

    def best(self, most: int) -> list[Place]:
        """See ``Ranking.best``."""
        return [
            self.units.place(number, float(self.scores[number]))
            for number in self.order[:most].tolist()
        ]

    def strongest(self) -> Place | None:
        """See ``Ranking.strongest``."""
        return next(iter(self.best(1)), None)

    @property
    def shown(self) -> None:
        """See ``Ranking.shown``: scores are no probabilities."""
        return None

    def documents(self, most: int) -> list[str]:
        """See ``Ranking.documents``; a document without units is never found."""
        import numpy as np

        filled = np.flatnonzero(np.diff(self.units.document_offsets))
        if not len(filled):
            return []
        best = np.maximum.reduceat(self.scores, self.units.document_offsets[filled])
        order = filled[np.argsort(-best, kind="stable")][:most]
        return [self.units.documents[number].name for number in order.tolist()]

    def spend(self, budget: int) -> list[Place]:
        """See ``Ranking.spend``: units in order of score until the budget is full.

        A unit is returned whole; what of it was returned before (overlapping chunks) is paid for
        again, as it is by whoever puts the chunks into a prompt.
        """
        places: list[Place] = []
        left = budget
        for number in self.order.tolist():
            if left <= 0:
                break
            place = self.units.place(number, float(self.scores[number]))
            places.append(place)
            left -= place.end - place.start
        return places
