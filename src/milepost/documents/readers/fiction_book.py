"""Read FictionBook files (fb2): sections with their titles, verses, notes."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from milepost.documents.readers import metadata
from milepost.documents.readers.archive import Archive, attribute, every, local, number, parsed
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.grid import Cell, Grid
from milepost.documents.readers.scripts import NOTE, lowered, raised, shown, signed
from milepost.types import Document

_LINES = frozenset(("p", "v", "subtitle", "text-author", "date"))


def read_fiction_book(data: bytes, name: str, source: str | None) -> Document:
    """Read the text and then the notes of a book."""
    if data.startswith(b"PK"):
        archive = Archive(data, name)
        data = archive.read(next(part for part in archive.parts if part.endswith(".fb2")))
    root = parsed(data, name, "the file")
    reader = _Reader()
    for body in root:
        if local(body) == "body":
            reader.blocks(body, 1)
    return reader.text.document(name, source, (), metadata.of_fiction_book(root))


class _Reader:
    def __init__(self) -> None:
        self.text = TextBuilder()

    def blocks(self, parent: Element, level: int) -> None:
        """Add the text under ``parent``, whose title has the given level."""
        for node in parent:
            tag = local(node)
            if tag == "title":
                said = (self._words(line) for line in every(node, "p"))
                self.text.add(" ".join(filter(None, said)), level=min(level, 6))
            elif tag in _LINES:
                heading = min(level + 1, 6) if tag == "subtitle" else 0
                self.text.add(self._words(node), close=tag == "v", level=heading)
            elif tag == "table":
                grid = Grid()
                for row in every(node, "tr"):
                    grid.add(self._cells(row))
                grid.write(self.text)
            else:
                self.blocks(node, level + (tag == "section"))

    def _cells(self, row: Element) -> Iterator[Cell]:
        for cell in row:
            columns, rows = (number(cell.get(key), 1) for key in ("colspan", "rowspan"))
            yield self._words(cell), columns, rows

    def _words(self, line: Element) -> str:
        return " ".join(shown("".join(self._pieces(line))).split())

    def _pieces(self, node: Element) -> Iterator[str]:
        yield node.text or ""
        for child in node:
            tag = local(child)
            words = "".join(self._pieces(child))
            if tag == "strikethrough":
                self.text.leave_out(words)
            elif tag == "sub":
                yield lowered(words)
            elif (tag == "a" and attribute(child, "type") == "note") or child.get("type") == "note":
                yield signed(words.strip("[]{}()"), NOTE)
            else:
                yield raised(words) if tag == "sup" else words
            yield child.tail or ""
