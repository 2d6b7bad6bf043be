"""The frozen records that cross rooms. Standard library only; arrays are named, not imported.

Offsets are always code points of ``Document.text``, end exclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from milepost.errors import InputError
from milepost.properties import EMPTY, checked
from milepost.properties import Value as Value
from milepost.reading_options import READ_DEFAULTS as READ_DEFAULTS
from milepost.reading_options import Hidden as Hidden
from milepost.reading_options import Ocr as Ocr
from milepost.reading_options import OnPage as OnPage
from milepost.reading_options import ReadOptions as ReadOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Span = tuple[int, int]

MarkKind = Literal[
    "heading", "message", "attachment", "page", "slide", "sheet", "cell", "row", "line", "hidden"
]

_INSIDE: dict[str, tuple[str, ...]] = {
    "message": ("attachment", "page", "slide", "sheet", "cell", "row"),
    "attachment": ("page", "slide", "sheet", "cell", "row"),
    "sheet": ("row",),
}
"""Kinds of marks that end where a mark of this kind begins."""

_PLACES = {
    "message": "mail of {}",
    "attachment": "attachment {}",
    "page": "page {}",
    "slide": "slide {}",
    "sheet": "sheet {}",
    "cell": "cell {}",
    "row": "row {}",
    "hidden": "hidden text",
}
"""Kinds of marks that say where a text is, outermost first, in words."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a text: from ``offset`` on, this page, heading, slide … holds.

    A mail ends the attachment before it, an attachment the pages, slides and sheets before it, and
    a sheet the row before it.

    Attributes:
        offset: code points into the text; for a heading, where its words start.
        kind: ``heading``, or what the file is made of: ``page``, ``slide``, ``sheet`` and ``row``
            (spreadsheets), ``cell`` (notebooks), ``message`` and ``attachment`` (mail).
        value: the number in the file, from 1, in digits (page, slide, row, cell); the name (sheet,
            attachment); the date, YYYY-MM-DD, or ``unknown date`` (message); the heading's words;
            page, left, top, right and bottom of the box (``line``: a line read from a picture);
            the number of characters (``hidden``: text that cannot be seen, which was kept).
        level: 1–6 for a heading (1 = outermost), 0 for the others.
    """

    offset: int
    kind: MarkKind
    value: str
    level: int = 0


def mark_at(marks: Sequence[Mark], kind: str, offset: int) -> str | None:
    """The value of the last mark of a kind at or before ``offset``; marks ascend by offset."""
    found = None
    for mark in marks:
        if mark.offset > offset:
            break
        if mark.kind == kind:
            found = mark.value
    return found


def places_at(marks: Sequence[Mark], offset: int, span: Span | None = None) -> dict[str, str]:
    """What holds at ``offset`` apart from headings: kind of mark → value, outermost first.

    Hidden text counts where any of it is in ``span`` (by default the character at ``offset``).
    """
    held: dict[str, str] = {}
    start, end = span or (offset, offset + 1)
    for mark in marks:
        if mark.kind == "hidden" and mark.offset < end and mark.offset + int(mark.value) > start:
            held["hidden"] = mark.value
    for mark in marks:
        if mark.offset > offset:
            break
        if mark.kind in _PLACES and mark.kind != "hidden":
            for inner in _INSIDE.get(mark.kind, ()):
                held.pop(inner, None)
            held[mark.kind] = mark.value
    return {kind: held[kind] for kind in _PLACES if kind in held}


def page_of(places: dict[str, str]) -> int | None:
    """The page of the file in a result of ``places_at``; pages of an attachment do not count."""
    return int(places["page"]) if "page" in places and "attachment" not in places else None


def place_in_words(places: dict[str, str]) -> str | None:
    """Write the result of ``places_at`` for users; None where the file has no such places.

    >>> place_in_words({"sheet": "Costs", "row": "12"})
    'sheet Costs, row 12'
    """
    return ", ".join(_PLACES[kind].format(value) for kind, value in places.items()) or None


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page of the file.

    In points (1/72 inch) from the top left corner of the page as a reader shows it, its rotation
    applied.
    """

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Document:
    """A text and what a reader knew about it.

    Attributes:
        name: what identifies it in an index: the absolute path, or a name given by the caller.
        text: the whole extracted text; every offset everywhere refers to it.
        marks: pages, headings and other places in ascending order of offset.
        source: the file it was read from, or None for text given by the caller.
        hash: sha256 (hex) of the file's bytes, or of the text in UTF-8 where there is no file.
        notes: what the reader could not read, for people ("pages 3-4 have no text: scanned?").
        blocks: borders the reader knows for certain (paragraph, heading, list item, table row,
            code line): offsets at which a sentence must start, ascending. May be empty.
        properties: title, author, date and what else is known of it, for filters: key → string,
            number, true or false, or several strings. The mapping cannot be changed.
    """

    name: str
    text: str
    marks: tuple[Mark, ...] = ()
    source: str | None = None
    hash: str = ""
    notes: tuple[str, ...] = ()
    blocks: tuple[int, ...] = ()
    properties: Mapping[str, Value] = EMPTY
    locator: Callable[[int, int], list[Box]] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "properties", checked(self.properties))

    def boxes(self, start: int, end: int) -> list[Box]:
        """Where ``text[start:end]`` stands on the pages of its PDF, one box a line of print.

        The boxes are read from the file again each time, so nothing of them is stored. Where pages
        were read from pictures, the box of each line is stored and cut at the span by characters;
        of a picture file it is in pixels.

        Raises:
            InputError: the document is not a PDF or a picture, the span is outside the text, or
                the file is gone or has changed since it was read.
        """
        if self.locator is None:
            raise InputError(f"{self.name} has no page boxes", "a PDF file")
        if not 0 <= start <= end <= len(self.text):
            raise InputError(f"span {start}:{end} is outside the {len(self.text)} characters")
        return self.locator(start, end)

    def page(self, offset: int) -> int | None:
        """The page (from 1) that holds ``offset``, or None where the format has no pages."""
        return page_of(places_at(self.marks, offset))

    def heading(self, offset: int) -> str | None:
        """The nearest heading at or before ``offset``, or None."""
        return mark_at(self.marks, "heading", offset)

    def place(self, offset: int) -> str | None:
        """Where ``offset`` is in the file, in words: ``page 4``, ``sheet Costs, row 12``."""
        return place_in_words(places_at(self.marks, offset))


@dataclass(frozen=True, slots=True)
class Landmarks:
    """What a model read of one text.

    Attributes:
        vectors: ``(n, d)`` float32, unit length: one row a sentence, in text order: its landmark,
            or, where landmarks close so many tokens, the mean of those whose tokens it shares.
        spans: ``(n, 2)`` int64: start and end of each sentence; they tile the text.
        document: ``(d,)`` float32, unit length: mean of the landmarks (LMK, arXiv 2601.21525);
            zeros for an empty text.
        tokens_given: tokens of the text, special tokens and halo not counted.
        tokens_read: tokens that entered the network as owned by a window; equal to
            ``tokens_given``, always: nothing is truncated.
        vocab_coverage: ``(n,)`` float32 in 0–1: how much of the sentence the tokenizer knows as
            whole words, from the letters its tokens hold on average (0: letter by letter, 1: whole
            words); low means a language or notation that the model was not made for.
    """

    vectors: NDArray[np.float32]
    spans: NDArray[np.int64]
    document: NDArray[np.float32]
    tokens_given: int
    tokens_read: int
    vocab_coverage: NDArray[np.float32]


class Reader(Protocol):
    """What reads texts and questions into vectors of one space; ``milepost.Encoder`` does."""

    def encode(self, text: str | Document) -> Landmarks:
        """Landmarks of a text."""

    def encode_query(self, question: str) -> NDArray[np.float32]:
        """Vector of a question, ``(d,)``, unit length."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence of a passage.

    ``score`` is the calibrated probability, 0–1, that it is evidence; ``logit`` its log-odds by
    the ranking, which ``parts`` sum to and which order the hits.
    """

    start: int
    end: int
    score: float
    logit: float
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of whole sentences that answers the question.

    ``text == document_text[start:end]``, always. ``document`` is the document's name in the
    index, ``source`` its file. ``score`` is the calibrated probability, 0–1, that the passage
    holds evidence, and orders the passages of a result; ``hits`` are its sentences, best first.
    ``page`` (from 1), ``heading`` and ``place`` are those of the best hit's first character;
    ``place`` says in words where that is, for every format that has such places: ``page 4``,
    ``slide 4``, ``sheet Costs, row 12``, ``mail of 2026-03-01, attachment plan.pdf, page 2``.
    """

    text: str
    document: str
    source: str | None
    start: int
    end: int
    score: float
    hits: tuple[Hit, ...]
    heading: str | None
    page: int | None
    place: str | None = None


Verdict = Literal["verbatim", "near", "supported", "not found"]
"""Whether a text is in the documents; see ``Check``."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a checked text and a document have in place of each other.

    ``given`` is ``Check.text[given_start:given_end]``, ``text`` is ``document_text[start:end]``.
    One of them may be empty.
    """

    given: str
    text: str
    given_start: int
    given_end: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a document that holds a checked text, word for word or nearly.

    ``text == document_text[start:end]``, always; ``page``, ``heading`` and ``place`` (see
    ``Passage``) are those of its first character.

    Attributes:
        similarity: 0–1, the share of the checked words that is there; 1 where all are.
        ignored: in what the place is not equal and counts as equal: ``white space``,
            ``hyphenation``, ``case``, ``typography`` (quotation marks, dashes, ligatures, other
            forms of a letter); empty where every character is equal.
        differences: in order; empty for a place that holds the text word for word.
    """

    document: str
    source: str | None
    start: int
    end: int
    text: str
    page: int | None
    heading: str | None
    similarity: float
    ignored: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a text is in the documents, and where.

    Attributes:
        text: what was looked for: without white space and quotation marks around it.
        verdict: ``verbatim``: word for word; ``near``: but for some words; ``supported``: a passage
            says so with a probability of ``min_score`` or more; ``not found``: none of these.
        places: where it is verbatim, in the order of the documents, or near, the most similar
            first; else none.
        passages: what supports it, the most probable first, where it is neither.
        best: the greatest probability of a passage, of those under ``min_score`` too; 0 where
            passages were not asked for.
        notes: for users.
    """

    text: str
    verdict: Verdict
    places: tuple[Place, ...] = ()
    passages: tuple[Passage, ...] = ()
    best: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document for another program's store; made by ``milepost.chunks``.

    ``text == document_text[start:end]``, always; the chunks of a document tile its text.

    Attributes:
        text: whole sentences, with the white space after each.
        start, end: offsets into the document's text.
        vector: ``(d,)`` float32, unit length; not compared by ``==``.
        page: the page (from 1) on which it begins, or None where the format has no pages.
        heading: the nearest heading at or before its first sentence, or None.
        document: the document's name.
    """

    text: str
    start: int
    end: int
    vector: NDArray[np.float32] = field(compare=False)
    page: int | None
    heading: str | None
    document: str


@dataclass(frozen=True, slots=True)
class Report:
    """What ``index.add`` did, by document name.

    ``failed`` maps a name to its reason, ``notes`` to what a reader could not read in a document
    that was indexed all the same.
    """

    added: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sentences: int = 0
    tokens: int = 0
    seconds: float = 0.0
