"""Read the properties of files: title, author, date, language, keywords, and custom ones.

Damaged or missing metadata is not an error: the document is then read without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from xml.etree.ElementTree import Element

from milepost.documents.readers.archive import Archive, attribute, every, local
from milepost.properties import EMPTY, Properties, cleaned

_CORE = "docProps/core.xml"
_CUSTOM = "docProps/custom.xml"
_OPENDOCUMENT = "meta.xml"
_NONE = Element("none")

_CONVERTED = re.compile(
    r"AppVersion|DocSecurity|HiddenSlides|HyperlinksChanged|LinksUpToDate|MMClips|Notes"
    r"|PresentationFormat|ScaleCrop|ShareDoc|Slides"
)
"""Names that LibreOffice gives to what Office says of itself, beside the maker's own."""
_LABEL = "MSIP_"  # begins the names of labels that Office puts on files

_SEPARATOR = re.compile(r"\s*[,;]\s*")
_ADDRESS = re.compile(r"\s*(?:https?:|www\.)\S+\s*", re.I)


def properties(own: Mapping[str, Any] = EMPTY, **said: Any) -> Properties:
    """Make the properties of a document; empty and invalid values are left out.

    Args:
        own: keys and values of its maker's own.
        said: title, language, a code such as ``en-GB``, and description; author, a name, a string
            of names separated by semicolons, or a list of names; date, in ISO 8601, PDF or mail
            format, or another one, which is not changed; keywords, a string with commas or
            semicolons, or a list.
    """
    author, keywords = said.get("author"), said.get("keywords")
    if isinstance(author, list) and len(author) < 2:
        author = next(iter(author), None)
    people = author.split(";") if isinstance(author, str) else author
    if isinstance(people, list):
        people = [name for name in people if str(name or "").strip() and not is_address(name)]
        author = people if len(people) > 1 else next(iter(people), None)
    if isinstance(keywords, str):
        keywords = [word for word in _SEPARATOR.split(keywords) if word]
    title = None if is_address(said.get("title")) else said.get("title")
    said.update(title=title, author=author, keywords=keywords)
    return cleaned({**said, **own})


def is_address(value: Any) -> bool:
    """Whether a value is the address of a page, which is no title and no name."""
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None


def front_matter(values: Mapping[Any, Any]) -> Properties:
    """Make properties from the front matter of a Markdown file or the metadata of a notebook.

    ``authors`` and ``lang`` mean ``author`` and ``language``; an author may be a mapping with a
    ``name``. Other keys are kept, unless their value is a mapping.
    """
    own = {str(key): value for key, value in values.items()}
    lowered = {key.lower(): value for key, value in own.items()}
    author = lowered.get("author") or lowered.get("authors")
    people = author if isinstance(author, list) else [author]
    names = [each.get("name") if isinstance(each, dict) else each for each in people]
    return properties(
        title=lowered.get("title"),
        author=names,
        date=lowered.get("date"),
        language=lowered.get("language") or lowered.get("lang"),
        keywords=lowered.get("keywords"),
        description=lowered.get("description"),
        own={
            key: value
            for key, value in own.items()
            if key.lower() not in _STANDARD and not isinstance(value, dict)
        },
    )


_STANDARD = frozenset(
    ("title", "author", "authors", "date", "language", "lang", "keywords", "description")
)


def of_office(archive: Archive) -> Properties:
    """Read the properties of a Word, PowerPoint or Excel file, including custom ones."""
    custom = {
        node.get("name", ""): next((_typed(child) for child in node if child.text), None)
        for node in every(archive.xml_or_none(_CUSTOM), "property")
    }
    return _described(archive.xml_or_none(_CORE), custom)


def of_opendocument(source: Archive | Element) -> Properties:
    """Read the properties of an OpenDocument file or of a flat one, including custom ones."""
    root = source.xml_or_none(_OPENDOCUMENT) if isinstance(source, Archive) else source
    own = {attribute(node, "name") or "": node.text for node in every(root, "user-defined")}
    return _described(next(iter(every(root, "meta")), root), own)


def _described(root: Element, own: Mapping[str, Any]) -> Properties:
    """Read what office programs say of a document, in either format."""
    said = _texts(root)
    own = {key: value for key, value in own.items() if not key.startswith(_LABEL)}
    if "AppVersion" in own:
        own = {key: value for key, value in own.items() if not _CONVERTED.fullmatch(key)}
    return properties(
        title=_one(said, "title"),
        author=_one(said, "initial-creator", "creator"),
        date=_one(said, "creation-date", "created", "date", "modified"),
        language=_one(said, "language"),
        keywords=said.get("keyword") or _one(said, "keywords"),
        description=_one(said, "description"),
        own={"subject": _one(said, "subject"), "category": _one(said, "category"), **own},
    )


def of_book(book: Element) -> Properties:
    """Read the properties of an EPUB from its package document."""
    said = _texts(next(iter(every(book, "metadata")), _NONE))
    return properties(
        title=_one(said, "title"),
        author=said.get("creator"),
        date=_one(said, "date"),
        language=_one(said, "language"),
        keywords=said.get("subject"),
        own={"publisher": _one(said, "publisher")},
    )


def of_fiction_book(root: Element) -> Properties:
    """Read the properties of a FictionBook from its description."""
    head = next(iter(every(root, "title-info")), _NONE)
    said = _texts(head)
    authors = [
        " ".join(part.text or "" for part in node if local(part).endswith("-name") and part.text)
        for node in every(head, "author")
    ]
    return properties(
        title=_one(said, "book-title"),
        author=authors,
        date=_one(said, "date"),
        language=_one(said, "lang"),
        keywords=_one(said, "keywords"),
    )


def _typed(node: Element) -> str | float | bool:
    text, kind = node.text or "", local(node)
    if kind == "bool":
        return text.strip().lower() in ("true", "1")
    if kind in ("i1", "i2", "i4", "i8", "int", "r4", "r8", "decimal"):
        with suppress(ValueError):
            return float(text)
    return text


def _texts(root: Element) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in root.iter():
        words = node.text or ""
        if isinstance(node.tag, str) and words.strip() and not is_address(words):
            found.setdefault(local(node), []).append(words)
    return found


def _one(texts: Mapping[str, Iterable[str]], *keys: str) -> str | None:
    return next((text for key in keys for text in texts.get(key, ())), None)
