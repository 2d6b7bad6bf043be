"""Read HTML and XHTML: the visible text, block by block."""

from __future__ import annotations

import re
from typing import Any

from milepost.properties import Properties
from milepost.text.encoding import decode
from milepost.text.readers import metadata
from milepost.text.readers.builder import TextBuilder
from milepost.types import Document

_META = re.compile(
    rb"""<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*["']?([\w:.-]+)""", re.I
)
_XHTML = re.compile(r"\s*<\?xml|.{0,400}?<html[^>]*\sxmlns", re.I | re.S)
_SELF_CLOSED = re.compile(
    r"<(a|abbr|b|cite|code|div|em|h[1-6]|i|iframe|li|noscript|object|p|script|section|small|span"
    r"|strong|style|sub|sup|td|textarea|th|title|tr|ul)\b([^<>]*)/>",
    re.I,
)

_UNREAD = frozenset(
    """
    head script style template noscript iframe object canvas svg audio video select datalist
    textarea input dialog rt rp rtc annotation annotation-xml
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
_BLOCKS = frozenset(
    """
    address article aside blockquote body center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu
    nav ol optgroup p pre search section summary table caption tbody thead tfoot tr td th ul
    colgroup
    """.split()  # noqa: SIM905 - one name a line would hide the list
)

_FURNITURE = "nav, footer, aside, [role=navigation], [role=contentinfo], [role=search], menu"
_SPACES = re.compile(r"[ \t\n\r\f]+")
_PILCROW = re.compile(r"\s*[¶#§🔗\U000f0c6b]\s*$")
_HIDING = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_AUTHOR = ("author", "dc.creator", "dcterms.creator", "citation_author", "article:author")
_DATE = (
    "date", "dc.date", "dcterms.date", "dcterms.created", "citation_publication_date",
    "article:published_time",
)  # fmt: skip
_MAIN_SHARE = 0.5
"""Minimum share of the text in ``main`` or ``article`` elements for menus to be dropped."""


def read_html(data: bytes, name: str, source: str | None) -> Document:
    """Read a web page; menus and footers are dropped if the page marks its main part."""
    page, notes = decode_page(data, name)
    built = TextBuilder()
    tree = _parsed(page)
    _write(tree, built)
    return Document(
        name,
        built.text,
        built.marks,
        source,
        notes=notes,
        blocks=built.blocks,
        properties=_properties(tree),
    )


def decode_page(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Decode a page by its XML declaration or meta tag; returns text and notes as ``decode``."""
    declared = _META.search(data[:4096])
    return decode(data, name, declared[1].decode("ascii") if declared else None)


def write(page: str, text: TextBuilder) -> None:
    """Add the visible text of a page to ``text``."""
    _write(_parsed(page), text)


def _parsed(page: str) -> Any:
    from selectolax.lexbor import LexborHTMLParser

    if _XHTML.match(page):
        # The HTML parser treats <script/> as an open tag and would drop the text after it.
        page = _SELF_CLOSED.sub(r"<\1\2></\1>", page)
    return LexborHTMLParser(page)


def _write(tree: Any, text: TextBuilder) -> None:
    if tree.body is not None:
        _Walk(text, _furniture(tree)).walk(tree.body)


def _properties(tree: Any) -> Properties:
    """Read the properties in the head of a page."""
    said: dict[str, list[str]] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        key = attributes.get("name") or attributes.get("property") or ""
        said.setdefault(key.strip().lower(), []).append(attributes.get("content") or "")
    title = tree.css_first("head > title")
    root = tree.css_first("html")
    authors = next((said[key] for key in _AUTHOR if key in said), [])
    return metadata.properties(
        title=title.text() if title is not None else None,
        author=authors if len(authors) > 1 else next(iter(authors), None),
        date=next((said[key][0] for key in _DATE if key in said), None),
        language=root.attributes.get("lang") if root is not None else None,
        keywords=next(iter(said.get("keywords", ())), None),
        description=next(iter(said.get("description", ())), None),
    )


def _furniture(tree: Any) -> set[int]:
    """Return the ids of menus, footers and asides, if the main part has most of the text."""
    body = tree.body
    mains = tree.css("main, [role=main]") or tree.css("article")
    held = sum(len(main.text(deep=True)) for main in mains)
    scripts = sum(len(node.text(deep=True)) for node in tree.css("body script, body style"))
    if held < _MAIN_SHARE * max(1, len(body.text(deep=True)) - scripts):
        return set()
    return {node.mem_id for node in tree.css(_FURNITURE)}


class _Walk:
    """One pass over a page in document order, without recursion, because pages nest deeply."""

    def __init__(self, text: TextBuilder, unread: set[int]) -> None:
        self._text = text
        self._unread = unread
        self._words: list[str] = []
        self._cells: list[list[str]] = []  # of the open table rows
        self._pre = 0
        self._close = False
        self._bullet = ""

    def walk(self, body: Any) -> None:
        """Read ``body`` and its descendants."""
        node, depth = body, 0
        while node is not None:
            child = None
            if node.is_text_node:
                self._words.append(node.text_content or "")
            elif node.is_element_node and not self._is_hidden(node):
                self._enter(node)
                child = node.first_child
                if child is None:
                    self._leave(node)
            if child is not None:
                node, depth = child, depth + 1
                continue
            while node.next is None and depth:
                node, depth = node.parent, depth - 1
                self._leave(node)
            node = node.next if depth else None

    def _is_hidden(self, node: Any) -> bool:
        if node.tag in _UNREAD or node.mem_id in self._unread:
            return True
        attributes = node.attributes
        if not attributes:
            return False
        if "hidden" in attributes or _HIDING.search(attributes.get("style") or ""):
            return True
        return node.tag not in _BLOCKS and attributes.get("aria-hidden") == "true"

    def _enter(self, node: Any) -> None:
        tag = node.tag
        if tag == "br":
            self._words.append("\0")
        if tag not in _BLOCKS:
            return
        self._flush()
        if tag == "pre":
            self._pre += 1
        elif tag == "tr" and _is_data(node):
            self._cells.append([])
        elif tag in ("td", "th") and self._cells:
            self._cells[-1].append("")
        elif tag == "li":
            self._bullet = "- "

    def _leave(self, node: Any) -> None:
        tag = node.tag
        if tag not in _BLOCKS:
            return
        self._flush(int(tag[1]) if tag in ("h1", "h2", "h3", "h4", "h5", "h6") else 0)
        if tag == "pre":
            self._pre -= 1
        elif tag == "li":
            self._bullet = ""
        elif tag == "tr" and self._cells and _is_data(node):
            cells = [cell for cell in self._cells.pop() if cell]
            self._text.add(" | ".join(cells), close=len(cells) > 1)

    def _flush(self, level: int = 0) -> None:
        """Add the text collected since the last block boundary."""
        raw = "".join(self._words)
        self._words.clear()
        if self._pre and not self._cells:
            for number, line in enumerate(raw.replace("\0", "\n").strip("\n").split("\n")):
                self._text.add(line.rstrip(), close=number > 0)
            return
        lines = (_SPACES.sub(" ", line).strip() for line in raw.split("\0"))
        words = "\n".join(line for line in lines if line)
        if not words:
            return
        if self._cells and self._cells[-1]:
            cell = self._cells[-1][-1]
            self._cells[-1][-1] = f"{cell} {words}".strip().replace("\n", " ")
            return
        if level:
            words = _PILCROW.sub("", words)
        self._text.add(self._bullet + words, close=bool(self._bullet), level=level)
        self._bullet = ""


def _is_data(row: Any) -> bool:
    """Whether a table row contains cells of data, not the layout of a page."""
    return row.css_first("table, h1, h2, h3, h4, pre, p + p + p") is None
