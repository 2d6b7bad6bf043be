"""Documents read in blocks of sentences: landmarks, and words with the collection's statistics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from milepost.language.terms import question_terms, terms
from milepost.search.lexical import bm25, idf
from milepost.types import Reader, Span
from milepost_train.data import touched
from milepost_train.generated import Source


@dataclass(frozen=True)
class Sentences:
    """One document, read.

    Attributes:
        source: the document.
        spans: its sentences, white space at the edges left out; ones of nothing else too.
        vectors: ``(n, d)`` float32, unit length.
    """

    source: Source
    spans: Sequence[Span]
    vectors: NDArray[np.float32]

    def text(self, number: int) -> str:
        """One sentence."""
        return self.source.document.text[slice(*self.spans[number])]

    def touching(self, spans: Iterable[Span]) -> list[int]:
        """Numbers of the sentences that share a character with one of the spans."""
        return list(touched(self.spans, list(spans)))


def sentences_of(source: Source, encoder: Reader) -> Sentences:
    """Read a document."""
    marks = encoder.encode(source.document)
    text = source.document.text
    spans: list[Span] = []
    for start, end in marks.spans.tolist():
        words = text[start:end]
        start += len(words) - len(words.lstrip())
        spans.append((start, start + len(words.strip())))
    return Sentences(source, spans, marks.vectors)


@dataclass
class Statistics:
    """How rare the questions' terms are, and how long a sentence is, in what was surveyed.

    Attributes:
        wanted: terms that some question asks for; no others are counted, so that memory does not
            grow with the vocabulary of the documents.
    """

    wanted: Collection[str]
    sentences: int = 0
    length: int = 0
    frequency: Counter[str] = field(default_factory=Counter)

    def add(self, read: Sentences) -> None:
        """Count a document's sentences."""
        for number in range(len(read.spans)):
            words = terms(read.text(number))
            self.sentences += 1
            self.length += len(words)
            self.frequency.update(set(words).intersection(self.wanted))


class Block:
    """Some documents whose sentences are scored together."""

    def __init__(self, documents: Sequence[Sentences], statistics: Statistics) -> None:
        self.documents = documents
        self.document_offsets = np.cumsum(
            [0, *(len(each.spans) for each in documents)], dtype=np.int64
        )
        self.vectors = np.concatenate([each.vectors for each in documents])
        self._statistics = statistics
        counted: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        lengths: list[int] = []
        for each in documents:
            for number in range(len(each.spans)):
                words = terms(each.text(number))
                for word in words:
                    if word in statistics.wanted:
                        counted[word][len(lengths)] += 1
                lengths.append(len(words))
        self._lengths = np.array(lengths, np.float32)
        self._counted = counted
        self._shares: dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}

    def owner(self, row: int) -> tuple[Sentences, int]:
        """The document of a row, and the sentence's number in it."""
        number = int(np.searchsorted(self.document_offsets, row, side="right")) - 1
        return self.documents[number], row - int(self.document_offsets[number])

    def by_words(self, question: str) -> NDArray[np.float32]:
        """``(n,)`` BM25 of every sentence."""
        scores = np.zeros(len(self._lengths), np.float32)
        for term in question_terms(question):
            if term in self._counted:
                rows, values = self._share(term)
                scores[rows] += values
        return scores

    def _share(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """What a term adds, where it adds anything: the formula is a sum over terms."""
        if term not in self._shares:
            known = self._statistics
            often = np.zeros(len(self._lengths), np.float32)
            rows = np.array(list(self._counted[term]), np.int64)
            often[rows] = list(self._counted[term].values())
            scores = bm25(
                {term: often},
                self._lengths,
                self.document_offsets,
                {term: idf(known.frequency[term], known.sentences)},
                known.length / max(1, known.sentences),
                (0,),
            )[0]
            self._shares[term] = rows, scores[rows]
        return self._shares[term]


def blocks(
    documents: Iterable[Sentences], statistics: Statistics, size: int = 4096
) -> Iterator[Block]:
    """Documents in blocks of about ``size`` sentences; a longer one is a block of its own."""
    held: list[Sentences] = []
    for each in documents:
        if held and sum(len(h.spans) for h in held) + len(each.spans) > size:
            yield Block(held, statistics)
            held = []
        if each.spans:
            held.append(each)
    if held:
        yield Block(held, statistics)
