"""Marks: where in a text its pages, headings, tables and other parts are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from milepost.errors import InputError, WrongType
from milepost.wording import whole

MarkKind = Literal[
    "heading",
    "message",
    "attachment",
    "page",
    "label",
    "slide",
    "sheet",
    "cell",
    "row",
    "time",
    "line",
    "hidden",
    "table",
    "caption",
    "columns",
]

_INSIDE: dict[str, tuple[str, ...]] = {
    "message": ("attachment", "page", "label", "slide", "sheet", "cell", "row", "time"),
    "attachment": ("page", "label", "slide", "sheet", "cell", "row", "time"),
    "page": ("label",),
    "sheet": ("row",),
}
"""Kinds of marks that end where a mark of this kind begins."""

_KINDS = get_args(MarkKind)
_NUMBERS = ("page", "hidden", "table")  # kinds whose values are numbers that are computed with

_PLACES = {
    "message": "mail of {}",
    "attachment": "attachment {}",
    "page": "page {}",
    "label": "labelled {}",
    "slide": "slide {}",
    "sheet": "sheet {}",
    "cell": "cell {}",
    "row": "row {}",
    "time": "at {}",
    "hidden": "hidden text",
}
"""Kinds of marks that say where a text is, outermost first, in words."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The start of a page, heading, slide or other part at an offset of a text.

    A message ends the attachment before it; an attachment ends the pages, slides and sheets before
    it; a sheet ends the row before it, and a page the label before it.

    Attributes:
        offset: offset in code points; of a heading, that of its first word.
        kind: ``heading``, a part of the file (``page`` and its ``label``; ``slide``; ``sheet`` and
            ``row`` of spreadsheets; ``cell`` of notebooks; ``message`` and ``attachment`` of mail;
            ``time`` of subtitles), ``line`` (a line read from an image), ``hidden`` (invisible text
            that was kept), or a ``table`` (its rows are the lines of the text) with its ``caption``
            and ``columns`` at the same offset.
        value: the number, from 1, in digits (page, slide, row, cell); the name (sheet, attachment,
            label: what viewers call a page, such as "xii", where that is not its number);
            the time as the file has it, in full seconds; the date, YYYY-MM-DD, or ``unknown date``
            (message); the heading's or caption's text; page, left, top, right and bottom of the box
            (line); the number of characters (hidden); the numbers of characters of the table and of
            the lines at its top that name its columns, and where in it rows begin that cannot be
            split into cells (table); the columns' names, joined by bars (columns).
        level: 1–6 for a heading (1 = outermost), 0 for the others.
    """

    offset: int
    kind: MarkKind
    value: str
    level: int = 0


def checked_marks(marks: Iterable[Mark], length: int) -> tuple[Mark, ...]:
    """Marks of a text of ``length`` characters, sorted by offset.

    Raises:
        WrongType: a mark of an unknown kind, or whose value is none of its kind.
        InputError: a mark outside the text.
    """
    return tuple(sorted((_checked(mark, length) for mark in marks), key=lambda mark: mark.offset))


def _checked(mark: Mark, length: int) -> Mark:
    if mark.kind not in _KINDS:
        raise WrongType(f"marks: {mark.kind!r} is no kind of mark", ", ".join(_KINDS))
    numbers = mark.kind in _NUMBERS
    if not isinstance(mark.value, str) or (
        numbers and not all(map(str.isdecimal, mark.value.split() or [""]))
    ):
        wanted = "digits" if numbers else "str"
        raise WrongType(f"marks: a {mark.kind} must be {wanted}, not {mark.value!r}")
    if not 0 <= mark.offset <= length:
        raise InputError(f"marks: offset {mark.offset} is outside the {length} characters")
    return mark if mark.value.isascii() else replace(mark, value=whole(mark.value))


def mark_at(marks: Sequence[Mark], kind: str, offset: int) -> str | None:
    """Return the value of the last mark of a kind at or before ``offset``; marks are sorted."""
    before = (mark for mark in reversed(marks) if mark.kind == kind and mark.offset <= offset)
    return next((mark.value for mark in before), None)


def places_at(
    marks: Sequence[Mark], offset: int, span: tuple[int, int] | None = None
) -> dict[str, str]:
    """Map the kinds of the parts that contain ``offset`` to their values, outermost first.

    Headings are left out. ``hidden`` is included if hidden text overlaps ``span``, by default the
    character at ``offset``.
    """
    held: dict[str, str] = {}
    start, end = span or (offset, offset + 1)
    for mark in marks:
        if mark.kind == "hidden":
            if mark.offset < end and mark.offset + int(mark.value) > start:
                held["hidden"] = mark.value
        elif mark.kind in _PLACES and mark.offset <= offset:
            for inner in _INSIDE.get(mark.kind, ()):
                held.pop(inner, None)
            held[mark.kind] = mark.value
    return {kind: held[kind] for kind in _PLACES if kind in held}


def page_of(places: dict[str, str]) -> int | None:
    """Return the page from a result of ``places_at``, None for pages of attachments."""
    return int(places["page"]) if "page" in places and "attachment" not in places else None


def place_in_words(places: dict[str, str]) -> str | None:
    """Format a result of ``places_at`` for users; None if it is empty.

    >>> place_in_words({"sheet": "Costs", "row": "12"})
    'sheet Costs, row 12'
    """
    return ", ".join(_PLACES[kind].format(value) for kind, value in places.items()) or None
