"""What the retrievers of all frameworks share: where passages come from, and their metadata."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from milepost._typed import typed
from milepost.errors import InputError, WrongType, nearest
from milepost.exports.records import shared_record
from milepost.filters import as_filter
from milepost.index import Index
from milepost.index import open as open_index
from milepost.search.query import Limits
from milepost.types import Passage, Value

IndexSource = Index | str | os.PathLike[str]  # an open index, or the folder of one

SHOWN = ("document", "place", "heading", "lead_in", "title", "author", "date", "url")
"""Metadata that a language model needs; ``place`` names the page. The rest is for programs."""


class Held:
    """The index of a retriever, with which the retriever can be copied and pickled.

    Copies in one process share the open index, which several threads may search; a pickled one
    opens its folder, for reading, where it is loaded. None, an empty index in memory, is refused.
    """

    @typed
    def __init__(self, index: IndexSource, model: str | None = None) -> None:
        self._source, self._model = index, model
        if isinstance(index, Index):
            self.index = index
        else:
            self.index = open_index(index, model=model, create=False, read_only=True)

    def of(self, source: IndexSource, model: str | None) -> Held:
        """Itself, or that of another source: a framework may copy a retriever with changes."""
        if (source, model) == (self._source, self._model):
            return self
        return Held(source, model)

    def search(self, question: str, **options: Any) -> list[tuple[Passage, dict[str, Any]]]:
        """Find passages, as ``Index.search`` does, each with its metadata.

        That is everything but the text, as ``milepost search --json`` names it, and the properties
        of the document under their own names, or ``property_NAME`` where a field has the name.
        """
        passages = self.index.search(question, **options)
        infos = self.index.documents({each.document for each in passages})
        properties = {info.name: info.properties for info in infos}
        return [(each, _metadata(each, properties.get(each.document, {}))) for each in passages]

    def __copy__(self) -> Held:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Held:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self._source, Index):
            raise WrongType("a retriever of an open index cannot be pickled", "index=FOLDER")
        return Held, (self._source, self._model)


OPTIONS = ("k", "budget", "documents", "min_score", "rerank", "where")
"""What a question of a retriever may say of itself."""


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that a search does not have, and values that it cannot use."""
    for name in options:
        if name not in OPTIONS:
            near = nearest(name, OPTIONS)
            raise WrongType(f"{name!r} is no option of a search", f"{near}{', '.join(OPTIONS)}")
    as_filter(options.get("where"))
    Limits.parse(options.get("k"), options.get("budget"), options.get("min_score", 0.0))


def folder_of(index: IndexSource) -> str:
    """The folder to write down, for a framework that saves components; open indexes have none."""
    if isinstance(index, Index):
        raise InputError("an open index cannot be saved in a file", "index=FOLDER")
    return os.fspath(index)


def identifier(passage: Passage) -> str:
    """A name of the passage that is the same in every search."""
    return f"{passage.document}:{passage.start}-{passage.end}"


def _metadata(passage: Passage, properties: Mapping[str, Value]) -> dict[str, Any]:
    record = shared_record(passage)
    said: dict[str, Any] = {}
    for name, value in properties.items():
        free = name
        while free in record or (free != name and free in properties):
            free = f"property_{free}"
        said[free] = value
    del record["text"]
    known: dict[str, Any] = _plain(said | record)
    return known


def _plain(value: Any) -> Any:
    """A value as JSON has it, or a framework's JSON would give another one back."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return list(map(_plain, value)) if isinstance(value, tuple) else value
