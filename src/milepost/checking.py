"""Whether a text is in documents: word for word, nearly, or in other words.

verbatim   ``quotes.occurrences`` over all text, or over what the store's postings point to
near       ``quotes.near`` over the stretches that hold its rare words
supported  the search, with the text as the question
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from milepost.errors import BadQuestion
from milepost.quotes import MAX_WORDS, Folded, fold, near, occurrences, stripped
from milepost.search import SearchResult
from milepost.search.query import check_text
from milepost.search.quoted import places, read, regions
from milepost.store import DocumentInfo, DocumentSelection, Snapshot
from milepost.types import (
    CheckResult,
    Difference,
    Document,
    Mark,
    Match,
    Verdict,
    mark_at,
    page_of,
    place_in_words,
    places_at,
)

MAX_PLACES = 50
"""Maximum number of places that hold a text word for word: a common word has thousands."""

NEAR_PLACES = 5
"""Maximum number of places that nearly hold it."""

PASSAGES = 3
"""Maximum number of passages that support it."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A place before its text and marks are read."""

    document: DocumentInfo | Document
    start: int
    end: int
    similarity: float = 1.0
    ignored: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()


def prepared(text: str) -> Folded:
    """A text as it is looked for: without white space and quotation marks around it.

    Raises:
        BadQuestion: it is empty or has neither letter nor digit.
        WrongType: it is not a string.
    """
    check_text(text, "the text")
    given = stripped(text)
    if not any(map(str.isalnum, given.letters)):
        said = text.strip()
        problem = f"{said!r} has neither letter nor digit" if said else "the text is empty"
        raise BadQuestion(f"nothing to check: {problem}", "a sentence, a quotation or a claim")
    return given


def check_store(
    snapshot: Snapshot,
    given: Folded,
    among: DocumentSelection,
    search: Callable[[str], SearchResult],
) -> CheckResult:
    """Check a text against documents of a store.

    Args:
        snapshot: the state of the store.
        given: the text, see ``prepared``.
        among: the documents to search.
        search: returns the passages that answer a text; called where it is neither verbatim nor
            near, so that a model is loaded only then.
    """
    held = [
        _Found(info, each.start, each.end, ignored=each.ignored)
        for info, each in sorted(
            islice(places(snapshot, given, among), MAX_PLACES),
            key=lambda place: (place[0].first, place[0].id, place[1].start),
        )
    ]
    if held:
        return _checked(given, "verbatim", _stored_places(snapshot, held))
    parts = regions(snapshot, given.text, among)
    for info, start, text in read(snapshot, parts):
        held += _near(given, info, text, start)
    if held:
        # Stretches may overlap at their edges.
        apart = {(found.document.name, found.start): found for found in held}
        best = sorted(apart.values(), key=lambda found: -found.similarity)[:NEAR_PLACES]
        return _checked(given, "near", _stored_places(snapshot, best))
    result = search(given.text)
    verdict: Verdict = "supported" if result.passages else "not found"
    notes = (*_notes(given), *result.notes)
    return CheckResult(given.text, verdict, (), result.passages, result.best, notes)


def check_documents(given: Folded, documents: Iterable[Document]) -> CheckResult | None:
    """Look for a text in documents that need not be indexed; None where it is not in them.

    Args:
        given: the text, see ``prepared``.
        documents: they are read one at a time.
    """
    verbatim: list[Match] = []
    nearly: list[Match] = []
    for document in documents:
        folded = fold(document.text)
        for each in islice(occurrences(given, folded), MAX_PLACES - len(verbatim)):
            found = _Found(document, each.start, each.end, ignored=each.ignored)
            verbatim.append(_place(found, document.text[each.start : each.end], document.marks))
        if len(verbatim) == MAX_PLACES:
            break
        if not verbatim:
            nearly += (
                _place(found, document.text[found.start : found.end], document.marks)
                for found in _near(given, document, document.text)
            )
    if verbatim:
        return _checked(given, "verbatim", verbatim)
    nearly.sort(key=lambda place: -place.similarity)
    return _checked(given, "near", nearly[:NEAR_PLACES]) if nearly else None


def _near(
    given: Folded, document: DocumentInfo | Document, text: str, offset: int = 0
) -> Iterator[_Found]:
    """The places of a stretch of a document that nearly hold a text."""
    for each in near(given, fold(text)):
        differences = tuple(
            replace(part, start=part.start + offset, end=part.end + offset)
            for part in each.differences
        )
        start, end = each.start + offset, each.end + offset
        yield _Found(document, start, end, each.similarity, differences=differences)


def _stored_places(snapshot: Snapshot, held: Sequence[_Found]) -> list[Match]:
    """Places with their text, page and heading, read from the store."""
    infos = [found.document for found in held if isinstance(found.document, DocumentInfo)]
    texts = snapshot.texts(
        [(info, found.start, found.end) for info, found in zip(infos, held, strict=True)]
    )
    marks = snapshot.marks(infos)
    return [_place(*each) for each in zip(held, texts, marks, strict=True)]


def _place(found: _Found, text: str, marks: Sequence[Mark]) -> Match:
    places = places_at(marks, found.start, (found.start, found.end))
    return Match(
        document=found.document.name,
        source=found.document.source,
        start=found.start,
        end=found.end,
        text=text,
        page=page_of(places),
        heading=mark_at(marks, "heading", found.start),
        place=place_in_words(places),
        similarity=found.similarity,
        ignored=found.ignored,
        differences=found.differences,
    )


def _checked(given: Folded, verdict: Verdict, held: Sequence[Match]) -> CheckResult:
    notes = _notes(given) if verdict != "verbatim" else ()
    if len(held) == MAX_PLACES:
        notes = (*notes, f"the first {MAX_PLACES} places are given; there may be more")
    return CheckResult(given.text, verdict, tuple(held), notes=notes)


def _notes(given: Folded) -> tuple[str, ...]:
    if len(given.text.split()) > MAX_WORDS:
        return (f"texts of more than {MAX_WORDS:,} words are only looked for word for word",)
    return ()
