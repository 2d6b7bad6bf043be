"""Long documents cut to several lengths, and questions that each cut can answer.

The shortest cut of a document has ``FIRST`` tokens (or another ``shortest``): those with the
evidence of the most questions. Only questions about it, and titles, are kept. A longer cut adds
text on both sides, in proportion to the document:

    cut of L tokens of a document of N begins at   first * (N - L) / (N - shortest)

So every cut contains the shorter ones, the questions are the same at all lengths, and the evidence
can be anywhere. Lengths differ only in the amount of other text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from pathlib import Path

from tokenizers import Tokenizer

from milepost.text.sentences import split
from milepost.types import Span
from milepost_eval.embedders.base import whole_characters
from milepost_eval.tasks.articles import read_articles
from milepost_eval.tasks.reading import lines
from milepost_eval.tasks.shared import read_folder
from milepost_eval.types import Question, Split, Task
from milepost_train.model.lmk import chunks

TASKS = ("written", "meetings", "trials", "covid_papers")
FIRST = 1024
"""Tokens of the shortest cut, where nobody says."""
STEP = 256
"""Cuts begin at multiples of it."""
_LONGEST = 128  # tokens of one sentence

Sentences = list[list[int]]


@dataclass(frozen=True, slots=True)
class LongDocument:
    """A document as token ids.

    Attributes:
        name: as in its task.
        task: where it is from.
        text: token ids of each sentence.
        tokens: of all sentences.
        first: where the shortest cut begins.
        shortest: tokens of the shortest cut.
    """

    name: str
    task: str
    text: Sentences
    tokens: int
    first: int
    shortest: int = FIRST

    def start(self, length: int) -> int:
        """The token with which the cut of ``length`` tokens begins."""
        if length >= self.tokens:
            return 0
        exact = self.first * (self.tokens - length) / (self.tokens - self.shortest)
        return int(exact) // STEP * STEP

    def cut(self, length: int) -> Sentences:
        """The sentences of a cut; the whole text where it is no longer."""
        return stretch(self.text, self.start(length), length)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to which one document is the answer.

    Attributes:
        name: of the question.
        kind: ``title``, or the task of the question.
        document: name of the document.
        text: token ids, as one sentence.
    """

    name: str
    kind: str
    document: str
    text: Sentences


class Words:
    """Texts to token ids.

    Args:
        source: a ``tokenizer.json``, or what was read of one (which is changed).
        opening: the token in front of a text; empty for none.
        closing: the token behind a sentence.

    Attributes:
        opening: its id; None for none.
        closing: its id.
    """

    def __init__(
        self, source: Path | Tokenizer, opening: str = "[CLS]", closing: str = "[SEP]"
    ) -> None:
        self._tokenizer = Tokenizer.from_file(str(source)) if isinstance(source, Path) else source
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True
        known = self._tokenizer.get_vocab()
        self.opening: int | None = known[opening] if opening else None
        self.closing: int = known[closing]

    def ids(self, texts: Sequence[str]) -> Sentences:
        """Token ids of each text, without special tokens; half a surrogate pair reads as �."""
        whole = [whole_characters(text) for text in texts]
        found = self._tokenizer.encode_batch_fast(whole, add_special_tokens=False)
        return [encoding.ids for encoding in found]

    def text(self, sentences: Sequence[Sequence[int]]) -> str:
        """Token ids as words again, as far as the tokenizer keeps them."""
        return str(self._tokenizer.decode(list(chain.from_iterable(sentences))))

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """What the vocabulary calls each token."""
        return [self._tokenizer.id_to_token(number) or "" for number in ids]

    def sentences(self, text: str) -> tuple[Sentences, list[tuple[int, int, int]]]:
        """Token ids in pieces, and of each sentence start and end in the text, and its tokens.

        Sentences of more than 128 tokens are several pieces.
        """
        spans = split(text)
        ids = self.ids([text[start:end] for start, end in spans])
        pieces = [list(piece) for sentence in ids for piece in chunks(sentence, _LONGEST)]
        sizes = map(len, ids)
        return pieces, [(*span, size) for span, size in zip(spans, sizes, strict=True)]


def stretch(text: Sequence[Sequence[int]], start: int, length: int) -> Sentences:
    """``length`` tokens from the ``start``-th on; sentences at the edges are cut as well.

    >>> stretch([[1, 2], [3, 4, 5], [6]], 1, 3)
    [[2], [3, 4]]
    """
    kept, at = [], 0
    for sentence in text:
        part = sentence[max(0, start - at) : max(0, start + length - at)]
        at += len(sentence)
        if part:
            kept.append(list(part))
    return kept


def gather(
    shared: Path,
    words: Words,
    *,
    least: int,
    documents: int,
    questions: int,
    shortest: int = FIRST,
    splits: Sequence[Split] = ("dev",),
) -> tuple[list[LongDocument], list[Asked]]:
    """The longest documents that have questions.

    Args:
        shared: folder of ``corpus`` and ``tasks``.
        words: the model's.
        least: tokens a document has.
        documents: at most so many, longest first.
        questions: most questions about one of them: written ones have 25 each, others one.
        shortest: tokens of the shortest cut, which holds the evidence.
        splits: of these splits; studies that choose nothing may take test documents.
    """
    found: list[LongDocument] = []
    asked: list[Asked] = []
    for task in chain.from_iterable(_tasks(shared, each) for each in splits):
        about: dict[str, list[Question]] = {}
        for question in task.questions:
            about.setdefault(question.document, []).append(question)
        for document in task.documents:
            if len(document.text) < 2 * least or document.name not in about:
                continue
            text, sentences = words.sentences(document.text)
            tokens = sum(map(len, text))
            if tokens < least:
                continue
            places = {q.name: in_tokens(q.spans, sentences) for q in about[document.name]}
            first = first_of(document.name, tokens, list(places.values()), shortest)
            kept = [
                question
                for question in about[document.name]
                if question.kind == "title" or inside(places[question.name], first, shortest)
            ]
            kept.sort(key=lambda question: (question.kind != "title", stable(question.name)))
            if kept:
                found.append(LongDocument(document.name, task.name, text, tokens, first, shortest))
            for question in kept[:questions]:
                kind = "title" if question.kind == "title" else question.name.partition("/")[0]
                asked.append(Asked(question.name, kind, document.name, words.ids([question.text])))
    found = sorted(found, key=lambda document: -document.tokens)[:documents]
    names = {document.name for document in found}
    return found, [question for question in asked if question.document in names]


def _tasks(shared: Path, part: Split) -> list[Task]:
    """Articles with their titles, and the tasks; a document is in one of them only.

    A question's name says its task: ``trials/12``.
    """
    articles = read_articles(shared / "corpus", part, headings=0)
    texts = {document.name: document.text for document in articles.documents}
    questions = list(articles.questions)
    found: list[Task] = []
    for name in TASKS:
        task = read_folder(shared / "tasks" / name, part)
        whole = {document.name: document.text for document in task.documents}
        asked = []
        for question in task.questions:
            named = replace(question, name=f"{name}/{question.name}")
            if question.document in texts:
                questions.append(_moved(named, whole, texts))
            else:
                asked.append(named)
        others = tuple(document for document in task.documents if document.name not in texts)
        found.append(replace(task, documents=others, questions=tuple(asked)))
    return [replace(articles, questions=tuple(questions)), *found]


def _moved(question: Question, old: Mapping[str, str], new: Mapping[str, str]) -> Question:
    """The question, its evidence found again in the text from which the title was taken out."""
    before, after = old[question.document], new[question.document]
    parts = [before[start:end] for start, end in question.spans]
    spans = tuple((at, at + len(part)) for part in parts if (at := after.find(part)) >= 0)
    return replace(question, spans=spans)


def in_tokens(
    spans: Sequence[Span], sentences: Sequence[tuple[int, int, int]]
) -> list[tuple[int, int]]:
    """First and last token (exclusive) of the sentences that each span touches."""
    starts = [0, *accumulate(tokens for *_, tokens in sentences)]
    places = []
    for start, end in spans:
        touched = [n for n, (a, b, _) in enumerate(sentences) if a < end and start < b]
        places.append((starts[touched[0]], starts[touched[-1] + 1]))
    return places


def inside(places: Sequence[tuple[int, int]], first: int, shortest: int = FIRST) -> bool:
    """Whether one of the places lies within the shortest cut."""
    return any(first <= start and end <= first + shortest for start, end in places)


def first_of(
    name: str, tokens: int, places: Sequence[Sequence[tuple[int, int]]], shortest: int = FIRST
) -> int:
    """Where the shortest cut begins: with the evidence of most questions, else by the name."""
    return max(
        range(0, tokens - shortest + 1, STEP),
        key=lambda at: (
            sum(inside(each, at, shortest) for each in places),
            stable(f"{name} {at}"),
        ),
    )


def short_pairs(
    folder: Path, names: Sequence[str], words: Words, count: int, size: int
) -> list[tuple[Sentences, Sentences]]:
    """Queries and passages, these of at least ``size`` tokens and cut there; none twice.

    Args:
        folder: of ``NAME.jsonl.gz``.
        names: of the sets.
        words: the model's.
        count: most pairs, in an order that depends on the passages alone.
        size: tokens.
    """
    queries = queries_by_passage(folder, names)
    pairs: list[tuple[Sentences, Sentences]] = []
    for passage in sorted(queries, key=stable):
        if len(pairs) == count:
            break
        if len(passage) < 2 * size:  # too short, and splitting takes time
            continue
        text, _ = words.sentences(passage)
        query = stretch(words.ids([queries[passage]]), 0, _LONGEST)
        if sum(map(len, text)) >= size and query:
            pairs.append((query, stretch(text, 0, size)))
    return pairs


def queries_by_passage(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Every passage of the sets once, with the first query that it answers."""
    queries: dict[str, str] = {}
    for name in names:
        for line in lines(folder / f"{name}.jsonl.gz"):
            queries.setdefault(line.text("passage"), line.text("query"))
    return queries


def stable(name: str) -> str:
    """A hexadecimal number that depends on the name alone, for draws and orders."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
