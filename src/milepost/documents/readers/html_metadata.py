"""What a web page says about itself: in meta tags, else in linked data (JSON-LD of schema.org)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from milepost.documents.readers import metadata
from milepost.properties import Properties

_AUTHOR = ("author", "dc.creator", "dcterms.creator", "citation_author", "article:author")
_DATE = (
    "date", "dc.date", "dcterms.date", "dcterms.created", "citation_publication_date",
    "article:published_time",
)  # fmt: skip


def properties(tree: Any) -> Properties:
    """Return the properties of a page."""
    said: dict[str, list[str]] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        key = attributes.get("name") or attributes.get("property") or ""
        content = attributes.get("content") or ""
        if not metadata.is_address(content):
            said.setdefault(key.strip().lower(), []).append(content)
    title = tree.css_first("head > title")
    root = tree.css_first("html")
    linked = _article(tree)
    return metadata.properties(
        title=title.text() if title is not None else None,
        author=next((said[key] for key in _AUTHOR if key in said), _names(linked.get("author"))),
        date=next((said[key][0] for key in _DATE if key in said), linked.get("datePublished")),
        language=root.attributes.get("lang") if root is not None else None,
        keywords=next(iter(said.get("keywords", ())), None),
        description=next(iter(said.get("description", ())), None),
    )


def _article(tree: Any) -> dict[str, Any]:
    """The first thing in the linked data of a page that was published; empty where none was."""
    for node in tree.css("script[type='application/ld+json']"):
        with suppress(ValueError, RecursionError):
            for each in _things(json.loads(node.text())):
                if isinstance(each.get("datePublished"), str):
                    return each
    return {}


def _things(held: Any) -> Iterator[dict[str, Any]]:
    if isinstance(held, dict):
        yield held
        held = held.get("@graph")
    if isinstance(held, list):
        for each in held:
            yield from _things(each)


def _names(authors: Any) -> list[str]:
    several = authors if isinstance(authors, list) else [authors]
    names = (each.get("name") if isinstance(each, dict) else each for each in several)
    return [name for name in names if isinstance(name, str)]
