"""Hard negatives: sentences that a model or shared words rank high and that are not evidence.

The documents are read once to count words and to keep their landmarks on disk, then once more for
each block of questions, block by block of sentences: memory grows with neither. A line of the
output:

    {"id": "q1", "question": "Who lays the eggs?", "document": "bees", "spans": [[25, 49]],
     "positive": 0.71, "negatives": [
       {"document": "bees", "span": [0, 24], "score": 0.4, "by": "landmarks"}, …]}

``score`` and ``positive`` are cosines of landmarks with the question. ``by`` is ``landmarks``,
``words`` (BM25) or ``both``.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.encoder import Encoder
from milepost.errors import InputError, nearest
from milepost.language.terms import question_terms, terms
from milepost.types import Span
from milepost_eval.tasks.reading import Line, lines, need_questions, question_text, spans_of
from milepost_eval.types import Split
from milepost_train.collection import Block, Sentences, Statistics, blocks, sentences_of
from milepost_train.generated import Source, question_lines, sources
from milepost_train.journal import Journal, Written
from milepost_train.negatives import Candidate, Evidence, Limits, choose

Progress = Callable[[str, int, int], object]
"""Called with the current work, the number done, and the total (0: unknown)."""


@dataclass
class _Asked:
    name: str
    text: str
    line: Line
    spans: tuple[Span, ...] = ()
    document: str = ""
    evidence: Evidence = field(default_factory=lambda: Evidence(0.0, ()))
    inside: list[list[Candidate]] = field(default_factory=lambda: [[], []])
    outside: list[list[tuple[float, int, Candidate]]] = field(default_factory=lambda: [[], []])


def mine(
    documents: Path,
    questions: Path,
    out: Path,
    encoder: Encoder,
    limits: Limits | None = None,
    *,
    split: Split = "train",
    allow_nc: bool = False,
    at_once: int = 1024,
    progress: Progress = lambda *_: None,
) -> Written:
    """Write the hard negatives of every question of a split to ``out``.

    An interrupted run resumes, if everything the
    output depends on is the same.

    Args:
        documents: JSON lines of documents (``id``, ``text``; ``licence``, ``split``, ``ignore``
            and ``beside`` where they are known).
        questions: JSON lines of questions (``question``, ``document``, ``spans``; ``id``,
            ``split``); the same file where one holds both.
        out: the file to write.
        encoder: its landmarks rank, and judge what words have found.
        limits: how many negatives, and what is none.
        split: which questions; documents of which only other splits ask are left out.
        allow_nc: keep documents whose licence is non-commercial or not recognised.
        at_once: questions that are mined in one reading of the collection.
        progress: see ``Progress``.

    Raises:
        UnreadableFile: a file is missing or damaged.
        InputError: no question to mine for, or ``out`` was made with other settings.
    """
    limits = limits or Limits()
    settings = {
        "command": "mine",
        "documents": _digest(documents),
        "questions": _digest(questions),
        "model": encoder.fingerprint,
        "split": split,
        "allow_nc": allow_nc,
        "at_once": at_once,
        **asdict(limits),
    }
    with Journal(out, settings) as journal:
        work = _Work(documents, encoder, limits, split, allow_nc, progress)
        asked = work.survey(questions)
        need_questions(asked, split, questions, work.bad)
        for first in range(0, len(asked), at_once):
            block = asked[first : first + at_once]
            piece = f"questions {first} to {first + len(block) - 1}"
            if piece not in journal.done:
                counts: Counter[str] = Counter()
                work.search(block)
                rows = [_row(each, limits, counts) for each in block]
                journal.write(piece, rows, counts)
            progress("mining", first + len(block), len(asked))
        return Written(journal.counts + work.dropped, work.bad)


class _Work:
    """The documents, and what was learned of all of them at the first reading."""

    def __init__(
        self,
        path: Path,
        encoder: Encoder,
        limits: Limits,
        split: Split,
        allow_nc: bool,
        progress: Progress,
    ) -> None:
        self.dropped: Counter[str] = Counter()
        self.bad: list[InputError] = []
        self._path, self._encoder, self._limits = path, encoder, limits
        self._split: Split = split
        self._allow_nc, self._progress = allow_nc, progress
        self._statistics = Statistics(frozenset())
        self._both = False  # one file holds documents and questions
        self._others: set[str] = set()  # documents of which only other splits ask
        self._wanted: set[str] = set()

    def survey(self, questions: Path) -> list[_Asked]:
        """Read everything once; returns the questions that can be mined for."""
        self._both = self._path.resolve() == questions.resolve()
        asked = self._questions(questions)
        self._statistics = Statistics({t for each in asked for t in question_terms(each.text)})
        by_document: dict[str, list[_Asked]] = {}
        for each in asked:
            by_document.setdefault(each.line.name("document"), []).append(each)
        self._wanted = set(by_document)
        good: list[_Asked] = []
        known: set[str] = set()
        for number, source in enumerate(self._sources(self.dropped, self.bad), 1):
            name = source.document.name
            known.add(name)
            for each in by_document.get(name, ()):
                try:
                    value = each.line.fields.get("spans")
                    each.spans = spans_of(each.line, value, source.document)
                    if not any(source.document.text[a:b].strip() for a, b in each.spans):
                        raise each.line.wrong("'spans' hold white space", "mark the words")
                except InputError as error:
                    self.bad.append(error)
                    continue
                each.document = name
                good.append(each)
            if self._limits.collection or name in by_document:
                self._statistics.add(sentences_of(source, self._encoder))
            self._progress("reading documents", number, 0)
        left_out = self._left_out(known)
        for name in sorted(set(by_document) - known):
            if name in left_out:
                self.dropped["question about a document that is left out"] += len(by_document[name])
                continue
            hint = f"{nearest(name, known)}add its line to {self._path}"
            self.bad.extend(
                each.line.wrong(f"no document {name!r}", hint) for each in by_document[name]
            )
        order = {id(each): number for number, each in enumerate(asked)}
        return sorted(good, key=lambda each: order[id(each)])

    def search(self, block: Sequence[_Asked]) -> None:
        """Find the candidates of some questions, in their documents and in all others."""
        vectors = np.array([self._encoder.encode_query(each.text) for each in block])
        own = {each.document for each in block}
        read = (
            sentences_of(source, self._encoder)
            for source in self._sources(Counter(), [])
            if self._limits.collection or source.document.name in own
        )
        seen = 0
        for part in blocks(read, self._statistics):
            similar = vectors @ part.vectors.T
            for each, row in zip(block, similar, strict=True):
                self._look(each, part, row, part.by_words(each.text), seen)
            seen += int(part.document_offsets[-1])

    def _look(
        self,
        asked: _Asked,
        part: Block,
        similar: NDArray[np.float32],
        words: NDArray[np.float32],
        seen: int,
    ) -> None:
        """Take in what a block of sentences holds for one question."""
        outside = np.ones(len(similar), bool)
        for read, (first, last) in zip(
            part.documents,
            zip(part.document_offsets, part.document_offsets[1:], strict=False),
            strict=True,
        ):
            if read.source.document.name == asked.document:
                outside[first:last] = False
                inside = slice(int(first), int(last))
                self._look_inside(asked, read, similar[inside], words[inside])
        if not self._limits.collection:
            return
        for kept, scores in zip(asked.outside, (similar, words), strict=True):
            least = kept[-1][0] if len(kept) == self._limits.depth else -np.inf
            better = outside & (scores > least)
            if scores is words:
                better &= words > 0
            for row in _best(np.flatnonzero(better), scores, self._limits.depth):
                read, number = part.owner(row)
                found = _candidate(read, number, float(similar[row]))
                kept.append((float(scores[row]), seen + row, found))
            kept.sort(key=lambda each: (-each[0], each[1]))
            del kept[self._limits.depth :]

    def _look_inside(
        self,
        asked: _Asked,
        read: Sentences,
        similar: NDArray[np.float32],
        words: NDArray[np.float32],
    ) -> None:
        """Take in the question's own document: its evidence, and candidates beside it."""
        evidence = read.touching(asked.spans)
        asked.evidence = Evidence(
            float(similar[evidence].max()) if evidence else 0.0,
            [frozenset(terms(read.text(number))) for number in evidence],
        )
        source = read.source
        aside = set(read.touching([*source.ignore, *source.beside.get(asked.name, ())]))
        rows = np.arange(len(similar))
        near = np.full(len(similar), len(similar))
        for number in evidence:
            near = np.minimum(near, np.abs(rows - number))
        for kept, scores in zip(asked.inside, (similar, words), strict=True):
            allowed = near > 0
            if scores is words:
                allowed &= words > 0
            kept.extend(
                _candidate(read, row, float(similar[row]), int(near[row]), row in aside)
                for row in _best(np.flatnonzero(allowed), scores, self._limits.depth)
            )

    def _questions(self, path: Path) -> list[_Asked]:
        """Questions of the split; also learns which documents are other splits'."""
        asked: list[_Asked] = []
        documents: dict[bool, set[str]] = {True: set(), False: set()}
        for name, document, line, split in question_lines(path, self.bad, documents=self._both):
            documents[split == self._split].add(document)
            if split == self._split:
                asked.append(_Asked(name, question_text(line, "question"), line))
            else:
                self.dropped["question of another split"] += 1
        self._others = documents[False] - documents[True]
        return asked

    def _sources(self, dropped: Counter[str], bad: list[InputError]) -> Iterator[Source]:
        for source in sources(
            [self._path],
            dropped,
            bad,
            split=self._split,
            allow_nc=self._allow_nc,
            questions=self._both,
        ):
            if source.document.name in self._others:
                dropped["document of another split"] += 1
            else:
                yield source

    def _left_out(self, known: set[str]) -> set[str]:
        """Names of documents that are there and are not read."""
        every = (line.fields.get("id") for line in lines(self._path, []) if "text" in line.fields)
        return {str(name) for name in every if name is not None} - known


def _candidate(
    read: Sentences, number: int, score: float, near: int | None = None, aside: bool | None = None
) -> Candidate:
    if aside is None:
        aside = bool(read.source.ignore) and number in read.touching(read.source.ignore)
    return Candidate(
        read.source.document.name, read.spans[number], read.text(number), score, near, aside
    )


def _best(rows: NDArray[np.int64], scores: NDArray[np.float32], most: int) -> list[int]:
    """The ``most`` best of some rows, best first; equal ones in order."""
    return [int(row) for row in rows[np.argsort(-scores[rows], kind="stable")[:most]]]


def _row(asked: _Asked, limits: Limits, counts: Counter[str]) -> dict[str, Any]:
    outside = [[found for _, _, found in ranking] for ranking in asked.outside]
    dropped: Counter[str] = Counter()
    negatives = [
        *choose(asked.inside, asked.evidence, limits, limits.document, dropped),
        *choose(outside, asked.evidence, limits, limits.collection, dropped),
    ]
    counts["questions"] += 1
    counts["questions without a negative"] += not negatives
    counts.update(f"negatives by {each['by']}" for each in negatives)
    counts.update({f"candidate: {why}": number for why, number in dropped.items()})
    return {
        "id": asked.name,
        "question": asked.text,
        "document": asked.document,
        "spans": [list(span) for span in asked.spans],
        "positive": round(asked.evidence.score, 4),
        "negatives": negatives,
    }


def _digest(path: Path) -> str:
    """The file's hash; "" for one that is not there, which the reader will say better."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
