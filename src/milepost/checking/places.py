"""What a check returns: places in documents, and the result that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from milepost.checking.claims import with_kinds
from milepost.marks import mark_at, page_of, place_in_words, places_at
from milepost.quotes import MAX_WORDS, Folded, Occurrence
from milepost.store import DocumentInfo, Snapshot
from milepost.types import Document, Mark
from milepost.verdicts import CheckResult, Match, Verdict

MAX_PLACES = 50
"""Maximum number of places that hold a text word for word: a common word has thousands."""


Found = tuple[DocumentInfo, Occurrence]
"""A document of a store, and where it holds a text."""


def stored_places(snapshot: Snapshot, held: Sequence[Found]) -> list[Match]:
    """Return the places in documents of a store, with their text."""
    texts = snapshot.texts([(info, found.start, found.end) for info, found in held])
    marks = snapshot.marks([info for info, _ in held])
    parts = zip(held, texts, marks, strict=True)
    return [place_of(info, found, text, own) for (info, found), text, own in parts]


def place_of(
    document: DocumentInfo | Document, found: Occurrence, text: str, marks: Sequence[Mark]
) -> Match:
    """Return one place, by the marks of its document."""
    match = Match(
        document=document.name,
        source=document.source,
        start=found.start,
        end=found.end,
        text=text,
        page=None,
        heading=None,
        similarity=found.similarity,
        ignored=found.ignored,
        differences=found.differences,
    )
    return in_place(match, marks)


def in_place(match: Match, marks: Sequence[Mark]) -> Match:
    """A match with the page, heading and place of its first character."""
    places = places_at(marks, match.start, (match.start, match.end))
    return replace(
        match,
        page=page_of(places),
        heading=mark_at(marks, "heading", match.start),
        place=place_in_words(places),
    )


def checked(given: Folded, verdict: Verdict, held: Sequence[Match]) -> CheckResult:
    """Say that a text stands at some places; where nearly, what kinds of words differ."""
    if verdict == "near":
        held = [with_kinds(given.text, place) for place in held]
    notes = notes_of(given) if verdict != "verbatim" else ()
    if len(held) == MAX_PLACES:
        notes = (*notes, f"the first {MAX_PLACES} places are given; there may be more")
    return CheckResult(given.text, verdict, tuple(held), notes=notes)


def notes_of(given: Folded) -> tuple[str, ...]:
    """What users should know of a text that is not there word for word."""
    if len(given.text.split()) > MAX_WORDS:
        return (f"texts of more than {MAX_WORDS:,} words are only looked for word for word",)
    return ()
