"""What a filter can ask of a document: its own properties, and keys that every document has.

This is the one place that says what the built-in keys mean.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from milepost.filters.evaluate import is_date

if TYPE_CHECKING:
    from milepost.types import Value

TYPES: dict[str, Literal["text", "date", "number"]] = {
    "document": "text",
    "folder": "text",
    "kind": "text",
    "title": "text",
    "author": "text",
    "date": "date",
    "year": "number",
    "language": "text",
}
"""Built-in keys, and the type of what they are compared with."""

BUILT_IN = TYPES.keys()


class Described(Protocol):
    """A document as a store describes it; ``DocumentInfo`` and ``Document`` are such."""

    @property
    def name(self) -> str:
        """What identifies it in the index."""

    @property
    def source(self) -> str | None:
        """Its file, or None."""

    @property
    def properties(self) -> Mapping[str, Value]:
        """What its file says of it, or its maker."""


def facts(document: Described) -> dict[str, Value]:
    """The properties of a document together with the built-in keys.

    ``document`` is the name, and the file name without its folder; ``folder`` the path of the
    folder, and its name; ``kind`` the suffix of the file, in lower case; ``year`` that of the date.
    Paths are written with ``/``. ``document``, ``folder`` and ``kind`` stand for the file even
    where a property has the same name. ``language`` is its code, and that without the region.

    >>> from milepost.types import Document
    >>> facts(Document("/a/b.PDF", "", source="/a/b.PDF", properties={"date": "2020-03"}))
    {'date': '2020-03', 'document': ('/a/b.PDF', 'b.PDF'), 'folder': ('/a', 'a'), 'kind': 'pdf', \
'year': 2020.0}
    """
    found = {**document.properties}
    for key in ("document", "folder", "kind"):
        found.pop(key, None)
    name = _with_slashes(document.name)
    found["document"] = _each(name, name.rpartition("/")[2])
    if document.source is not None:
        folder, slash, file = _with_slashes(document.source).rpartition("/")
        if slash:
            found["folder"] = _each(folder or "/", folder.rpartition("/")[2])
        stem, dot, suffix = file.rpartition(".")
        if dot and stem and suffix:
            found["kind"] = suffix.lower()
    language = found.get("language")
    if isinstance(language, str):
        code = language.replace("_", "-")
        found["language"] = _each(code, code.partition("-")[0])
    date = found.get("date")
    if "year" not in found and isinstance(date, str) and is_date(date):
        found["year"] = float(date[:4])
    return found


def known_keys(documents: Iterable[Described]) -> set[str]:
    """The keys that documents have of their own."""
    return {key for each in documents for key in each.properties}


def _with_slashes(path: str) -> str:
    return path if os.sep == "/" else path.replace(os.sep, "/")


def _each(*values: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, values)))
