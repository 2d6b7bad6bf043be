"""Rank the sentences of a document for a question: small models, measured on other documents.

A finder turns a document into a vector a sentence and a question into one vector; the sentences
are ranked by cosine. Small ones are tuned here by InfoNCE on questions whose evidence is marked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import InputError
from milepost.text import split
from milepost.types import Span
from milepost.windows.document_vector import unit
from milepost_eval.statistics import interval
from milepost_eval.types import Question, Task
from milepost_lab.model.bytes.encoder import ByteModel, padded_ids
from milepost_lab.model.bytes.tokenizer import PAD, as_bytes, clip, encode
from milepost_lab.model.bytes.word_encoder import Page, WordReader, pages
from milepost_lab.model.bytes.words import split_words
from milepost_lab.model.pooling.module import masked_mean
from milepost_lab.tokens.typos import gram_vector
from milepost_train.fit_steps import fit_steps, linear_share
from milepost_train.losses import info_nce

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from milepost.encoder import Encoder

TEMPERATURE = 0.05
LONGEST = 256
"""Bytes of a sentence or question that a byte encoder reads; no character is cut."""


class Finder(Protocol):
    """Anything that ranks the sentences of a document."""

    name: str

    def sentences(self, text: str) -> tuple[NDArray[np.float32], list[Span]]:
        """Vectors ``(sentences, d)`` at unit length and the sentences' places."""

    def questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors ``(questions, d)`` at unit length."""


class Grams:
    """Hashed n-grams of bytes, averaged: no parameters."""

    name = "n-grams"

    def sentences(self, text: str) -> tuple[NDArray[np.float32], list[Span]]:
        """See ``Finder``."""
        spans = split(text)
        return self.questions([text[start:end] for start, end in spans]), spans

    def questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Finder``."""
        rows = [
            gram_vector([word.text for word in split_words(text) if word.kind != "space"])
            for text in texts
        ]
        return np.array(rows)


class Subwords:
    """A model folder, as search uses it.

    Args:
        encoder: see ``milepost.load``.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.encoder = encoder.manifest.name, encoder

    def sentences(self, text: str) -> tuple[NDArray[np.float32], list[Span]]:
        """See ``Finder``."""
        found = self.encoder.encode(text)
        return unit(found.vectors), list(found.spans)

    def questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Finder``."""
        return unit(np.array([self.encoder.encode_query(text) for text in texts]))


class Words:
    """Bytes, words, landmarks: ``WordReader``.

    Args:
        reader: its network.
        name: for tables.
    """

    def __init__(self, reader: WordReader, name: str = "WordPool") -> None:
        self.reader, self.name = reader, name
        self._pages: dict[str, list[Page]] = {}  # of documents that are trained on

    def sentences(self, text: str) -> tuple[NDArray[np.float32], list[Span]]:
        """See ``Finder``."""
        with torch.no_grad():
            vectors, spans = self.reader.read(text)
        return unit(vectors.numpy()), spans

    def questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Finder``."""
        with torch.no_grad():
            return unit(self.reader([self.asked(text) for text in texts]).numpy())

    def asked(self, text: str) -> Page:
        """A question as one sentence, however many it has."""
        words = [word for word in split_words(text, self.reader.cap) if word.kind != "space"]
        return Page([words], [(0, len(text))])

    def loss(self, asked: Sequence[Asked]) -> Tensor:
        """InfoNCE of questions over all sentences of the batch's pages, each page once."""
        reading: list[Page] = []
        begins: dict[int, int] = {}  # a page → its first sentence among all
        right: list[int] = []
        count = 0
        for one in asked:
            page, number = self._page_of(one)
            if id(page) not in begins:
                begins[id(page)] = count
                reading.append(page)
                count += len(page.words)
            right.append(begins[id(page)] + number)
        queries = self.reader([self.asked(one.question) for one in asked])
        return info_nce(
            F.normalize(queries, dim=-1),
            F.normalize(self.reader(reading), dim=-1),
            TEMPERATURE,
            positive=F.one_hot(torch.tensor(right), count).bool(),
        )

    def _page_of(self, one: Asked) -> tuple[Page, int]:
        """The page that holds the evidence, and the sentence's number on it."""
        if one.text not in self._pages:
            self._pages[one.text] = pages(one.text, self.reader.window, self.reader.cap)
        for page in self._pages[one.text]:
            if one.span in page.spans:
                return page, page.spans.index(one.span)
        raise InputError(f"no sentence of the document is {one.span}", "cut it with milepost.text")


class Bytes:
    """The mean of a byte encoder's states, each sentence read alone.

    Args:
        model: its network.
        name: for tables.
    """

    def __init__(self, model: ByteModel, name: str) -> None:
        self.model, self.name = model, name

    def sentences(self, text: str) -> tuple[NDArray[np.float32], list[Span]]:
        """See ``Finder``."""
        spans = split(text)
        return self.questions([text[start:end] for start, end in spans]), spans

    def questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Finder``."""
        with torch.no_grad():
            rows = [
                self._vectors(texts[place : place + 32]).numpy()
                for place in range(0, len(texts), 32)
            ]
        return np.concatenate(rows)

    def loss(self, asked: Sequence[Asked]) -> Tensor:
        """InfoNCE of questions over the evidence of the batch, each sentence once."""
        queries = self._vectors([one.question for one in asked])
        evidence = list(dict.fromkeys(one.evidence for one in asked))
        positive = torch.tensor([[one.evidence == each for each in evidence] for one in asked])
        return info_nce(queries, self._vectors(evidence), TEMPERATURE, positive=positive)

    def _vectors(self, texts: Sequence[str]) -> Tensor:
        ids = padded_ids([encode(clip(as_bytes(text), LONGEST)) for text in texts])
        mask = ids != PAD
        mean = masked_mean(self.model.states(ids) * mask[..., None], mask)
        return F.normalize(mean, dim=-1)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the sentence that answers it.

    Attributes:
        question: its text.
        text: the document.
        span: the first sentence that holds evidence.
    """

    question: str
    text: str
    span: Span

    @property
    def evidence(self) -> str:
        """The sentence's text."""
        return self.text[self.span[0] : self.span[1]]


def asked_of(task: Task, most: int, seed: int = 0) -> list[Asked]:
    """Questions of a task with their first sentence of evidence, at most so many, drawn.

    Raises:
        InputError: no evidence is marked in the task.
    """
    texts = {document.name: document.text for document in task.documents}
    cut = {name: split(text) for name, text in texts.items()}
    questions = [question for question in task.questions if question.spans]
    if not questions:
        raise InputError(f"{task.name}: no evidence is marked", "a task with spans")
    chosen = np.random.default_rng(seed).permutation(len(questions))[:most]
    found: list[Asked] = []
    for number in chosen:
        question = questions[number]
        best = right_sentences(question, cut[question.document])
        if best:
            span = cut[question.document][best[0]]
            found.append(Asked(question.text, texts[question.document], span))
    return found


def right_sentences(question: Question, spans: Sequence[Span]) -> list[int]:
    """Which sentences overlap the evidence, ascending."""
    return [
        number
        for number, (start, end) in enumerate(spans)
        if any(start < last and first < end for first, last in question.spans)
    ]


def tune(
    finder: Words | Bytes,
    asked: Sequence[Asked],
    *,
    steps: int,
    batch: int = 16,
    rate: float = 2e-3,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Train a finder's network in place.

    Args:
        finder: ``Words`` or ``Bytes``.
        asked: training questions.
        steps: of AdamW, no decay.
        batch: questions a step.
        rate: highest learning rate; it falls linearly to nothing.
        seed: of the batches.
        progress: called with the steps that are done.
    """
    network: nn.Module = finder.reader if isinstance(finder, Words) else finder.model
    rng = np.random.default_rng(seed)
    weights = list(network.parameters())
    network.train()

    def loss(_: int) -> Tensor:
        chosen = rng.choice(len(asked), min(batch, len(asked)), replace=False)
        return finder.loss([asked[n] for n in chosen])

    fit_steps(
        torch.optim.AdamW(weights, lr=rate, weight_decay=0.0),
        steps,
        loss,
        share=linear_share,
        clipped=weights,
        on_step=lambda step, _: progress(step + 1),
    )
    network.eval()


@dataclass(frozen=True, slots=True)
class Recall:
    """Share of questions whose evidence is found.

    Attributes:
        first: share of questions whose best sentence is evidence.
        low, high: its 95 % interval; documents are resampled.
        five: share with evidence among the best five.
        questions: how many were asked.
    """

    first: float
    low: float
    high: float
    five: float
    questions: int


def recall(
    finder: Finder, task: Task, changed: Callable[[Question], str] = lambda question: question.text
) -> Recall:
    """Ask every question of its own document.

    Args:
        finder: what ranks.
        task: documents and questions; those whose evidence no sentence holds are passed over.
        changed: the text that is asked in a question's place.

    Raises:
        InputError: no question's evidence is held by a sentence.
    """
    asked: dict[str, list[Question]] = {}
    for question in task.questions:
        asked.setdefault(question.document, []).append(question)
    ranks: list[int] = []
    clusters: list[str] = []
    for document in task.documents:
        questions = asked.get(document.name, [])
        if not questions:
            continue
        vectors, spans = finder.sentences(document.text)
        scores = finder.questions([changed(question) for question in questions]) @ vectors.T
        for question, row in zip(questions, scores, strict=True):
            right = right_sentences(question, spans)
            if right:
                # A tie is lost: equal vectors must not look like knowledge.
                ranks.append(int((np.delete(row, right) >= row[right].max()).sum()))
                clusters.append(document.name)
    if not ranks:
        raise InputError(f"{task.name}: no question with marked evidence", "a task with spans")
    first = [float(rank == 0) for rank in ranks]
    low, high = interval(first, clusters)
    five = float(np.mean([rank < 5 for rank in ranks]))
    return Recall(float(np.mean(first)), low, high, five, len(ranks))
