"""What an agent can ask: search, read, documents.

Every result is a record that becomes JSON, and is within the budget of tokens that was asked for,
as the model counts them: that is on the safe side, because names and punctuation, of which JSON has
much, are fewer tokens to a language model.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from milepost.errors import InputError
from milepost.library import Indexer, Library, document_id
from milepost.mcp.budget import LEAST, MOST, TEXT_SHARE, fitted
from milepost.types import mark_at

if TYPE_CHECKING:
    from milepost.search import SearchResult
    from milepost.store import DocumentInfo
    from milepost.types import Passage

_CHARACTERS = 6
"""Characters a token at most, on average: what is read before it is counted."""

_CURSOR = 60
"""Tokens that are left for a cursor and a note."""


class Evidence(BaseModel):
    """Whole sentences of one document that answer the question."""

    text: str
    document: str = Field(description="Title of the document.")
    id: str = Field(description="Id of the document, for `read` and `documents`.")
    start: int = Field(description="Offset in the document's text.")
    end: int
    score: float = Field(description="Probability, 0 to 1, that this is evidence.")
    page: int | None = None
    heading: str | None = None


class Searched(BaseModel):
    """What `search` gives."""

    passages: list[Evidence] = Field(description="Best first.")
    next: str | None = Field(
        default=None, description="Cursor of the passages that come after these."
    )
    notes: list[str] = Field(default_factory=list, description="What to know of this result.")


class Read(BaseModel):
    """What `read` gives."""

    text: str
    document: str
    id: str
    start: int
    end: int
    characters: int = Field(description="Length of the whole document.")
    page: int | None = Field(default=None, description="Page on which the text begins.")
    heading: str | None = None
    next: int | None = Field(
        default=None, description="`start` of what comes after; none at the end."
    )
    notes: list[str] = Field(default_factory=list)


class Listed(BaseModel):
    """A document in a list."""

    document: str
    id: str
    characters: int
    sentences: int
    notes: list[str] = Field(default_factory=list)


class Documents(BaseModel):
    """What `documents` gives."""

    documents: list[Listed]
    total: int
    next: str | None = None
    notes: list[str] = Field(default_factory=list)


class Tools:
    """The tools of one library.

    Args:
        library: its documents.
        indexer: the thread that brings it up to date; None where nothing changes.
        searching: held during a search, so that indexing pauses.
    """

    def __init__(
        self,
        library: Library,
        indexer: Indexer | None = None,
        searching: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self._library, self._indexer, self._searching = library, indexer, searching

    def search(
        self,
        question: str,
        budget_tokens: int = 1500,
        min_score: float = 0.0,
        documents: list[str] | None = None,
        cursor: str | None = None,
    ) -> Searched:
        """The best sentences for a question, within a budget of tokens.

        Raises:
            InputError: no such document, a bad cursor, an empty question, a budget too small.
        """
        budget = _budget(budget_tokens)
        seen = _spent(cursor, question)
        names = self._library.chosen(documents)
        room = int(budget * TEXT_SHARE)
        with self._searching():
            earlier = self._ask(question, seen, min_score, names) if seen else None
            found = self._ask(question, seen + room, min_score, names)
        shown = [(p.document, p.start, p.end) for p in earlier.passages] if earlier else []
        titles = {info.name: self._library.title(info) for info in self._library.infos()}
        passages = [
            _evidence(passage, titles)
            for passage in found.passages
            if not any(_inside(passage, span) for span in shown)
        ]
        result = Searched(passages=passages, notes=self._notes(found))
        fitted(result, "passages", self._library.index.model.count_tokens, budget - _CURSOR)
        passages = result.passages
        spent = seen + sum(self._tokens(each.text) for each in passages)
        if passages and self._more(found, spent, seen + room):
            result.next = _cursor(spent, question)
        if not passages:
            result.notes.append(
                "nothing else was found"
                if seen
                else f"no passage has {min_score:g} or more"
                if found.best and min_score
                else "nothing was found"
            )
        return result

    def read(
        self,
        document: str,
        start: int | None = None,
        page: int | None = None,
        tokens: int = 1500,
    ) -> Read:
        """The text of a document from an offset or a page on.

        Raises:
            InputError: no such document, page or offset.
        """
        budget = _budget(tokens)
        info = self._one(document)
        with self._library.index.snapshot() as state:
            marks = state.marks([info])[0]
            if start is None:
                start = 0 if page is None else _page(info, page, marks)
            if not 0 <= start < max(1, info.characters):
                raise InputError(f"start: {start}", f"0 to {info.characters - 1}")
            end = min(info.characters, start + budget * _CHARACTERS)
            text = state.texts([(info, start, end)])[0]
        result = Read(
            text=text,
            document=self._library.title(info),
            id=document_id(info.name),
            start=start,
            end=end,
            characters=info.characters,
            page=_number(mark_at(marks, "page", start)),
            heading=mark_at(marks, "heading", start),
            next=end,
            notes=list(info.notes),
        )
        result.text = self._cut(result, budget)
        result.end = start + len(result.text)
        result.next = result.end if result.end < info.characters else None
        return result

    def documents(self, cursor: str | None = None, tokens: int = 2000) -> Documents:
        """The documents that can be searched."""
        budget = _budget(tokens)
        infos = self._library.infos()
        after = _spent(cursor, "documents")
        rows = [
            Listed(
                document=self._library.title(info),
                id=document_id(info.name),
                characters=info.characters,
                sentences=info.sentences,
                notes=list(info.notes),
            )
            for info in infos[after : after + budget // 20]
        ]
        result = Documents(documents=rows, total=len(infos), notes=self._indexing())
        fitted(result, "documents", self._library.index.model.count_tokens, budget - _CURSOR)
        last = after + len(result.documents)
        if result.documents and last < len(infos):
            result.next = _cursor(last, "documents")
        return result

    def _ask(
        self, question: str, tokens: int, min_score: float, names: list[str] | None
    ) -> SearchResult:
        return self._library.index.search_detailed(
            question, None, f"{tokens}t", names, min_score=min_score
        )

    def _more(self, found: SearchResult, spent: int, asked: int) -> bool:
        """Whether there is more than what was shown: the budget was what ended the result."""
        total = sum(self._tokens(passage.text) for passage in found.passages)
        return spent < total or total > 0.5 * asked

    def _notes(self, found: SearchResult) -> list[str]:
        return [*self._indexing(), *(found.notes if found.passages else ())]

    def _indexing(self) -> list[str]:
        if self._indexer is None:
            return []
        progress = self._indexer.progress()
        notes = [] if progress.idle else ["documents are still being indexed: ask again for all"]
        failed = [f"not read: {Path(name).name}" for name, _ in progress.failed[-3:]]
        return notes + failed

    def _one(self, wanted: str) -> DocumentInfo:
        names = self._library.chosen([wanted]) or []
        if len(names) > 1:
            ids = ", ".join(document_id(name) for name in names[:5])
            raise InputError(f"{len(names)} documents are called {wanted}", f"an id: {ids}")
        return self._library.info(document_id(names[0]))

    def _tokens(self, text: str) -> int:
        return self._library.index.model.count_tokens(text)

    def _cut(self, result: Read, budget: int) -> str:
        """The longest beginning of the text, at a sentence where one ends, that fits."""
        from milepost.text import split

        text = result.text
        fits, beyond = 0, len(text) + 1
        while beyond - fits > 1:  # bisection: tokens grow with characters
            middle = (fits + beyond) // 2
            result.text = text[:middle]
            if self._tokens(result.model_dump_json(exclude_none=True)) <= budget:
                fits = middle
            else:
                beyond = middle
            if beyond - fits < 8 and fits:
                break
        if fits >= len(text):
            return text
        whole = [end for _, end in split(text[:fits]) if end < fits]
        return text[: whole[-1]] if whole and whole[-1] > fits // 2 else text[:fits]


def _evidence(passage: Passage, titles: dict[str, str]) -> Evidence:
    return Evidence(
        text=passage.text,
        document=titles.get(passage.document, passage.document),
        id=document_id(passage.document),
        start=passage.start,
        end=passage.end,
        score=round(passage.score, 4),
        page=passage.page,
        heading=passage.heading,
    )


def _inside(passage: Passage, span: tuple[str, int, int]) -> bool:
    """Whether a passage was shown before, whole or in part."""
    document, start, end = span
    return passage.document == document and passage.start < end and passage.end > start


def _budget(tokens: int) -> int:
    if tokens < LEAST:
        raise InputError(f"a budget of {tokens} tokens holds no passage", f"{LEAST} to {MOST:,}")
    return min(tokens, MOST)


def _page(info: DocumentInfo, page: int, marks: tuple[Any, ...]) -> int:
    places = {int(mark.value): mark.offset for mark in marks if mark.kind == "page"}
    if page not in places:
        last = max(places, default=0)
        hint = f"1 to {last}" if places else "start, because this document has no pages"
        raise InputError(f"page: {page} is not in {Path(info.name).name}", hint)
    return int(places[page])


def _number(value: str | None) -> int | None:
    return None if value is None else int(value)


def _cursor(spent: int, of: str) -> str:
    data = json.dumps([spent, _mark(of)]).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _spent(cursor: str | None, of: str) -> int:
    """What a cursor says was shown; it belongs to one question."""
    if cursor is None:
        return 0
    try:
        spent, mark = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if isinstance(spent, int) and 0 <= spent <= 1 << 40 and mark == _mark(of):
            return spent
    except (ValueError, TypeError, binascii.Error):
        pass
    raise InputError("the cursor is not one of this question", "the `next` of the last result")


def _mark(of: str) -> str:
    return document_id(of)[:6]
