"""What the retrievers of all frameworks share: where passages come from, and their metadata."""

from __future__ import annotations

import os
from typing import Any

from milepost.errors import InputError
from milepost.index import Index
from milepost.index import open as open_index
from milepost.types import Passage

IndexSource = Index | str | os.PathLike[str]
"""An open index, or the folder of one."""

DETAILS = ("source", "start", "end", "score", "hits")
"""Metadata that is for programs; a language model needs the document, page and heading."""


def opened(index: IndexSource, model: str | None = None) -> Index:
    """The index, opened for reading where a folder is given.

    Args:
        index: an open index, or its folder.
        model: name or folder of the model that made it; None for the default.

    Raises:
        StoreError: the folder holds no index, or one of another model or schema.
    """
    if isinstance(index, Index):
        return index
    return open_index(index, model=model, create=False, read_only=True)


def folder_of(index: IndexSource) -> str:
    """The folder to write down, for a framework that saves its components.

    Raises:
        InputError: an open index was given, which has no place in a file.
    """
    if isinstance(index, Index):
        raise InputError("an open index cannot be saved in a file", "index=FOLDER")
    return os.fspath(index)


def identifier(passage: Passage) -> str:
    """A name of the passage that is the same in every search."""
    return f"{passage.document}:{passage.start}-{passage.end}"


def metadata(passage: Passage) -> dict[str, Any]:
    """Everything but the text, as values that JSON can hold.

    ``document``, ``source``, ``start``, ``end``, ``page``, ``heading``, ``score`` and, under
    ``hits``, ``start``, ``end`` and ``score`` of its sentences, best first. Offsets are code
    points of the document's text.
    """
    return {
        "document": passage.document,
        "source": passage.source,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        "heading": passage.heading,
        "score": passage.score,
        "hits": [{"start": hit.start, "end": hit.end, "score": hit.score} for hit in passage.hits],
    }
