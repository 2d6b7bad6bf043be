"""Read OpenDocument texts and presentations (odt, odp): headings, lists, tables, notes, slides."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from milepost.errors import UnreadableFile
from milepost.text.readers import metadata
from milepost.text.readers.archive import Archive, attribute, every, local
from milepost.text.readers.builder import TextBuilder
from milepost.types import Document

_MANIFEST = "META-INF/manifest.xml"
_UNREAD = frozenset(
    """
    annotation annotation-end tracked-changes sequence-decls variable-decls user-field-decls forms
    note-citation page-number page-count header footer date-time header-decl footer-decl
    date-time-decl object-ole event-listeners desc title meta scripts settings
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
"""Elements whose text is not part of the document: comments, deletions, headers, footers."""


def read_opendocument(data: bytes, name: str, source: str | None) -> Document:
    """Read the body; tracked changes are accepted, and footnotes follow their paragraph.

    Raises:
        UnreadableFile: the file is damaged or protected by a password.
    """
    archive = Archive(data, name)
    if _MANIFEST in archive.parts and every(archive.xml(_MANIFEST), "encryption-data"):
        raise UnreadableFile(f"{name} is protected by a password", "save it without one")
    reader = _Reader()
    for body in every(archive.xml("content.xml"), "body"):
        for kind in body:
            reader.blocks(kind)
    return reader.text.document(name, source, (), metadata.of_opendocument(archive))


class _Reader:
    """Walk the body and build the text."""

    def __init__(self) -> None:
        self.text = TextBuilder()
        self._slide = 0

    def blocks(self, parent: Element) -> None:
        """Add all text under ``parent``."""
        for node in parent:
            tag = local(node)
            if tag in _UNREAD:
                continue
            if tag == "h":
                level = attribute(node, "outline-level") or "1"
                self._paragraph(node, level=min(6, max(1, int(level))) if level.isdigit() else 1)
            elif tag == "p":
                self._paragraph(node)
            elif tag == "list":
                self._list(node)
            elif tag == "table":
                self._table(node)
            elif tag == "page" and local(parent) == "presentation":
                self._page(node)
            else:
                self.blocks(node)

    def _page(self, page: Element) -> None:
        """Add a slide: its title, then its other shapes, then the speaker's notes."""
        self._slide += 1
        self.text.place("slide", str(self._slide))
        frames = [node for node in page if local(node) != "notes"]
        frames.sort(key=lambda node: attribute(node, "class") != "title")  # stable
        for frame in frames:
            if attribute(frame, "class") == "title":
                paragraphs = [words for node in every(frame, "p") if (words := _words(node))]
                self.text.add(" ".join(paragraphs), level=2)
            elif attribute(frame, "class") not in ("header", "footer", "date-time", "page-number"):
                self.blocks(_holding(frame))
        for notes in every(page, "notes"):
            self.blocks(notes)

    def _paragraph(self, node: Element, *, level: int = 0, bullet: str = "") -> None:
        words = _words(node)
        self.text.add(bullet + words if words else "", close=bool(bullet), level=level)
        for inner in _inner(node):
            self.blocks(inner)

    def _list(self, items: Element) -> None:
        for item in items:
            bullet = "- "
            for node in item:
                if local(node) in ("p", "h"):
                    self._paragraph(node, bullet=bullet)
                    bullet = ""
                else:
                    self.blocks(_holding(node))

    def _table(self, table: Element) -> None:
        for row in _rows(table):
            cells = [cell for cell in row if local(cell) == "table-cell"]
            if any(every(cell, "table") for cell in cells):
                for cell in cells:
                    self.blocks(cell)
                continue
            texts = [" ".join(_cell(cell).split()) for cell in cells]
            texts = [text for text in texts if text]
            self.text.add(" | ".join(texts), close=len(texts) > 1)


def _holding(node: Element) -> Element:
    """Wrap ``node`` in an element, so that ``blocks`` handles its tag, too."""
    holder = Element("holder")
    holder.append(node)
    return holder


def _rows(table: Element) -> Iterator[Element]:
    for node in table:
        if local(node) == "table-row":
            yield node
        elif local(node) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(node)


def _cell(cell: Element) -> str:
    inner = _Reader()
    inner.blocks(cell)
    return inner.text.text


def _inner(paragraph: Element) -> Iterator[Element]:
    """Yield the footnotes and text boxes anchored in a paragraph."""
    for node in paragraph:
        tag = local(node)
        if tag in ("note", "text-box"):
            yield node
        elif tag not in _UNREAD:
            yield from _inner(node)


def _words(paragraph: Element) -> str:
    """Return the text of a paragraph with single spaces; its line breaks are kept."""
    lines = "".join(_visible(paragraph)).split("\n")
    return "\n".join(words for line in lines if (words := " ".join(line.split())))


def _visible(node: Element) -> Iterator[str]:
    yield (node.text or "").replace("\n", " ")
    for child in node:
        tag = local(child)
        if tag in ("s", "tab"):
            yield " "
        elif tag == "line-break":
            yield "\n"
        elif tag == "soft-page-break" or tag in _UNREAD or tag in ("note", "text-box"):
            pass
        else:
            yield from _visible(child)
        yield (child.tail or "").replace("\n", " ")
