"""Words alone: Milepost's BM25 over any units and at several scales, and the library bm25s.

Statistics (rarity of terms, mean length) are those of the documents opened: of one where the
document is given, of all of them where the collection is searched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from milepost._optional import require
from milepost.language.terms import question_terms, terms
from milepost.search.fusion import standard
from milepost.search.lexical import bm25, idf
from milepost.store.bm25 import K1, B
from milepost.types import Document
from milepost_eval.systems.units import Scored, Splitter, Units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class OpenedWords(ABC):
    """Units that the words of a question score. Implements ``Opened`` and ``Scorer``.

    Attributes:
        units: what is ranked.
        tokens: none, there is no model.
    """

    def __init__(self, units: Units) -> None:
        self.units = units
        self.tokens = 0

    @abstractmethod
    def _scored(self, question: str) -> NDArray[np.float32]:
        """``(n,)`` one score a unit; all zero where no term of the question stands anywhere."""

    def scores(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Scores of all units, ``(q, n)``, for systems that join them with others."""
        import numpy as np

        rows = np.zeros((len(questions), len(self.units)), np.float32)
        for row, question in zip(rows, questions, strict=True):
            row[:] = self._scored(question)
        return rows

    def search(self, questions: Sequence[str]) -> Iterator[Scored]:
        """One ranking a question, made when it is asked for."""
        return (Scored(self.units, self._scored(question)) for question in questions)


class Bm25:
    """Milepost's BM25. Implements ``System``.

    Args:
        name: as in ``milepost eval run --systems NAME``.
        unit: divides a document.
        scales: neighbours on each side that a unit is scored with; the scores of several scales
            are standardised and summed.
        k1: how slowly repeats of a term saturate.
        b: how much length counts, 0–1.
    """

    def __init__(
        self, name: str, unit: Splitter, scales: Sequence[int] = (0,), k1: float = K1, b: float = B
    ) -> None:
        from milepost import __version__

        self.name = name
        self.fingerprint = (
            f"milepost {__version__}, k1={k1:g}, b={b:g}, scales={'+'.join(map(str, scales))}"
        )
        self._unit = unit
        self._scales = tuple(scales)
        self._k1 = k1
        self._b = b

    def open(self, documents: Sequence[Document]) -> OpenedBm25:
        """Count the terms of every unit."""
        return OpenedBm25(Units.of(documents, self._unit), self._scales, self._k1, self._b)


class OpenedBm25(OpenedWords):
    """Units and where each term stands in them."""

    def __init__(self, units: Units, scales: Sequence[int], k1: float, b: float) -> None:
        import numpy as np

        super().__init__(units)
        self._scales = scales
        self._k1 = k1
        self._b = b
        self._numbers: dict[str, int] = {}
        lengths = array("q")
        found = array("q")
        for document in range(len(units.documents)):
            for words in map(terms, units.texts(document)):
                lengths.append(len(words))
                found.extend(self._numbers.setdefault(w, len(self._numbers)) for w in words)
        self._lengths = np.array(lengths, np.float32)
        # One key a pair of term and unit: sorted, they are the postings of all terms in a row.
        size = max(1, len(units))
        rows = np.repeat(np.arange(len(units)), np.array(lengths, np.int64))
        keys, often = np.unique(np.array(found, np.int64) * size + rows, return_counts=True)
        self._rows = (keys % size).astype(np.int32)
        self._often = often.astype(np.float32)
        self._starts = np.searchsorted(keys // size, np.arange(len(self._numbers) + 1))

    def _scored(self, question: str) -> NDArray[np.float32]:
        import numpy as np

        count = len(self.units)
        if not count:
            return np.zeros(0, np.float32)
        counts: dict[str, NDArray[np.float32]] = {}
        weights: dict[str, float] = {}
        for term in question_terms(question):
            number = self._numbers.get(term)
            if number is not None:
                inside = slice(int(self._starts[number]), int(self._starts[number + 1]))
                counts[term] = np.zeros(count, np.float32)
                counts[term][self._rows[inside]] = self._often[inside]
                weights[term] = idf(inside.stop - inside.start, count)
        mean = float(self._lengths.mean(dtype=np.float64))
        found = bm25(
            counts,
            self._lengths,
            self.units.document_offsets,
            weights,
            mean,
            self._scales,
            k1=self._k1,
            b=self._b,
        )
        total = np.zeros(count, np.float32)
        for scores in found:
            total += scores if len(found) == 1 else standard(scores)
        return total


class Bm25s:
    """The library bm25s as its README sets it up. Implements ``System``.

    Its own tokenizer, English stop words, a Snowball stemmer, and its defaults for all else:
    the formula of Lucene, k1 1.5, b 0.75.

    Args:
        name: as in ``milepost eval run --systems NAME``.
        unit: divides a document.
    """

    def __init__(self, name: str, unit: Splitter) -> None:
        self.name = name
        self._library = require("bm25s", extra="eval")
        self.fingerprint = f"bm25s {self._library.__version__}, lucene"
        self._unit = unit

    def open(self, documents: Sequence[Document]) -> OpenedBm25s:
        """Index every unit."""
        return OpenedBm25s(Units.of(documents, self._unit), self._library)


class OpenedBm25s(OpenedWords):
    """Units and their index."""

    def __init__(self, units: Units, library: Any) -> None:
        from snowballstemmer.english_stemmer import EnglishStemmer

        super().__init__(units)
        self._library = library
        # The README's PyStemmer is the same algorithm compiled, and a method of the same name.
        self._stemmer = EnglishStemmer()
        self._index: Any = None
        read = self._read(
            [text for number in range(len(units.documents)) for text in units.texts(number)]
        )
        if read.vocab:  # the library cannot index a collection without a word
            self._index = library.BM25()
            self._index.index(read, show_progress=False)

    def _scored(self, question: str) -> NDArray[np.float32]:
        import numpy as np

        wanted = self._read([question], return_ids=False)[0]
        if not wanted or self._index is None:
            return np.zeros(len(self.units), np.float32)
        found: NDArray[np.float32] = self._index.get_scores(wanted)
        return found

    def _read(self, texts: list[str], *, return_ids: bool = True) -> Any:
        """The library's tokens of texts: numbered with their vocabulary, or as strings."""
        return self._library.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, return_ids=return_ids, show_progress=False
        )
