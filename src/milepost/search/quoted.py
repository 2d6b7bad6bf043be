"""Find the places in a store that contain a quotation word for word, and those that nearly may.

If few sentences are searched, all of their text is read, so that no place can be missed. In larger
collections the store's postings give the stretches that contain the quotation's words, and only
these are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from zlib import crc32

from milepost._numpy import np
from milepost.language.terms import terms
from milepost.quotes import Folded, Occurrence, Rows, copied_rows, fold, occurrences
from milepost.search.lexical import idf
from milepost.search.scope import EVERYTHING
from milepost.store.base import ALL, DocumentInfo, DocumentSelection, Part
from milepost.table_rows import tables
from milepost.types import Mark, Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from milepost.store.base import Snapshot

    Postings = Mapping[str, tuple[NDArray[np.int64], NDArray[np.int32]]]

BATCH = 2_000_000  # number of characters that are read at a time
REGIONS = 200  # maximum number of stretches read in a large collection, those with the rarest words
_TERMS = 24  # maximum number of words whose postings are read: numbers and the longest words

_ANCHORS = 20_000
"""Maximum number of rows, of the rarest words, around which the other words are looked for."""

_SHARE = 0.35  # least share of the words, by rarity, that a stretch must contain


def places(
    snapshot: Snapshot, given: Folded, among: DocumentSelection = ALL
) -> Iterator[tuple[DocumentInfo, Occurrence]]:
    """Yield the places that contain a quotation word for word, document by document."""
    most = EVERYTHING if _words(given.text) else None
    documents = snapshot.select(among, most)
    if documents is None:
        yield from places_in(snapshot, given, regions(snapshot, given.text, among))
    else:
        yield from places_in(snapshot, given, [(info, 0, info.characters) for info in documents])


def places_in(
    snapshot: Snapshot, given: Folded, parts: Sequence[Part]
) -> Iterator[tuple[DocumentInfo, Occurrence]]:
    """Do the same as ``places`` in some stretches of text, however long."""
    seen: set[tuple[str, int]] = set()  # stretches may overlap at their edges
    for info, start, text in read(snapshot, parts):
        for found in occurrences(given, fold(text)):
            if (info.name, found.start + start) not in seen:
                seen.add((info.name, found.start + start))
                yield info, found.moved(start)


def row_places(
    snapshot: Snapshot, given: Folded, among: DocumentSelection = ALL
) -> list[tuple[DocumentInfo, Occurrence]]:
    """The places of rows copied from a table, else those that nearly hold them."""
    found: dict[tuple[str, int], tuple[DocumentInfo, Occurrence]] = {}
    for rows in copied_rows(given.text):
        parts = regions(snapshot, rows.folded.text, among)
        infos = list({info.name: info for info, *_ in parts}.values())
        marks = dict(zip((info.name for info in infos), snapshot.marks(infos), strict=True))
        held = {name for name, own in marks.items() if any(tables(own))}
        for info, start, text in read(snapshot, [each for each in parts if each[0].name in held]):
            for each in in_tables(rows, fold(text), start, marks[info.name]):
                found.setdefault((info.name, each.start), (info, each))
    return list(found.values())


def in_tables(rows: Rows, text: Folded, start: int, marks: Sequence[Mark]) -> Iterator[Occurrence]:
    """Yield where the tables in a part of a document, from ``start`` on, have rows, or nearly."""
    begins = {mark.offset for mark in marks if mark.kind == "row"}
    is_sheet = any(mark.kind == "sheet" for mark in marks)
    if rows.parts_digits and (is_sheet or not begins):
        return
    for table in tables(marks):
        if table.start >= start + len(text.text) or start >= table.end:
            continue
        lines = table.lines(text.text, start, begins)
        held: list[Sequence[Span | None]] = []
        last = -1
        own = rows.below([table.columns, [table.caption or ""]])
        for number in own.likely(text, [row[0][0] for row in lines]):
            if number > last + 1:
                held.append([(0, 0)])  # what is between them
            held.append(table.cells(text.text, start, lines[number], begins))
            last = number
        if held:
            found = own.matches(Rows(text.text, held))
            yield from (each.moved(start) for each in found)


def adds_bars(given: Folded, found: Occurrence) -> bool:
    """Whether bars are all that a place adds to a quotation, which has none of its own.

    On the page, there is nothing or a line between the cells of a row. A quotation with bars says
    which cells are empty.
    """
    return "|" not in given.text and all(
        each.text == "|" and not each.given for each in found.differences
    )


def as_printed(found: Occurrence, marks: Sequence[Mark]) -> Occurrence:
    """A place that only adds bars, without these differences if it is in a table."""
    if any(table.start <= found.start and found.end <= table.end for table in tables(marks)):
        return replace(found, differences=(), similarity=1.0, ignored=("cell borders",))
    return found


def read(snapshot: Snapshot, parts: Sequence[Part]) -> Iterator[tuple[DocumentInfo, int, str]]:
    """Yield the text of each stretch with its document and start; reads them in batches."""
    batch: list[Part] = []
    size = 0
    for part in parts:
        batch.append(part)
        size += part[2] - part[1]
        if size >= BATCH:
            yield from _texts(snapshot, batch)
            batch, size = [], 0
    yield from _texts(snapshot, batch)


def regions(snapshot: Snapshot, quotation: str, among: DocumentSelection = ALL) -> list[Part]:
    """Find stretches that contain the words of a quotation, those with the rarest words first."""
    held = snapshot.postings(_words(quotation), among)
    found = {term: own for term, own in held.items() if len(own[0])}  # no stretch has the others
    statistics = snapshot.statistics()
    weights = {term: idf(len(rows), statistics.sentences) for term, (rows, _) in found.items()}
    mean = statistics.terms / max(1, statistics.sentences)
    reach = math.ceil(len(terms(quotation)) / max(1.0, mean)) + 2
    anchors = _anchors(found)
    if not len(anchors):
        return []
    score = np.zeros(len(anchors))
    for term, (rows, _) in found.items():
        nearest = np.minimum(np.searchsorted(rows, anchors - reach), len(rows) - 1)
        inside = (rows[nearest] >= anchors - reach) & (rows[nearest] <= anchors + reach)
        score += weights[term] * inside
    order = np.argsort(-score, kind="stable")
    order = order[score[order] >= _SHARE * sum(weights.values())][:_ANCHORS]
    documents = sorted(snapshot.owners(anchors[order]), key=lambda info: info.first)
    firsts = np.array([info.first for info in documents], np.int64)
    ends = firsts + np.array([info.sentences for info in documents], np.int64)
    owners = np.searchsorted(firsts, anchors, side="right") - 1
    chosen: list[tuple[int, int, int]] = []  # document, first row, row after the last
    taken: set[tuple[int, int]] = set()
    for place in order.tolist():
        row, owner = int(anchors[place]), int(owners[place])
        if (owner, row // (2 * reach)) in taken:
            continue
        first = max(int(firsts[owner]), row - 2 * reach)
        chosen.append((owner, first, min(int(ends[owner]), row + 2 * reach + 1)))
        # Rows in the same cell lie inside the stretch.
        taken.add((owner, row // (2 * reach)))
        if len(chosen) == REGIONS:
            break
    return _parts(snapshot, documents, _merged(chosen), len(quotation))


def _words(quotation: str) -> list[str]:
    """Choose the terms whose postings are read.

    Single characters of a script without spaces are left out: they are terms only if they stand
    alone, because runs of characters are split into pairs.
    """
    held = [term for term in dict.fromkeys(terms(quotation)) if len(term) > 1 or term.isascii()]
    longest = sorted(
        held, key=lambda term: (-_rarity(term), crc32(term.encode("utf-8", "replace")))
    )
    return longest[:_TERMS]


def _rarity(term: str) -> int:
    """Guess the rarity of a term without the store: numbers and long words are rare."""
    return max(len(term), 8) if any(map(str.isdigit, term)) else len(term)


def _anchors(found: Postings) -> NDArray[np.int64]:
    rows = np.empty(0, np.int64)
    for held, _ in sorted(found.values(), key=lambda posting: len(posting[0])):
        if len(rows) and len(rows) + len(held) > _ANCHORS:
            break
        rows = np.union1d(rows, held)
    return rows


def _merged(chosen: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Merge overlapping runs of rows, and sort them by their best member."""
    rank: dict[tuple[int, int, int], int] = {}
    for best, run in sorted(enumerate(chosen), key=lambda item: item[1]):
        last = next(reversed(rank), None)
        if last is not None and last[0] == run[0] and run[1] <= last[2]:
            joined = (last[0], last[1], max(last[2], run[2]))
            rank[joined] = min(rank.pop(last), best)
        else:
            rank[run] = best
    return sorted(rank, key=rank.__getitem__)


def _parts(
    snapshot: Snapshot,
    documents: Sequence[DocumentInfo],
    runs: Sequence[tuple[int, int, int]],
    margin: int,
) -> list[Part]:
    """Turn runs of rows into stretches of text, widened on each side by the quotation's length."""
    owners = sorted({owner for owner, _, _ in runs})
    held = snapshot.sentences([documents[owner] for owner in owners])
    at = {owner: int(held.document_offsets[n]) for n, owner in enumerate(owners)}
    parts = []
    for owner, first, last in runs:
        info = documents[owner]
        low = int(held.spans[at[owner] + first - info.first, 0])
        high = int(held.spans[at[owner] + last - 1 - info.first, 1])
        parts.append((info, max(0, low - margin), min(info.characters, high + margin)))
    return parts


def _texts(snapshot: Snapshot, parts: Sequence[Part]) -> Iterator[tuple[DocumentInfo, int, str]]:
    texts = snapshot.texts(parts) if parts else []
    for (info, start, _), text in zip(parts, texts, strict=True):
        yield info, start, text
