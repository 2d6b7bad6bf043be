"""Whether a text is in documents: word for word, nearly, or in other words.

verbatim      ``quotes.occurrences`` over all text, or over what the store's postings point to
near          ``quotes.near`` over the stretches that hold its rare words
stitched      the longest pieces that are there word for word, one after the other
supported ... the search, with the text as the question, and ``claims`` of what it finds: by
              rules, then by the model's reranker, if that gives verdicts
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from itertools import islice

from milepost.checking.claims import AROUND, LONGEST, judge, noted, why_not, with_lead_in
from milepost.checking.claims.reading import read as read_words
from milepost.checking.claims.verdict import MIN_SIDED
from milepost.checking.places import (
    MAX_PLACES,
    Found,
    checked,
    in_place,
    notes_of,
    place_of,
    stored_places,
)
from milepost.checking.reread import said
from milepost.documents.sentences import split
from milepost.encoder.reranker import LandmarkReranker
from milepost.errors import BadQuestion
from milepost.language.lists import marker_of
from milepost.quotes import Folded, copied_rows, fold, near, occurrences, stripped
from milepost.search import Limits, SearchResult
from milepost.search.passages import with_tables
from milepost.search.quoted import (
    adds_bars,
    as_printed,
    in_tables,
    places,
    read,
    regions,
    row_places,
)
from milepost.search.searcher import doubts
from milepost.store import DocumentSelection, Snapshot
from milepost.types import Document, Mark, Passage
from milepost.verdicts import CheckResult, Match, Verdict

NEAR_PLACES = 5  # maximum number of places that nearly hold it
READ = 8  # passages whose sentences judge a claim

MAX_CLAIMS = 8  # sentences of a text that are judged

PIECE_WORDS = 5
"""Fewest words of a piece of a stitched text: shorter ones are in many texts by chance."""

MAX_PIECES = 4  # most pieces of a stitched text

_EDGES = " ,;:.…–—"  # signs at the ends of a piece, which join it to the next one

_LEFT_OUT = re.compile(r"[\[(]\s*(?:…|\.(?:\s?\.){2,})\s*[\])]")
"""Dots in brackets, for words that a quotation leaves out."""

_SPELLING = 0.6  # likeness of two spellings of a word, at least

MAX_STITCHED = 400  # most words of a text that is looked for in pieces


def prepared(text: str) -> Folded:
    """A text as it is looked for: without white space and quotation marks around it.

    Raises:
        BadQuestion: it is empty or has neither letter nor digit.
    """
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
    reranker: Callable[[], LandmarkReranker | None],
    limits: Limits,
) -> CheckResult:
    """Check a text, as ``prepared`` gives it, against documents of a store.

    ``search`` returns the passages that answer a text; it is called where that is neither verbatim
    nor near, so that a model is loaded only then, and ``reranker``, the model's, after it.
    ``limits`` say how many passages are returned, and how likely one is about the text at least.
    """
    held = _held(snapshot, given, among)
    if held is not None and not _is_exchanged(held):
        return held
    pieces = _pieces(snapshot, given, among)
    if pieces:
        return checked(given, "stitched", pieces)
    if among.names is not None:
        elsewhere = _held(snapshot, given, replace(among, names=None))
        if elsewhere is not None and not _is_exchanged(elsewhere):
            return held or replace(elsewhere, verdict="found elsewhere")
    sentences = _sentences(given.text)
    if len(sentences) < 2:
        found = _judged(snapshot, given, search(given.text), reranker, limits)
    else:
        parts = [
            check_store(snapshot, prepared(each), among, search, reranker, limits)
            for each in sentences[:MAX_CLAIMS]
        ]
        found = _of_parts(given, parts, search(given.text), limits)
        if len(sentences) > MAX_CLAIMS:
            note = f"the first {MAX_CLAIMS} sentences are judged"
            verdict: Verdict = "related" if found.verdict == "supported" else found.verdict
            found = replace(found, verdict=verdict, notes=(*found.notes, note))
    is_open = found.verdict in ("found elsewhere", "related", "not found")
    return held if held is not None and is_open else found


def _sentences(text: str) -> list[str]:
    """The sentences and list items of a text, each once, without markers and what says nothing."""
    read = (text[start:end] for start, end in split(text))
    found = (sentence[marker_of(sentence) :].strip() for sentence in read)
    return list(dict.fromkeys(each for each in found if any(map(str.isalnum, each))))


def _held(snapshot: Snapshot, given: Folded, among: DocumentSelection) -> CheckResult | None:
    held: list[Found] = sorted(
        islice(places(snapshot, given, among), MAX_PLACES),
        key=lambda place: (place[0].first, place[0].id, place[1].start),
    )
    if held:
        found = checked(given, "verbatim", stored_places(snapshot, held))
        return noted(found, _around(snapshot, held))
    held = row_places(snapshot, given, among)
    rows = [place for place in held if not place[1].differences]
    if rows:
        return checked(given, "verbatim", stored_places(snapshot, rows[:MAX_PLACES]))
    parts = regions(snapshot, given.text, among)
    for info, start, text in read(snapshot, parts):
        held += ((info, each.moved(start)) for each in near(given, fold(text)))
    if not held:
        return None
    # Stretches may overlap at their edges.
    apart = {(info.name, each.start): (info, each) for info, each in held}
    barred = [place for place in apart.values() if adds_bars(given, place[1])]
    marks = snapshot.marks([info for info, _ in barred])
    printed = [(info, as_printed(row, own)) for (info, row), own in zip(barred, marks, strict=True)]
    rows = [place for place in printed if not place[1].differences]
    if rows:
        return checked(given, "verbatim", stored_places(snapshot, rows[:MAX_PLACES]))
    best = sorted(apart.values(), key=lambda place: -place[1].similarity)[:NEAR_PLACES]
    return noted(checked(given, "near", stored_places(snapshot, best)), _around(snapshot, best))


def _around(snapshot: Snapshot, held: Sequence[Found]) -> list[str]:
    few = held[:NEAR_PLACES]
    return snapshot.texts([(i, max(0, e.start - AROUND), e.end + AROUND) for i, e in few])


def _pieces(snapshot: Snapshot, given: Folded, among: DocumentSelection) -> list[Match]:
    """The places of which a text is put together; empty where some of it is nowhere.

    A part of a text that is nowhere makes every longer one be nowhere, so the longest piece from
    each word on is found by halving.
    """
    words = _LEFT_OUT.sub("…", given.text).split()
    if not 2 * PIECE_WORDS <= len(words) <= MAX_STITCHED:
        return []

    def first(start: int, end: int) -> Found | None:
        part = stripped(" ".join(words[start:end]).strip(_EDGES))
        return next(places(snapshot, part, among), None) if part.letters else None

    held: list[Found] = []
    start = 0
    while start < len(words):
        low, high = start + PIECE_WORDS, len(words)
        longest = first(start, low) if low <= high else None
        if longest is None or len(held) == MAX_PIECES:
            return []
        while low < high:
            middle = (low + high + 1) // 2
            found = first(start, middle)
            if found is None:
                high = middle - 1
            else:
                low, longest = middle, found
        held.append(longest)
        start = low
    return stored_places(snapshot, held) if len(held) > 1 else []


def _judged(
    snapshot: Snapshot,
    given: Folded,
    result: SearchResult,
    reranker: Callable[[], LandmarkReranker | None],
    limits: Limits,
) -> CheckResult:
    passages, marks = _with_context(snapshot, result.passages)
    judged = judge(given.text, passages, partial(said, reranker, given.text))
    about = _likely(result.passages, limits)
    why = why_not(given.text)
    unasked = doubts(result)  # nothing was asked that might have an answer
    found = [note for note in result.notes if note not in unasked]
    notes = (*notes_of(given), *found, *([why] if why else ()))
    verdict: Verdict = judged.verdict
    if verdict == "related" and not about and limits.min_score <= MIN_SIDED:
        pairs = zip(result.passages, passages, strict=True)
        about = tuple(own for own, read in pairs if read in judged.about)[: limits.k]
    if verdict == "related" and not about:
        verdict = "not found"
    places = tuple(in_place(each, marks[each.document]) for each in (judged.sentence,) if each)
    return CheckResult(given.text, verdict, places, about, result.best_score, notes)


def _likely(passages: Sequence[Passage], limits: Limits) -> tuple[Passage, ...]:
    """Those of the best passages that are probably about the text."""
    return tuple(each for each in passages[: limits.k] if each.score >= limits.min_score)


def _with_context(
    snapshot: Snapshot, passages: Sequence[Passage]
) -> tuple[list[Passage], dict[str, tuple[Mark, ...]]]:
    """Passages with all rows near them or the lead-in of their list, and their documents' marks."""
    infos = {info.name: info for info in snapshot.infos([each.document for each in passages])}
    marks = dict(zip(infos, snapshot.marks([*infos.values()]), strict=True))
    own = [(infos[each.document], marks[each.document]) for each in passages]
    made = with_tables(snapshot, passages, own, around=True)
    firsts = [min(each.hits, key=lambda hit: hit.start) for each in passages]
    items = [number for number, hit in enumerate(firsts) if marker_of(hit.text)]
    parts = [(own[n][0], max(0, firsts[n].start - LONGEST), firsts[n].start) for n in items]
    for number, text in zip(items, snapshot.texts(parts) if parts else (), strict=True):
        hits = (*made[number].hits, *with_lead_in(text, firsts[number]))
        made[number] = replace(made[number], hits=hits)
    return made, marks


def _of_parts(
    given: Folded,
    parts: Sequence[CheckResult],
    result: SearchResult,
    limits: Limits,
) -> CheckResult:
    verdicts = {each.verdict for each in parts}
    verdict: Verdict = "related" if verdicts != {"not found"} else "not found"
    if "contradicted" in verdicts:
        verdict = "contradicted"
    elif verdicts == {"verbatim"}:
        verdict = "stitched"
    elif verdicts <= {"verbatim", "near", "supported"} and not any(map(_is_changed, parts)):
        verdict = "supported"
    decisive = [each for each in parts if verdict != "contradicted" or each.verdict == verdict]
    places = [_moved(each, given.text, place) for each in decisive for place in each.places]
    notes = dict.fromkeys([*notes_of(given), *(note for each in parts for note in each.notes)])
    # What one sentence is only related to may be no passage for all of them together.
    read = (each.passages[0] for each in parts if each.verdict == "related" and each.passages)
    found = (*_likely(result.passages, limits), *read)
    about = {(each.document, each.start): each for each in found}
    passages = tuple(sorted(about.values(), key=lambda each: -each.score))
    best = max(result.best_score, *(each.score for each in passages), 0.0)
    return CheckResult(
        text=given.text,
        verdict=verdict,
        places=tuple(places),
        passages=passages,
        best_score=best,
        notes=tuple(notes),
        parts=tuple(parts),
    )


def _is_changed(part: CheckResult) -> bool:
    """Whether what is there nearly has other content words, numbers or dates."""
    differing = part.places[0].differences if part.verdict == "near" else ()
    sides = [read_words(side) for each in differing for side in (each.given, each.text)]
    is_other = any(side.content or side.quantities for side in sides)
    return is_other or any(each.kind for each in differing)


def _is_exchanged(held: CheckResult) -> bool:
    """Whether a text may be a claim of its own: of its words more than one in ten is another one.

    Spellings of one word, and what differs in a way that is shown, do not count. What is only asked
    in the document is a claim, too.
    """
    if held.verdict != "near":
        return False
    if any("?" in one.text and "?" not in one.given for one in held.places[0].differences):
        return True
    exchanged = [
        one
        for one in held.places[0].differences
        if one.kind is None and read_words(one.given).content and read_words(one.text).content
        if SequenceMatcher(None, one.given.lower(), one.text.lower()).ratio() < _SPELLING
    ]
    return len(exchanged) > max(1.0, len(held.text.split()) / 10)


def _moved(part: CheckResult, text: str, place: Match) -> Match:
    """A place of a sentence, with its differences at their offsets in the whole text."""
    start = max(0, text.find(part.text))
    moved = (
        replace(one, given_start=one.given_start + start, given_end=one.given_end + start)
        for one in place.differences
    )
    return replace(place, differences=tuple(moved))


def check_documents(given: Folded, documents: Iterable[Document]) -> CheckResult | None:
    """Look for a text in documents without an index; None where it is not in them or a claim."""
    verbatim: list[Match] = []
    nearly: list[Match] = []
    around: dict[tuple[str, int], str] = {}
    copied = copied_rows(given.text)
    for document in documents:
        folded = fold(document.text)
        found = list(islice(occurrences(given, folded), MAX_PLACES - len(verbatim)))
        if not found:
            for rows in copied:
                found += in_tables(rows, folded, 0, document.marks)
        if not verbatim and all(each.differences for each in found):
            found += (
                as_printed(each, document.marks) if adds_bars(given, each) else each
                for each in near(given, folded)
            )
        # A row may recur thousands of times, and each place is looked up in all marks.
        exact = [each for each in found if not each.differences][: MAX_PLACES - len(verbatim)]
        close = sorted(
            (each for each in found if each.differences), key=lambda each: -each.similarity
        )
        for chosen, best in ((verbatim, exact), (nearly, close[:NEAR_PLACES])):
            for each in best:
                shown = document.text[each.start : each.end]
                chosen.append(place_of(document, each, shown, document.marks))
                wide = document.text[max(0, each.start - AROUND) : each.end + AROUND]
                around[document.name, each.start] = wide
        if len(verbatim) >= MAX_PLACES:
            break
    chosen = verbatim or sorted(nearly, key=lambda place: -place.similarity)[:NEAR_PLACES]
    held = checked(given, "verbatim" if verbatim else "near", chosen)
    if not chosen or _is_exchanged(held):
        return None
    return noted(held, [around[each.document, each.start] for each in held.places])
