"""What an agent can ask: search, read, check, documents.

Every result is a record that becomes JSON, and is within the budget of tokens that was asked for,
as the model counts them: that is on the safe side, because names and punctuation, of which JSON has
much, are fewer tokens to a language model.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from milepost._display import plain
from milepost.documents import split
from milepost.errors import InputError, UnknownDocument
from milepost.exports.records import shared_record
from milepost.index.naming import document_id, matching, short_id
from milepost.marks import mark_at, page_of, place_in_words, places_at
from milepost.search import SearchResult
from milepost.server.documents import Indexer, Library, notes_of
from milepost.server.mcp import results
from milepost.store import DocumentInfo
from milepost.types import Mark, Passage
from milepost.wording import counted, nothing_reaches, without_options

R = TypeVar("R", bound=BaseModel)

LEAST = 200  # tokens below which a result has no room for a sentence and where it is from
MOST = 20_000  # tokens of one result; clients cut results at 25,000

_TEXT_SHARE = 0.85  # part of a budget that is for sentences; the rest is for where they are from
_CHARACTERS = 6  # characters a token at most, on average: what is read before it is counted
_LEFT = 20  # tokens that are left for a cursor or a note
_LISTED = 2000  # tokens of a list of documents; each takes 20 or more
_BESIDE = 120  # tokens of the least result that are not the text of passages
_TOO_LONG = "what was found is longer than the budget; try: a larger budget_tokens"


class Tools:
    """The tools of one library; ``searching`` is held during a search, so that indexing pauses."""

    def __init__(
        self,
        library: Library,
        indexer: Indexer,
        searching: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self._library, self._indexer, self._searching = library, indexer, searching

    def search(
        self,
        question: str,
        budget_tokens: int = 1500,
        min_score: float = 0.0,
        documents: list[str] | None = None,
        where: str | None = None,
    ) -> results.Searched:
        """The best sentences for a question, within a budget of tokens."""
        budget, chosen = min(budget_tokens, MOST), self._chosen(documents)
        with self._searching():
            found = self._library.index.search_detailed(
                question,
                budget=f"{min(int(budget * _TEXT_SHARE), budget - _BESIDE)}t",
                documents=chosen,
                min_score=min_score,
                where=where,
            )
        result = self._within(found, chosen, budget)
        if result.passages:
            if not self._library.index.calibrated:
                result.notes.append("scores only order passages: the model was never fitted")
        elif found.passages:
            result.notes.append(_TOO_LONG)
        elif found.best_score > 0.0:
            result.notes.append(nothing_reaches(min_score, found.best_score, found.answerable))
        else:
            result.notes.append("nothing was found")
        return result

    def _within(
        self, found: SearchResult, chosen: list[str] | None, budget: int
    ) -> results.Searched:
        """The passages, best first, that the budget holds with their documents' names.

        If the first is too long, only the best sentence of each.
        """
        passages = list(map(_evidence, found.passages))
        documents = {each.document for each in found.passages}
        names = self._names(documents)
        # Without passages the reason is wanted where nothing could be found at all.
        said = found.notes if found.passages or not found.best_score else ()
        notes = self._notes(said, documents or chosen, budget)

        def first(size: int) -> results.Searched:
            some = passages[:size]
            return results.Searched(
                passages=some,
                best_score=round(found.best_score, 2),
                names=_of(names, some),
                notes=notes,
            )

        result = self._fitted(first, len(passages), budget - _LEFT)
        if passages and not result.passages:
            passages = [_evidence(_shortest(each)) for each in found.passages]
            result = self._fitted(first, len(passages), budget - _LEFT)
        return result

    def _names(self, documents: Iterable[str]) -> dict[str, str]:
        """Short id → name for clients, also of documents that were removed meanwhile."""
        names: dict[str, list[str]] = {}
        for name, shown in self._library.shown_names(documents).items():
            names.setdefault(short_id(name), []).append(shown)
        return {key: ", ".join(each) for key, each in names.items()}

    def read(
        self,
        document: str,
        start: int | None = None,
        page: int | None = None,
        budget_tokens: int = 1500,
    ) -> results.Read:
        """The text of a document from an offset or a page on."""
        if start is not None and page is not None:
            raise InputError("start and page are both given", "one of them")
        budget = min(budget_tokens, MOST)
        info = self._one(document)
        with self._library.index.snapshot() as state:
            marks = state.marks([info])[0]
            if start is None:
                start = 0 if page is None else _page(info, page, marks)
            if not 0 <= start < max(1, info.characters):
                raise InputError(f"start: {start}", f"0 to {info.characters - 1}")
            end = min(info.characters, start + budget * _CHARACTERS)
            text = state.texts([(info, start, end)])[0]
        places = places_at(marks, start)
        result = results.Read(
            text=text,
            document=self._library.shown_name(info),
            id=short_id(info.name),
            start=start,
            end=end,
            characters=info.characters,
            page=page_of(places),
            place=place_in_words(places),
            heading=mark_at(marks, "heading", start),
            next=end,
            notes=self._few(notes_of(info), budget),
        )
        result.text = self._cut(result, budget)
        result.end = start + len(result.text)
        result.next = result.end if result.end < info.characters else None
        return result

    def check(
        self,
        text: str,
        documents: list[str] | None = None,
        min_score: float = 0.5,
        budget_tokens: int = 1500,
    ) -> results.Checked:
        """Whether a quotation or claim is in the documents, and where."""
        budget = min(budget_tokens, MOST)
        chosen = self._chosen(documents)
        with self._searching():
            found = self._library.index.check(text, chosen, min_score=min_score)
        places = [
            results.Match(
                **shared_record(place)
                | {"id": short_id(place.document), "similarity": round(place.similarity, 2)}
            )
            for place in found.places
        ]
        passages = list(map(_evidence, found.passages))
        among = {each.document for each in found.places}
        among |= {each.document for each in found.passages}
        names = self._names(among)
        notes = self._notes(found.notes, among or chosen, budget)
        parts = [results.Part(text=each.text, verdict=each.verdict) for each in found.parts]

        decisive = len(places) + len(parts)

        def first(size: int) -> results.Checked:
            shown, support = places[:size], passages[: max(0, size - decisive)]
            long = [_TOO_LONG] if size < (decisive or min(1, len(passages))) else []
            return results.Checked(
                verdict=found.verdict,
                places=shown,
                parts=parts[: max(0, size - len(places))],
                passages=support,
                best_score=round(found.best_score, 2),
                names=_of(names, [*shown, *support]),
                notes=[*long, *notes],
            )

        return self._fitted(first, decisive + len(passages), budget)

    def documents(self, cursor: int = 0) -> results.Documents:
        """The documents that can be searched, from the one of this number on."""
        self._indexer.refresh()
        infos = self._library.index.documents()
        rows = [
            results.Listed(
                id=short_id(info.name),
                name=self._library.shown_name(info),
                characters=info.characters,
                sentences=info.sentences,
                notes=self._few(notes_of(info), _LISTED),
            )
            for info in infos[cursor : cursor + _LISTED // 20]
        ]
        notes = self._few(self._indexing(), _LISTED)

        def first(size: int) -> results.Documents:
            return results.Documents(documents=rows[:size], total=len(infos), notes=notes)

        result = self._fitted(first, len(rows), _LISTED - _LEFT)
        last = cursor + len(result.documents)
        if result.documents and last < len(infos):
            result.cursor = last
        return result

    def _notes(
        self, found: Iterable[str], documents: Collection[str] | None, budget: int
    ) -> list[str]:
        """Notes of a search, of files that were not read, and of what documents left out.

        ``documents`` are those with passages, or all that were searched in vain.
        """
        unread = [
            f"{self._library.shown_name(info)}: {note}"
            for info in self._library.index.documents(documents)
            for note in notes_of(info)
        ]
        said = self._library.notes(found, documents or ())
        return self._few([*said, *self._indexing(), *unread], budget)

    def _few(self, notes: Sequence[str], budget: int) -> list[str]:
        """As many notes as an eighth of the budget holds, and how many more there are."""
        said: list[str] = []
        for note in notes:
            if self._tokens("\n".join([*said, note])) > budget // 8:
                more = counted(len(notes) - len(said), "more note")
                return [*said, f"{more} on what was not read or found; try: a larger budget_tokens"]
            said.append(note)
        return said

    def _indexing(self) -> list[str]:
        progress = self._indexer.progress()
        notes = [] if progress.idle else ["documents are still being indexed: ask again for all"]
        failed = reversed(progress.failed)  # the last first
        return notes + [f"not read: {self._library.short(name)}" for name, _ in failed]

    def _chosen(self, wanted: list[str] | None) -> list[str] | None:
        """See ``Library.chosen``; of a file that could not be read, the reason is said."""
        self._indexer.refresh()  # an agent asks for what it has just written
        try:
            return self._library.chosen(wanted)
        except UnknownDocument as error:
            progress = self._indexer.progress()
            for name, why in progress.failed:
                if any(matching([name], each, within=False) for each in wanted or ()):
                    said = without_options(why).replace(name, self._library.short(name))
                    raise InputError(*said.split("; try: ", 1)) from None
            if progress.idle:
                raise
            hint = "again soon: documents are still being indexed"
            raise UnknownDocument(error.problem, hint) from None

    def _one(self, wanted: str) -> DocumentInfo:
        names = self._chosen([wanted]) or []
        if len(names) > 1:
            ids = ", ".join(document_id(name) for name in names[:5])
            raise InputError(f"{len(names)} documents are called {wanted}", f"an id: {ids}")
        return self._library.info(document_id(names[0]))

    def _tokens(self, text: str) -> int:
        return self._library.index.model.count_tokens(text)

    def _fitted(self, build: Callable[[int], R], most: int, budget: int) -> R:
        """The result with as many items, or characters of its text, as the budget holds.

        ``build`` makes it with the first items, of which there are ``most``, given their number.
        """

        def tokens(items: int) -> int:  # they grow with the items
            return self._tokens(build(items).model_dump_json(exclude_none=True))

        return build(bisect_right(range(1, most + 1), budget, key=tokens))

    def _cut(self, result: results.Read, budget: int) -> str:
        """The longest beginning of the text, at a sentence where one ends, that fits."""
        text = result.text

        def first(size: int) -> results.Read:
            return result.model_copy(update={"text": text[:size]})

        fits = len(self._fitted(first, len(text), budget).text)
        if fits >= len(text):
            return text
        whole = [end for _, end in split(text[:fits]) if end < fits]
        return text[: whole[-1]] if whole and whole[-1] > fits // 2 else text[:fits]


def _of(names: dict[str, str], found: Sequence[results.Evidence | results.Match]) -> dict[str, str]:
    return {each.id: names[each.id] for each in found}


def _evidence(passage: Passage) -> results.Evidence:
    own = {"id": short_id(passage.document), "score": round(passage.score, 2)}
    return results.Evidence(**shared_record(passage) | own)


def _shortest(passage: Passage) -> Passage:
    """The best sentence of a passage alone; its place is that of the passage."""
    best = passage.best
    return replace(passage, text=best.text, start=best.start, end=best.end)


def _page(info: DocumentInfo, page: int, marks: Sequence[Mark]) -> int:
    places = [(mark.offset, int(mark.value)) for mark in marks if mark.kind == "page"]
    ends = [*(start for start, _ in places), info.characters][1:]
    starts = {each: at for (at, each), end in zip(places, ends, strict=True) if at < end}
    if page in starts:
        return starts[page]
    name, last = plain(Path(info.name).name), max(each for _, each in places) if starts else 0
    if not 1 <= page <= last:
        hint = f"1 to {last}" if starts else "start, because this document has no pages"
        raise InputError(f"page: {page} is not in {name}", hint)
    nearest = min(starts, key=lambda each: abs(each - page))
    raise InputError(f"page: {page} of {name} has no text", f"{nearest}, the nearest that has")
