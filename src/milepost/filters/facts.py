"""What a filter can ask of a document: its own properties, and keys that every document has.

This is the one place that says what the built-in keys mean.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
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


def facts(document: Described, wanted: Collection[str] | None = None) -> dict[str, Value]:
    """The properties of a document together with the built-in keys, or those that are wanted.

    ``document`` is the name, and each end of its path, as names are shown below some folder;
    ``folder`` the path of the folder, and its name; ``kind`` the suffix of the file, in lower case;
    ``year`` that of the date. Paths are written with ``/``. ``document``, ``folder`` and ``kind``
    stand for the file even where a property has the same name. ``language`` is its code, and that
    without the region.

    >>> from milepost.types import Document
    >>> facts(Document("/a/b.PDF", "", source="/a/b.PDF", properties={"date": "2020-03"}))
    {'document': ('/a/b.PDF', 'a/b.PDF', 'b.PDF'), 'folder': ('/a', 'a'), 'kind': 'pdf', \
'date': '2020-03', 'year': 2020.0}
    """
    keys = [*dict.fromkeys((*BUILT_IN, *document.properties.keys()))] if wanted is None else wanted
    found = ((key, _fact(document, key)) for key in keys)
    return {key: value for key, value in found if value is not None}


def _fact(document: Described, key: str) -> Value | None:
    if key == "document":
        parts = _with_slashes(document.name).split("/")
        return _each(*("/".join(parts[first:]) for first in range(len(parts))))
    if key in ("folder", "kind") and document.source is not None:  # of the file
        return _of_path(_with_slashes(document.source), key)
    value = document.properties.get(key)
    if key == "language" and isinstance(value, str):
        code = value.replace("_", "-")
        return _each(code, code.partition("-")[0])
    if key == "year" and value is None:
        date = document.properties.get("date")
        return float(date[:4]) if isinstance(date, str) and is_date(date) else None
    return value


def _of_path(path: str, key: str) -> Value | None:
    folder, slash, file = path.rpartition("/")
    if key == "folder":
        return _each(folder or "/", folder.rpartition("/")[2]) if slash else None
    stem, _, suffix = file.rpartition(".")
    return suffix.lower() if stem and suffix else None


def _with_slashes(path: str) -> str:
    return path if os.sep == "/" else path.replace(os.sep, "/")


def _each(*values: str) -> Value | None:
    """All values that there are, each once, or the one there is."""
    found = tuple(dict.fromkeys(filter(None, values)))
    return found[0] if len(found) == 1 else found or None
