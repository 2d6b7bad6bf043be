"""Hard negatives: sentences that a model or shared words rank high and that are not evidence.

The documents are read once, into an index that lasts as long as the command; each question is then
asked of its own document and of all others, as a search asks. A line of the output:

    {"id": "q1", "question": "Who lays the eggs?", "document": "bees", "spans": [[25, 49]],
     "positive": 0.71, "negatives": [
       {"document": "bees", "span": [0, 24], "score": 0.4, "by": "landmarks"}, …]}

``score`` and ``positive`` are cosines of landmarks with the question, by the index. ``by`` is
``landmarks``, ``words`` (BM25) or ``both``.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.encoder import Encoder
from milepost.errors import InputError
from milepost.index.entries import entry, hashed
from milepost.language.terms import terms
from milepost.search.query import Query
from milepost.search.scope import Scope, gather
from milepost.store import Snapshot, Store, open_store
from milepost.types import Span
from milepost_eval.tasks.reading import Line, need_questions, question_text, spans_of
from milepost_eval.types import Question, Split
from milepost_train.data import touched, trimmed
from milepost_train.generated import Source, asked_documents, collected
from milepost_train.journal import Journal, Written
from milepost_train.negatives import Candidate, Evidence, Limits, choose

Progress = Callable[[str, int, int], object]
"""Called with the current work, the number done, and the total (0: unknown)."""


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
    settings = {
        "command": "mine",
        "documents": _digest(documents),
        "questions": _digest(questions),
        "model": encoder.fingerprint,
        "split": split,
        "allow_nc": allow_nc,
        **asdict(limits),
    }
    with Journal(out, settings) as journal, TemporaryDirectory() as scratch:
        store = open_store(
            Path(scratch) / "index",
            fingerprint=encoder.fingerprint,
            dimensions=encoder.dimensions,
        )
        work = _Work(encoder, limits, store)
        found = asked_documents(
            documents, questions, work.dropped, work.bad, split=split, allow_nc=allow_nc
        )
        asked = work.survey(found, progress)
        need_questions(asked, split, questions, work.bad)
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
        """Read everything once; returns the questions that can be mined for."""
        good: list[tuple[int, Question]] = []
        for number, (source, about) in enumerate(found, 1):
            document = source.document
            for name, line in about:
                with collected(self.bad):
                    spans = spans_of(line, line.fields.get("spans"), document)
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
        """The line of a question."""
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
            outside = [
                [
                    Candidate(name, span, text, float(scope.similarity[n]), None, aside)
                    for n, name, span, text, aside in self._read(state, scope, rows)
                ]
                for rows in self._best(scope, allowed)
            ]
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
        spans, similar = [span for _, _, span, _, _ in every], scope.similarity
        held = touched(spans, asked.spans)
        evidence = Evidence(
            float(similar[list(held)].max()) if held else 0.0,
            [frozenset(terms(every[n][3])) for n in held],
        )
        beside = set(touched(spans, self._sources[asked.document].beside.get(asked.name, ())))
        near = np.full(len(spans), len(spans))
        for number in held:
            near = np.minimum(near, np.abs(np.arange(len(spans)) - number))
        found = [
            Candidate(name, span, text, float(similar[n]), int(near[n]), aside or n in beside)
            for n, name, span, text, aside in every
        ]
        return evidence, [[found[n] for n in rows] for rows in self._best(scope, near > 0)]

    def _best(self, scope: Scope, allowed: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
        """The best rows by landmarks and by words, equal ones in order."""
        words = scope.lexical[0]
        for scores, usable in ((scope.similarity, allowed), (words, allowed & (words > 0))):
            rows = np.flatnonzero(usable)
            yield rows[np.argsort(-scores[rows], kind="stable")[: self._limits.depth]]

    def _read(
        self, state: Snapshot, scope: Scope, rows: NDArray[np.int64]
    ) -> Iterator[tuple[int, str, Span, str, bool]]:
        """Row, document, span, text and whether it is set aside, white space left out."""
        parts = [scope.part(row, row + 1) for row in rows.tolist()]
        texts: Sequence[str] = state.texts(parts)
        for row, (info, start, _), text in zip(rows.tolist(), parts, texts, strict=True):
            span = trimmed(text, start)
            ignore = self._sources[info.name].ignore
            yield row, info.name, span, text.strip(), bool(touched([span], ignore))


def _digest(path: Path) -> str:
    """The file's hash; "" for one that is not there, which the reader will say better."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
