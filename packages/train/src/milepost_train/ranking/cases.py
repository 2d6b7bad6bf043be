"""Questions as the search sees them: what it says of every candidate, and what that finds.

This is the one file of the package that calls the search's internals. A question is asked in up to
three settings: of its document, of a collection that holds it, and (``elsewhere``) of another
document or collection, where no sentence is evidence: what a probability must know. Of the
collections every second one holds documents of all tasks, which differ in kind as people's files
do; the others hold documents of one task, which resemble each other.

A question that its document does not answer, though it is about this, is asked of that document:
setting ``absent``. That is harder to tell than ``elsewhere``; the calibration alone learns from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from milepost.encoder import Encoder
from milepost.index.entries import entry, hashed
from milepost.search.features import features
from milepost.search.fusion import Fusion, curves, fuse, measure, standard
from milepost.search.passages import expand_hits, length_adjusted_score
from milepost.search.query import DEFAULT_K, Query
from milepost.search.ranking import LEARNED_TOP, learned_score
from milepost.search.reranking import Reranker, Reread, Texts, rerank
from milepost.search.scope import Scope, gather
from milepost.search.trees import Trees
from milepost.store import Store, open_store
from milepost_eval.metrics import BUDGETS
from milepost_eval.types import Question
from milepost_train.data import Progress
from milepost_train.ranking.questions import Sample, spread

Floats = NDArray[np.float32]
Setting = Literal["document", "collection", "elsewhere", "absent"]
TOGETHER = 12
"""Documents of a collection of one task."""
OF_EACH = 4
"""Documents of each task in a collection of all tasks."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question put to a store.

    Attributes:
        document: the document that holds its evidence or, ``absent``, that it is about.
        query: the question as the search is given it.
        reranked: whether the reranker is asked, too.
    """

    task: str
    document: str
    setting: Setting
    question: Question
    query: Query
    store: Store
    reranked: bool

    @property
    def key(self) -> tuple[str, str]:
        """Task and document: what is cross-fitted by."""
        return self.task, self.document


@dataclass(frozen=True, slots=True)
class Signals:
    """What the fusion's weights are learned from: a question asked of its document.

    Attributes:
        signals: ``(signals,)`` float64, see ``fusion.SIGNALS``.
        landmarks, words: ``(scales, n)`` float32, the curves that are mixed.
        alone: ``(2, n)`` float32, landmarks alone and words alone.
        gains: ``(n,)`` float32, share of the evidence in each sentence.
        lengths: ``(n,)`` int64 characters.
    """

    signals: NDArray[np.float64]
    landmarks: Floats
    words: Floats
    alone: Floats
    gains: Floats
    lengths: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Case:
    """A question in one setting, with the features of its candidate sentences.

    Attributes:
        task, document, setting: see ``Ask``.
        rows: ``(m,)`` int64 candidate sentences, ascending: the best by fused score.
        columns: ``(m, features)`` float32, see ``features.FEATURES``.
        fused: ``(n,)`` float32 fused scores of all sentences searched.
        extra: ``(n,)`` float32, what ``landmark_weight`` adds to the log-odds of each.
        gains: ``(n,)`` float32, share of the question's evidence in each sentence.
        lengths: ``(n,)`` int64 characters.
        document_offsets: ``(documents + 1,)`` int64, first sentence of each document, and ``n``.
        vocab_coverage: of question and documents, 0–1.
    """

    task: str
    document: str
    setting: Setting
    rows: NDArray[np.int64]
    columns: Floats
    fused: Floats
    extra: Floats
    gains: Floats
    lengths: NDArray[np.int64]
    document_offsets: NDArray[np.int64]
    vocab_coverage: float

    @property
    def key(self) -> tuple[str, str]:
        """Task and document: what is cross-fitted by."""
        return self.task, self.document


def asks(
    samples: Sequence[Sample],
    encoder: Encoder,
    reranked: int | None,
    progress: Progress,
    *,
    absent: bool = False,
) -> Iterator[Ask]:
    """Every question of some samples in its settings.

    Every question is asked of its document; unless documents do not answer (``absent``), every
    second one of a collection, and of another document or collection. At most ``reranked``
    questions about a document are for the reranker.
    """
    every = _Stores(samples, encoder, progress)
    for task, sample in enumerate(samples):
        for number, questions in enumerate(sample.questions):
            for_reranker = spread(range(len(questions)), reranked)
            for n, question in enumerate(questions):
                alone: Setting = "absent" if absent else "document"
                stores: dict[Setting, Store | None] = {alone: every.alone[task][number]}
                if n % 2 == 0 and not absent:
                    turn = number + n // 2
                    stores["collection"] = every.collection(task, number, turn)
                    stores["elsewhere"] = every.elsewhere(task, number, turn)
                query = Query.parse(question.text, encoder, operators=False)
                for setting, store in stores.items():
                    if store is not None:
                        asked = sample.task, question.document, setting, question
                        yield Ask(*asked, query, store, n in for_reranker)


def signals(ask: Ask) -> Signals:
    """What the fusion's weights are learned from."""
    scope = _scope(ask)
    landmarks, words = curves(scope)
    return Signals(
        np.array(list(measure(scope, ask.query.vocab_coverage).values()), np.float64),
        np.stack(landmarks),
        np.stack(words),
        np.stack([scope.similarity, sum(map(standard, scope.lexical), np.float32(0.0))]),
        _gains(ask, scope),
        scope.spans[:, 1] - scope.spans[:, 0],
    )


def case(ask: Ask, fusion: Fusion) -> Case:
    """The features of the best sentences by fused score."""
    scope = _scope(ask)
    fused = fuse(scope, ask.query.vocab_coverage, fusion)
    rows = np.sort(np.argsort(-fused.score, kind="stable")[:LEARNED_TOP])
    return Case(
        ask.task,
        ask.document,
        ask.setting,
        rows,
        features(scope, fused, rows),
        fused.score,
        np.float32(fusion.landmark_weight * fused.known) * fused.landmarks[0],
        _gains(ask, scope),
        scope.spans[:, 1] - scope.spans[:, 0],
        scope.document_offsets,
        fused.known,
    )


def reread(ask: Ask, score: Floats, reranker: Reranker) -> Reread:
    """What the reranker says of the best windows, by ``(n,)`` scores without reranking."""
    bound = reranker.for_query(ask.query.text)
    with ask.store.snapshot() as state:
        scope = gather(state, ask.query)
        if bound is None:  # the question is longer than a sentence may be
            return Reread(np.full(len(scope.spans), np.nan, np.float32))
        return rerank(Texts(state, scope), np.argsort(-score, kind="stable")[:LEARNED_TOP], bound)


def _scope(ask: Ask) -> Scope:
    with ask.store.snapshot() as state:
        return gather(state, ask.query)


def _gains(ask: Ask, scope: Scope) -> Floats:
    """Share of the question's evidence in each sentence, ``(n,)``; zeros where nothing is."""
    gains = np.zeros(len(scope.spans), np.float32)
    names = [info.name for info in scope.documents]
    holds = ask.setting in ("document", "collection") and ask.document in names
    if not holds or not ask.question.spans:
        return gains
    first, last = scope.document_offsets[names.index(ask.document) :][:2]
    part = scope.spans[first:last]
    for start, end in ask.question.spans:
        inside = np.minimum(part[:, 1], end) - np.maximum(part[:, 0], start)
        gains[first:last] += np.clip(inside, 0, None)
    gains /= sum(end - start for start, end in ask.question.spans)
    return gains


class _Stores:
    """A store of each document, of each collection of one task and of each of all tasks."""

    def __init__(self, samples: Sequence[Sample], encoder: Encoder, progress: Progress) -> None:
        self.alone: list[list[Store]] = []
        self._of_task: list[list[Store]] = []
        self._mixed: list[Store] = []
        for sample in samples:
            alone: list[Store] = []
            together: list[Store] = []
            for number, document in enumerate(sample.documents):
                progress(f"reading {sample.task}", number, len(sample.documents))
                marks = encoder.encode(document)
                parts = marks.spans, marks.vectors, marks.vocab_coverage
                made = entry(hashed(document), parts, None)
                alone.append(_store(encoder))
                stores = [alone[-1], _at(together, number // TOGETHER, encoder)]
                if len(samples) > 1:
                    stores.append(_at(self._mixed, number // OF_EACH, encoder))
                for store in stores:
                    store.put(made)
            self.alone.append(alone)
            self._of_task.append(together)

    def collection(self, task: int, number: int, turn: int) -> Store | None:
        """A collection with a document, of all tasks every second turn; None where it is alone."""
        if turn % 2 and self._mixed:
            return self._mixed[number // OF_EACH]
        return self._of_task[task][number // TOGETHER] if len(self.alone[task]) > 1 else None

    def elsewhere(self, task: int, number: int, turn: int) -> Store | None:
        """A store without a document: another one of the task, every second turn a collection."""
        stores, own = self.alone[task], number
        if turn % 2 and len(self._mixed) > 1:
            stores, own = self._mixed, number // OF_EACH
        if len(stores) == 1:
            return None
        return stores[(own + 1 + turn % (len(stores) - 1)) % len(stores)]


def _at(stores: list[Store], number: int, encoder: Encoder) -> Store:
    if number == len(stores):
        stores.append(_store(encoder))
    return stores[number]


def _store(encoder: Encoder) -> Store:
    return open_store(None, fingerprint=encoder.fingerprint, dimensions=encoder.dimensions)


DEEPEST = 800
"""Sentences that are looked at to fill a budget: 3,200 characters are some thirty."""


def base_scores(case: Case, fusion: Fusion, trees: Trees | None) -> Floats:
    """Log-odds of all sentences before any reranking, ``(n,)`` float32: ``ranking.rank``'s."""
    if trees is None:
        return (fusion.odds[0] + fusion.odds[1] * case.fused).astype(np.float32)
    close = learned_score(trees, fusion.base_score_weight, case.columns)
    below = 1.0 + case.fused.max() - case.fused
    score: Floats = (close.min() - 1e-3 * below).astype(np.float32)
    score[case.rows] = close
    return score


def evidence(case: Case, score: Floats, length_penalty: float) -> NDArray[np.float64]:
    """Share of the evidence that each of ``BUDGETS`` characters holds, ``(3,)``."""
    order = np.argsort(-length_adjusted_score(score, case.lengths, length_penalty), kind="stable")[
        :DEEPEST
    ]
    return within_budgets(case.lengths[order], case.gains[order])


def within_budgets(lengths: NDArray[np.int64], gains: Floats) -> NDArray[np.float64]:
    """Share of the evidence in each budget of sentences in this order, the last one cut.

    >>> import numpy as np
    >>> within_budgets(np.array([400, 800]), np.array([0.5, 0.5], np.float32))
    array([0.75, 1.  , 1.  ])
    """
    ends, found = (np.concatenate([[0], np.cumsum(each)]) for each in (lengths, gains))
    shares: NDArray[np.float64] = np.interp(BUDGETS, ends, found)
    return shares


def overlap(case: Case, score: Floats, growth_threshold: float) -> float:
    """F1 in characters between the first passage and the sentences that hold evidence."""
    best = passages(case, score, growth_threshold)[0]
    shared = case.lengths[best][case.gains[best] > 0].sum()
    both = case.lengths[best].sum() + case.lengths[case.gains > 0].sum()
    return float(2 * shared / max(1, both))


def passages(case: Case, score: Floats, growth_threshold: float) -> list[slice]:
    """The sentences of the passages that a search finds if no number is asked for."""
    runs = expand_hits(
        score, case.document_offsets, case.lengths, k=DEFAULT_K, growth_threshold=growth_threshold
    )
    return [slice(run.first, run.last) for run in runs]
