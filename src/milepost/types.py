"""The immutable records that packages exchange; numpy is imported for type checking only.

Offsets are always code points of ``Document.text``; ends are exclusive.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from milepost._display import passage_html, passage_line
from milepost._numpy import NDArray, np
from milepost.errors import InputError, WrongType
from milepost.marks import Mark as Mark
from milepost.marks import checked_marks, mark_at, page_of, place_in_words, places_at
from milepost.properties import EMPTY, checked
from milepost.properties import Value as Value
from milepost.reading_options import READ_DEFAULTS as READ_DEFAULTS
from milepost.reading_options import Hidden as Hidden
from milepost.reading_options import Ocr as Ocr
from milepost.reading_options import OnPage as OnPage
from milepost.reading_options import ReadOptions as ReadOptions
from milepost.wording import whole

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page of the file.

    Coordinates are points (1/72 inch) from the top left corner of the page after rotation, as a
    viewer shows it.
    """

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a document and its structure.

    Attributes:
        name: identifies the document in an index: the absolute path, or a name chosen by the
            caller.
        text: the whole extracted text; all offsets refer to it.
        marks: pages, headings and other parts, sorted by offset.
        source: path of the file, or None for text passed by the caller.
        hash: sha256 (hex) of the file's bytes, or of the UTF-8 text if there is no file.
        notes: messages for users about unreadable parts ("pages 3-4 have no text: scanned?").
        blocks: sorted offsets of block boundaries (paragraph, heading, list item, table row, code
            line), at which a sentence must start. May be empty.
        properties: read-only metadata for filters, such as title, author and date; values are
            strings, numbers, booleans or several strings.
        locator: finds the boxes of a span, see ``boxes``; None if the format has none.
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
        for name in ("name", "text", "hash"):
            if not isinstance(value := getattr(self, name), str):
                raise WrongType(f"{name} must be str, not {type(value).__name__}")
        for name, kind in (("marks", Mark), ("notes", str), ("blocks", int)):
            several = getattr(self, name)
            if not isinstance(several, list | tuple) or not all(
                isinstance(each, kind) for each in several
            ):
                raise WrongType(f"{name} must be a tuple of {kind.__name__}")
            object.__setattr__(self, name, tuple(several))
        object.__setattr__(self, "marks", checked_marks(self.marks, len(self.text)))
        if self.source is not None:
            object.__setattr__(self, "source", str(os.fspath(self.source)))  # it may be a path
        object.__setattr__(self, "text", whole(self.text))
        object.__setattr__(self, "notes", tuple(map(whole, self.notes)))
        object.__setattr__(self, "properties", checked(self.properties))

    def boxes(self, start: int, end: int) -> list[Box]:
        """Locate ``text[start:end]`` on the pages of its PDF, with one box per printed line.

        The boxes are not stored but read from the file at each call. For pages read by text
        recognition, the stored box of each line is cut in proportion to the span's characters; for
        image files, the unit is the pixel.

        Raises:
            InputError: the document is neither a PDF nor an image, the span is outside the text,
                or the file is missing or has changed since it was read.
        """
        if self.locator is None:
            raise InputError(f"{self.name} has no page boxes", "a PDF file")
        if not 0 <= start <= end <= len(self.text):
            raise InputError(f"span {start}:{end} is outside the {len(self.text)} characters")
        return self.locator(start, end)

    def page(self, offset: int) -> int | None:
        """Return the page (from 1) at ``offset``, or None if the format has no pages."""
        return page_of(places_at(self.marks, offset))

    def heading(self, offset: int) -> str | None:
        """Return the nearest heading at or before ``offset``, or None."""
        return mark_at(self.marks, "heading", offset)

    def place(self, offset: int) -> str | None:
        """Describe where ``offset`` is in the file: ``page 4``, ``sheet Costs, row 12``."""
        return place_in_words(places_at(self.marks, offset))


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """The vectors of one text; ``==`` asks whether they are the same object.

    Attributes:
        vectors: ``(n, d)`` float32, unit length: one row per sentence, in text order. A row is the
            state at the sentence's landmark or, if landmarks follow a fixed number of tokens, the
            mean of the landmarks whose segments overlap the sentence.
        spans: ``(n, 2)`` int64: start and end of each sentence; they tile the text.
        document: ``(d,)`` float32, unit length: mean of the landmarks (LMK, arXiv 2601.21525);
            zeros for an empty text.
        tokens_given: number of tokens of the text, without special tokens and halos.
        tokens_read: number of tokens that windows own; always equal to ``tokens_given``, because
            nothing is truncated.
        vocab_coverage: ``(n,)`` float32 in 0–1: the share of the sentence that the tokenizer knows
            as whole words, estimated from the mean number of letters per token (0: single letters,
            1: whole words). A low value means a language or notation that the model does not know.
    """

    vectors: NDArray[np.float32]
    spans: NDArray[np.int64]
    document: NDArray[np.float32]
    tokens_given: int
    tokens_read: int
    vocab_coverage: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence of a passage; ``text == document_text[start:end]``.

    ``score``, 0–1, is how likely the sentence is to be evidence: the probability of its passage,
    times ``e`` to the power of how far its ``logit`` lies below that of the best sentence. Hits are
    sorted by ``logit``; ``contributions`` sum to it.
    """

    start: int
    end: int
    score: float
    logit: float
    contributions: dict[str, float] = field(hash=False)
    text: str


def nearly_best(hits: Sequence[Hit]) -> list[Hit]:
    """The hits at least half as likely as the best one, best first."""
    return [hit for hit in hits if hit.score >= 0.5 * hits[0].score]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: ``document_text[start:end]`` and its cells, one for each column."""

    start: int
    end: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table that answer, in order, with what names them.

    Attributes:
        caption: the caption of the table, or None.
        columns: the name of each column, empty if it has none; no columns if no row names them.
        rows: the rows.
    """

    caption: str | None
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of whole sentences that answers the question.

    ``text == document_text[start:end]`` always holds. ``document`` is the document's name in the
    index, ``source`` its file. ``score`` is the calibrated probability, 0–1, that the passage
    contains evidence, by which passages are sorted; ``hits`` are its sentences, best first.
    ``page`` (from 1), ``heading`` and ``place`` describe the first character of the best hit;
    ``place`` names the position in the file: ``page 4``, ``slide 4``, ``sheet Costs, row 12``,
    ``mail of 2026-03-01, attachment plan.pdf, page 2``. ``table`` has the rows with hits nearly as
    strong as the best, if that one is in a table; else it is None. ``lead_in`` is the
    sentence that introduces the list whose item the best hit is ("Not allowed are:"), or a question
    that the passage has in front of that.
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
    table: Table | None = None
    lead_in: str | None = None

    @property
    def best(self) -> Hit:
        """The sentence that answers: the first of the hits, without the white space after it."""
        hit = self.hits[0]
        text = hit.text.rstrip()
        return replace(hit, text=text, end=hit.start + len(text))

    def __repr__(self) -> str:
        return passage_line(self)

    def _repr_html_(self) -> str:
        return passage_html(self)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document for a vector store; ``milepost.chunks`` makes them.

    ``text == document_text[start:end]`` always holds; the chunks of a document tile its text.

    Attributes:
        text: whole sentences, with the white space after each.
        start, end: offsets in the document's text.
        vector: ``(d,)`` float32, unit length; ``==`` ignores it.
        page: the page (from 1) on which the chunk begins, or None if the format has no pages.
        heading: the nearest heading at or before the chunk's first sentence, or None.
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
class IndexReport:
    """The result of ``Index.add``: document names by outcome.

    ``failed`` maps names to reasons, ``notes`` maps names of indexed documents to messages about
    parts that could not be read.
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
