"""What the studies of CET read: sentences and their scores, one document at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from milepost.terms import question_terms
from milepost.text import split
from milepost.types import Document, Landmarks, Reader
from milepost.windows.document_vector import document_vector, unit
from milepost_eval.embedders import Embedder
from milepost_eval.types import Question, Task
from milepost_eval.vectors import Vectors
from milepost_train.collection import Block, Sentences, Statistics, sentences_of
from milepost_train.generated import Source

Progress = Callable[[str, int, int], object]
"""Told what is done, how far, of how much."""


class AloneReader:
    """A ``Reader`` whose landmarks are sentences that a model of single texts read alone.

    Args:
        embedder: the model.
        vectors: where vectors are kept, a document at a time.
    """

    def __init__(self, embedder: Embedder, vectors: Vectors) -> None:
        self._embedder, self._vectors = embedder, vectors

    def encode(self, text: str | Document) -> Landmarks:
        """One vector a sentence; sentences are those of every model."""
        words = text.text if isinstance(text, Document) else text
        spans = split(words, text.blocks if isinstance(text, Document) else ())
        sentences = [words[start:end].strip() for start, end in spans]
        vectors, tokens = self._vectors.get(
            f"{self._embedder.fingerprint} alone",
            sentences,
            partial(self._embedder.texts, sentences),
        )
        vectors = unit(vectors)  # kept as float16
        return Landmarks(
            vectors=vectors,
            spans=np.array(spans, np.int64).reshape(-1, 2),
            document=document_vector(vectors),
            tokens_given=tokens,
            tokens_read=tokens,
            vocab_coverage=np.ones(len(spans), np.float32),
        )

    def encode_query(self, question: str) -> NDArray[np.float32]:
        """The vector of a question, ``(d,)`` float32, unit length."""
        made, _ = self._vectors.get(
            f"{self._embedder.fingerprint} asked",
            [question],
            lambda: (self._embedder.questions([question]), 0),
        )
        vector: NDArray[np.float32] = unit(made)[0]
        return vector


@dataclass(frozen=True)
class Asked:
    """A document and what is asked of it.

    Attributes:
        read: its sentences.
        questions: of them.
        evidence: of each question the numbers of the sentences that answer it.
        queries: ``(q, d)`` vectors of the questions.
        cosines, words: ``(q, n)`` scores of all sentences, by their vectors and by BM25.
    """

    read: Sentences
    questions: Sequence[Question]
    evidence: Sequence[Sequence[int]]
    queries: NDArray[np.float32]
    cosines: NDArray[np.float32]
    words: NDArray[np.float32]


def asked_of(task: Task, reader: Reader, least: int, progress: Progress) -> Iterator[Asked]:
    """Each document of a task that is asked about.

    Args:
        task: whose evidence is marked.
        reader: gives sentences and vectors.
        least: sentences of evidence that a question has at least; others are left out.
        progress: told the task's name, documents read, and of how many.
    """
    by_document: dict[str, list[Question]] = {}
    for question in task.questions:
        by_document.setdefault(question.document, []).append(question)
    wanted = {word for question in task.questions for word in question_terms(question.text)}
    statistics = Statistics(wanted)
    reads: list[Sentences] = []
    for document in task.documents:
        if document.name in by_document:
            reads.append(sentences_of(Source(document), reader))
            statistics.add(reads[-1])
            progress(task.name, len(reads), len(by_document))
    for read in reads:
        asked = by_document[read.source.document.name]
        evidence = [read.touching(question.spans) for question in asked]
        kept = [pair for pair in zip(asked, evidence, strict=True) if len(pair[1]) >= least]
        if not kept:
            continue
        queries = np.stack([reader.encode_query(question.text) for question, _ in kept])
        block = Block([read], statistics)
        yield Asked(
            read,
            [question for question, _ in kept],
            [numbers for _, numbers in kept],
            queries,
            queries @ read.vectors.T,
            np.stack([block.by_words(question.text) for question, _ in kept]),
        )
