"""Hard negatives: sentences that a model or shared words rank high and that are not evidence.

The documents are read once, into an index that lasts as long as the command; each question is then
asked of its own document and of all others, as a search asks. A line of the output:

    {"id": "q1", "question": "Who lays the eggs?", "document": "bees", "spans": [[25, 49]],
     "positive": 0.71, "negatives": [
       {"document": "bees", "span": [0, 24], "score": 0.4, "by": "landmarks"}, …]}

``score`` and ``positive`` are cosines of landmarks with the question, by the index. ``by`` is
``landmarks``, ``words`` (BM25) or ``both``.

Unmarked sentences that a good model ranks high are often answers. So a candidate is dropped if its
landmark scores nearly as high as the evidence (positive-aware mining, arXiv 2407.15831: above 95 %
of the positive's score), if it repeats the evidence, or if it is next to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain, zip_longest
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic.dataclasses import dataclass as checked

from milepost.cli.checks import sha256
from milepost.encoder import Encoder
from milepost.errors import InputError
from milepost.index.entries import entry, hashed
from milepost.language.terms import terms
from milepost.search.query import Query
from milepost.search.scope import Scope, gather
from milepost.store import Snapshot, Store, open_store
from milepost.types import Span
from milepost_eval.tasks.reading import ELSEWHERE, Line, need_questions, question_text
from milepost_eval.types import Question, Split
from milepost_train.data import Progress, touched, trimmed
from milepost_train.generated import (
    Journal,
    Source,
    Written,
    asked_documents,
    collected,
    evidence_of,
)
from milepost_train.settings import CHECKED, Amount, Count, Share

LIKE_EVIDENCE = "scores like the evidence"
SAME_WORDS = "repeats the evidence"
BESIDE = "is next to the evidence"
SET_ASIDE = "heading, or may answer too"
SHORT = "too short to be looked for"
REPEATED = "repeats another negative"


@checked(frozen=True, slots=True, config=CHECKED)
class Limits:
    """How many negatives, and what is none; see ``milepost mine --help``.

    ``depth`` candidates are looked at, by landmarks and by words each; a negative has ``shortest``
    distinct terms at least.
    """

    document: Amount = 8
    collection: Amount = 8
    below: Share = 0.95
    similar: Share = 0.8
    around: Amount = 1
    depth: Count = 48
    shortest: Amount = 4


@dataclass(frozen=True)
class Candidate:
    """A sentence that might be a negative.

    Attributes:
        span: white space at its edges left out.
        score: cosine of its landmark with the question.
        near: in sentences from the nearest evidence; None in another document.
        aside: marked as neither positive nor negative.
    """

    document: str
    span: Span
    text: str
    score: float
    near: int | None = None
    aside: bool = False

    @property
    def place(self) -> tuple[str, Span]:
        """Document and span."""
        return self.document, self.span

    @cached_property
    def words(self) -> frozenset[str]:
        """Its distinct terms."""
        return frozenset(terms(self.text))


@dataclass
class Evidence:
    """The best cosine of a question's evidence with it, and the terms of each of its sentences."""

    score: float
    sentences: Sequence[frozenset[str]]

    @cached_property
    def whole(self) -> frozenset[str]:
        """The terms of all of them."""
        return frozenset(chain.from_iterable(self.sentences))


def reason(candidate: Candidate, evidence: Evidence, limits: Limits) -> str:
    """Why a candidate is not a negative, or "".

    The margin is a share of the positive's score where that is positive, and the same distance
    below it where it is not.

    >>> evidence = Evidence(0.6, [frozenset(terms("The queen lays the eggs."))])
    >>> reason(Candidate("d", (0, 9), "Tugs pull big ships.", 0.58), evidence, Limits())
    'scores like the evidence'
    >>> reason(Candidate("d", (0, 9), "Tugs pull big ships.", 0.56), evidence, Limits())
    ''
    """
    if candidate.near is not None and candidate.near <= limits.around:
        return BESIDE
    if candidate.aside:
        return SET_ASIDE
    if len(candidate.words) < limits.shortest:
        return SHORT
    if candidate.score > evidence.score - (1 - limits.below) * abs(evidence.score):
        return LIKE_EVIDENCE
    words, share = candidate.words, limits.similar
    alike = (len(words & each) >= share * len(words | each) for each in evidence.sentences)
    if any(alike) or len(words & evidence.whole) >= share * len(words):
        return SAME_WORDS
    return ""


def choose(
    rankings: Sequence[Sequence[Candidate]],
    evidence: Evidence,
    limits: Limits,
    most: int,
    dropped: Counter[str],
) -> Iterator[dict[str, Any]]:
    """Negatives from two rankings, best first, taken in turns, as the module describes them."""
    looked_at: set[tuple[str, Span]] = set()
    kept: dict[frozenset[str], Candidate] = {}
    for candidate in chain.from_iterable(zip_longest(*rankings)):
        if candidate is None or candidate.place in looked_at:
            continue
        looked_at.add(candidate.place)
        why = reason(candidate, evidence, limits)
        why = why or (REPEATED if candidate.words in kept else "")
        if why:
            dropped[why] += 1
        else:
            kept[candidate.words] = candidate
    by_landmarks, by_words = ({each.place for each in ranking} for ranking in rankings)
    for each in list(kept.values())[:most]:
        by = "landmarks" if each.place in by_landmarks else "words"
        yield {
            "document": each.document,
            "span": list(each.span),
            "score": round(each.score, 4),
            "by": "both" if each.place in by_landmarks & by_words else by,
        }


def mine(
    documents: Path,
    questions: Path,
    out: Path,
    encoder: Encoder,
    limits: Limits | None = None,
    *,
    split: Split = "train",
    allow_nc: bool = False,
    progress: Progress = lambda *_: None,
) -> Written:
    """Write the hard negatives of every question of a split to ``out``.

    An interrupted run resumes, if everything the output depends on is the same. ``documents`` and
    ``questions`` are as in ``docs/training-data.md``, one file where it holds both; documents of
    which only other splits ask are left out. ``allow_nc`` keeps documents whose licence is
    non-commercial or not recognised.

    Raises:
        UnreadableFile: a file is missing or damaged.
        InputError: no question to mine for, or ``out`` was made with other settings.
    """
    limits = limits or Limits()
    if limits.document + limits.collection == 0:
        raise InputError("no negatives are wanted", "some of a document or of the collection")
    # A file that is not there the reader will name.
    sums = [sha256(path)[:16] if path.is_file() else "" for path in (documents, questions)]
    settings = {
        "command": "mine",
        "documents": sums[0],
        "questions": sums[1],
        "model": encoder.fingerprint,
        "split": split,
        "allow_nc": allow_nc,
        **asdict(limits),
    }
    with Journal(out, settings) as journal, TemporaryDirectory() as scratch:
        store = open_store(
            Path(scratch) / "index", fingerprint=encoder.fingerprint, dimensions=encoder.dimensions
        )
        work = _Work(encoder, limits, store)
        found = asked_documents(
            documents, questions, work.dropped, work.bad, split=split, allow_nc=allow_nc
        )
        asked = work.survey(found, progress)
        need_questions(asked, split, questions, work.bad, work.dropped[ELSEWHERE])
        with store.snapshot() as state:
            for number, each in enumerate(asked, 1):
                if each.name not in journal.done:
                    counts: Counter[str] = Counter()
                    journal.write(each.name, [work.row(each, state, counts)], counts)
                progress("mining", number, len(asked))
        return Written(journal.counts + work.dropped, work.bad)


class _Work:
    """The documents in a store, and what is no negative in them."""

    def __init__(self, encoder: Encoder, limits: Limits, store: Store) -> None:
        self.dropped: Counter[str] = Counter()
        self.bad: list[InputError] = []
        self._encoder, self._limits, self._store = encoder, limits, store
        self._sources: dict[str, Source] = {}  # without their texts

    def survey(
        self, found: Iterable[tuple[Source, list[tuple[str, Line]]]], progress: Progress
    ) -> list[Question]:
        good: list[tuple[int, Question]] = []
        for number, (source, about) in enumerate(found, 1):
            document = source.document
            for name, line in about:
                with collected(self.bad):
                    spans = evidence_of(line, document)
                    if not any(document.text[a:b].strip() for a, b in spans):
                        raise line.wrong("'spans' hold white space", "mark the words")
                    words = question_text(line, "question")
                    good.append((line.number, Question(name, words, document.name, spans)))
            if self._limits.collection or about:
                read = self._encoder.encode(document)
                parts = read.spans, read.vectors, read.vocab_coverage
                self._store.put(entry(hashed(document), parts, None))
            self._sources[document.name] = replace(source, document=replace(document, text=""))
            progress("reading documents", number, 0)
        return [question for _, question in sorted(good, key=itemgetter(0))]

    def row(self, asked: Question, state: Snapshot, counts: Counter[str]) -> dict[str, Any]:
        limits, dropped = self._limits, Counter[str]()
        query = Query.parse(asked.text, self._encoder, operators=False)
        scope = gather(state, replace(query, documents=frozenset([asked.document])))
        evidence, inside = self._inside(asked, state, scope)
        negatives = list(choose(inside, evidence, limits, limits.document, dropped))
        if limits.collection:
            scope = gather(state, query)
            names = [info.name for info in scope.documents]
            owner = np.repeat(np.arange(len(names)), np.diff(scope.document_offsets))
            allowed = np.array([name != asked.document for name in names])[owner]
            outside = [list(self._read(state, scope, rows)) for rows in self._best(scope, allowed)]
            negatives += choose(outside, evidence, limits, limits.collection, dropped)
        counts["questions"] += 1
        counts["questions without a negative"] += not negatives
        counts.update(f"negatives by {each['by']}" for each in negatives)
        counts.update({f"candidate: {why}": number for why, number in dropped.items()})
        return {
            "id": asked.name,
            "question": asked.text,
            "document": asked.document,
            "spans": [list(span) for span in asked.spans],
            "positive": round(evidence.score, 4),
            "negatives": negatives,
        }

    def _inside(
        self, asked: Question, state: Snapshot, scope: Scope
    ) -> tuple[Evidence, list[list[Candidate]]]:
        """The evidence of a question, and candidates of its own document, best first."""
        every = list(self._read(state, scope, np.arange(len(scope.spans))))
        spans = [each.span for each in every]
        held = touched(spans, asked.spans)
        best = max((every[n].score for n in held), default=0.0)
        evidence = Evidence(best, [every[n].words for n in held])
        beside = set(touched(spans, self._sources[asked.document].beside.get(asked.name, ())))
        apart = np.abs(np.arange(len(spans))[:, None] - np.array(held, np.int64))
        near = apart.min(axis=1, initial=len(spans))
        found = [
            replace(each, near=int(near[n]), aside=each.aside or n in beside)
            for n, each in enumerate(every)
        ]
        return evidence, [[found[n] for n in rows] for rows in self._best(scope, near > 0)]

    def _best(self, scope: Scope, allowed: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
        """The best rows by landmarks and by words, equal ones in order."""
        words = scope.lexical[0]
        for scores, usable in ((scope.similarity, allowed), (words, allowed & (words > 0))):
            rows = np.flatnonzero(usable)
            yield rows[np.argsort(-scores[rows], kind="stable")[: self._limits.depth]]

    def _read(self, state: Snapshot, scope: Scope, rows: NDArray[np.int64]) -> Iterator[Candidate]:
        parts = [scope.part(row, row + 1) for row in rows.tolist()]
        texts: Sequence[str] = state.texts(parts)
        for row, (info, start, _), text in zip(rows.tolist(), parts, texts, strict=True):
            span, score = trimmed(text, start), float(scope.similarity[row])
            aside = bool(touched([span], self._sources[info.name].ignore))
            yield Candidate(info.name, span, text.strip(), score, None, aside)
