"""Training text: documents as token ids of their sentences, questions with evidence; licences."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from milepost.documents.sentences import split
from milepost.encoder.engine.tokenizer import Tokenizer

Progress = Callable[[str, int, int], object]
"""Called with the current work, the number done, and the total (0: unknown)."""

QUESTION_TOKENS = 128
"""Tokens that training reads of a question at most."""


@dataclass(frozen=True, slots=True)
class Text:
    """One document: token ids of all its sentences, flat.

    Attributes:
        ids: ``(tokens,)`` int32, no special tokens.
        starts: ``(n + 1,)`` int64: sentence ``i`` has ``ids[starts[i]:starts[i + 1]]``.
        spans: the sentences' code-point offsets in ``words``.
        words: the text, which a teacher reads with a tokenizer of its own.
        aside: numbers of sentences that are never negatives (headings).
    """

    name: str
    task: str
    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    spans: Sequence[tuple[int, int]]
    words: str = ""
    aside: tuple[int, ...] = ()

    def sentence(self, number: int) -> NDArray[np.int32]:
        """Token ids of one sentence."""
        return self.ids[self.starts[number] : self.starts[number + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each sentence, ``(n,)``."""
        return np.diff(self.starts)

    def part(self, first: int, last: int) -> Text:
        """Sentences ``first … last - 1`` as a text of their own; spans still count in ``words``."""
        begin, end = self.starts[first], self.starts[last]
        aside = tuple(n - first for n in self.aside if first <= n < last)
        starts = self.starts[first : last + 1] - begin
        return replace(
            self, ids=self.ids[begin:end], starts=starts, spans=self.spans[first:last], aside=aside
        )


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the numbers of the sentences of its ``text`` that its evidence touches.

    ``beside`` are sentences of its text that may answer it too: for it no negatives.
    """

    name: str
    task: str
    ids: NDArray[np.int32]
    text: int
    evidence: tuple[int, ...]
    words: str = ""
    beside: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A query, its passage as one short text, and passages that only look like an answer."""

    ids: NDArray[np.int32]
    text: Text
    words: str = ""
    negatives: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim or a question, sentences, and what these say of it (``loading.JUDGEMENTS``)."""

    ids: NDArray[np.int32]
    sentences: tuple[NDArray[np.int32], ...]
    label: str
    source: str


def repeated(questions: Iterable[str], others: Iterable[str]) -> set[str]:
    """The questions that are in both, whatever their case."""
    one, other = ({each.strip().casefold() for each in some} for some in (questions, others))
    return one & other


def held_out(document: str, share: float) -> bool:
    """Whether a document is kept back, by a hash of its name (or of its text).

    What the encoder has learned by heart flatters it; the fusion weights are therefore fitted
    on these documents' questions.
    """
    return hashed_share(document) < share


def hashed_share(document: str) -> float:
    """A number from 0 to 1, by a hash of a document's name or text."""
    digest = hashlib.sha256(document.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def tokenize(tokenizer: Tokenizer, name: str, task: str, text: str, longest: int = 128) -> Text:
    """Split a text into sentences and tokenise each.

    A sentence without tokens joins the one before it. Longer ones than ``longest`` are cut there:
    training needs no finer cut.
    """
    ids: list[int] = []
    starts = [0]
    spans: list[tuple[int, int]] = []
    sentences = split(text)
    encoded = tokenizer.encode([text[a:b] for a, b in sentences])
    for (start, end), encoding in zip(sentences, encoded, strict=True):
        tokens = encoding.ids[:longest]
        if not tokens:
            if spans:
                spans[-1] = (spans[-1][0], end)
            continue
        ids.extend(tokens)
        starts.append(len(ids))
        spans.append((start, end))
    found = np.array(ids, np.int32), np.array(starts, np.int64)
    return Text(name, task, *found, spans, words=text)


def touched(spans: Sequence[tuple[int, int]], evidence: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Numbers of the sentences that share a character with one of the evidence spans."""
    starts = np.array([a for a, _ in spans], np.int64)
    ends = np.array([b for _, b in spans], np.int64)
    found: set[int] = set()
    for start, end in evidence:
        found.update(np.flatnonzero((starts < end) & (ends > start)).tolist())
    return tuple(sorted(found))


def trimmed(words: str, start: int) -> tuple[int, int]:
    """The span of a text that begins at ``start``, white space at its edges left out."""
    first = start + len(words) - len(words.lstrip())
    return first, first + len(words.strip())


_CLOSED = re.compile(
    r"(?<![a-z])nc(?![a-z])|non?[\W_]*commercial|not[\W_]+for[\W_]+(profit|commercial)"
    r"|commercial[\W_]+(use|purposes?)[\W_]+(is[\W_]+|are[\W_]+)?(not|prohibited|forbidden|excluded)"
    r"|(research|academic|scholarly|educational|personal|private|evaluation)([\W_]+\w+)?[\W_]+"
    r"(only|purpose)|for[\W_]+(research|academic)"
)
"""``cc_by_nc_4.0``, "Non-Commercial", "for research purposes only"."""

_DERIVED = re.compile(r"(?<![a-z])nd(?![a-z])|no[\W_]*deriv|all rights reserved|proprietary")
"""Licences of texts that may be passed on, but not changed."""

_FREE = re.compile(
    r"cc[\W_]*(by|0|zero)(?![a-z])|creative commons (zero|attribution)|public[\W_]*domain|"
    r"government (edict|work)|(?<![a-z])(apache|bsd|isc|mpl|a?l?gpl|gfdl|ogl|psf|zlib|epl|eupl|"
    r"pddl|odc[\W_]*by|odbl|open[\W_]+database[\W_]+licen[cs]e|unlicen[cs]e|etalab)(?![a-z])"
    r"|(?<![a-z])(a?l?gpl|mpl|apache|bsd)[\W_v]*\d|open government licen[cs]e"
    # Words of other languages and names, too: alone, or as a licence.
    r"|(^|[;,/(]\s*|collection )mit( licen[cs]e)?($|[;,/)])|mit[\W_]+licen[cs]e"
    r"|(artistic|gnu)[\W_]+(\w+[\W_]+)*licen[cs]e"
)


def barred(licence: object) -> str:
    """What kind of licence keeps a document out: "" if it may be used.

    A document without a licence is its owner's, who trains on it. One whose licence is not
    recognised stays out: nobody has read its conditions.

    >>> barred("cc_by_nc_4.0"), barred("CC BY 4.0"), barred("Foo Public License"), barred(None)
    ('a non-commercial', '', 'an unrecognised', '')
    """
    said = str(licence or "").strip().casefold()
    if not said:
        return ""
    if _CLOSED.search(said):
        return "a non-commercial"
    if _DERIVED.search(said) or not _FREE.search(said):
        return "an unrecognised"
    return ""
