"""Read Word files: the text with all tracked changes accepted.

python-docx opens the package and its styles. Its ``paragraph.text`` omits insertions, so this
module collects the text from the XML, in document order.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from milepost.errors import UnreadableFile
from milepost.text.readers import metadata
from milepost.text.readers.archive import Archive
from milepost.text.readers.builder import TextBuilder
from milepost.types import Document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_GONE = frozenset(
    _W + tag
    for tag in ("del", "moveFrom", "delText", "instrText", "delInstrText", "pPr", "rPr", "sectPr")
) | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
"""Elements whose text is not part of the document or is a duplicate."""

_SIGNS = {_W + "tab": " ", _W + "cr": "\n", _W + "noBreakHyphen": "‑", _W + "ptab": " "}
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_SPACES = re.compile(r"[ \t]+")
_NOTES = re.compile(r"/(footnotes|endnotes)$")


def read_docx(data: bytes, name: str, source: str | None) -> Document:
    """Read a Word file: body, tables and text boxes in order, footnotes and endnotes at the end.

    Raises:
        UnreadableFile: the package is damaged.
    """
    import docx

    archive = Archive(data, name)  # refuses zip bombs
    try:
        package = docx.Document(io.BytesIO(data))
        body = package.element.body
        reader = _Reader(_styles(package.styles.element))
        reader.blocks(body)
        for part in _note_parts(package.part):
            reader.notes(part)
    except Exception as error:  # lxml, zipfile and python-docx raise different errors
        why = str(error).splitlines()[0][:100] if str(error) else type(error).__name__
        raise UnreadableFile(f"{name} is damaged: {why}", "open and save it again") from error
    built = reader.text
    notes = () if built.text else ("no text in it",)
    return Document(
        name,
        built.text,
        built.marks,
        source,
        notes=notes,
        blocks=built.blocks,
        properties=metadata.of_office(archive),
    )


def _note_parts(part: Any) -> Iterator[Any]:
    from docx.oxml import parse_xml

    for relation in part.rels.values():
        if not relation.is_external and _NOTES.search(relation.reltype):
            yield parse_xml(relation.target_part.blob)


def _styles(styles: Any) -> dict[str, tuple[int, bool]]:
    """Map style ids to (heading level or 0, is a list), with inheritance between styles."""
    known = {style.get(_W + "styleId"): style for style in styles.iter(_W + "style")}
    kinds: dict[str, tuple[int, bool]] = {}
    for key in known:
        level, listed = 0, False
        style, steps = known[key], 0
        while style is not None and steps < 20:
            level = level or _style_level(style)
            own = style.find(f"{_W}pPr/{_W}numPr/{_W}numId")
            listed = listed or (own is not None and own.get(_W + "val") != "0")
            base = style.find(_W + "basedOn")
            style = known.get(base.get(_W + "val")) if base is not None else None
            steps += 1
        kinds[key] = (level, listed)
    return kinds


def _style_level(style: Any) -> int:
    label = style.find(_W + "name")
    words = (label.get(_W + "val") or "") if label is not None else ""
    if match := _HEADING.match(words):
        return min(6, max(1, int(match[1])))
    if words.lower() == "title":
        return 1
    return _outline(style.find(_W + "pPr"))


def _outline(properties: Any) -> int:
    """Return the heading level that the paragraph properties set themselves, 0 for none."""
    node = properties.find(_W + "outlineLvl") if properties is not None else None
    level = int(node.get(_W + "val", "9")) if node is not None else 9
    return level + 1 if level < 6 else 0


class _Reader:
    """Walk the body and build the text."""

    def __init__(self, styles: dict[str, tuple[int, bool]]) -> None:
        self.text = TextBuilder()
        self._styles = styles
        self._carried = ""  # text of a paragraph whose end was deleted: it joins the next paragraph

    def blocks(self, parent: Any) -> None:
        """Add the paragraphs and tables under ``parent``, including those in containers."""
        for node in parent:
            if node.tag == _W + "p":
                self._paragraph(node)
            elif node.tag == _W + "tbl":
                self._table(node)
            elif isinstance(node.tag, str) and node.tag not in _GONE:
                self.blocks(node)

    def notes(self, part: Any) -> None:
        """Add the footnotes or endnotes, without their separator lines."""
        for note in part:
            if note.get(_W + "type") in (None, "normal"):
                self.blocks(note)

    def _paragraph(self, node: Any) -> None:
        words = self._carried + _words(node)
        properties = node.find(_W + "pPr")
        if properties is not None and properties.find(f"{_W}rPr/{_W}del") is not None:
            self._carried = words
            return
        self._carried = ""
        level, listed = self._kind(properties)
        words = "\n".join(_SPACES.sub(" ", line).strip() for line in words.split("\n")).strip()
        bullet = "- " if listed and not level and words else ""
        self.text.add(bullet + words, close=bool(bullet), level=level)
        for box in _boxes(node):
            self.blocks(box)

    def _kind(self, properties: Any) -> tuple[int, bool]:
        """Return a paragraph's heading level (0 for none) and whether it is a list item."""
        if properties is None:
            return 0, False
        style = properties.find(_W + "pStyle")
        level, listed = self._styles.get(
            style.get(_W + "val") if style is not None else "", (0, False)
        )
        own = properties.find(f"{_W}numPr/{_W}numId")
        if own is not None:
            listed = own.get(_W + "val") != "0"
        return _outline(properties) or level, listed

    def _table(self, table: Any) -> None:
        for row in _rows(table):
            cells = list(_cells(row))
            if any(cell.find(f".//{_W}tbl") is not None for cell in cells):
                for cell in cells:
                    self.blocks(cell)
                continue
            texts = [" ".join(self._cell(cell).split()) for cell in cells]
            texts = [text for text in texts if text]
            self.text.add(" | ".join(texts), close=len(texts) > 1)

    def _cell(self, cell: Any) -> str:
        inner = _Reader(self._styles)
        inner.blocks(cell)
        return inner.text.text


def _rows(table: Any) -> Iterator[Any]:
    """Yield the rows of a table, without those deleted by a tracked change."""
    for node in table:
        if node.tag == _W + "tr":
            if node.find(f"{_W}trPr/{_W}del") is None:
                yield node
        elif node.tag in (_W + "sdt", _W + "sdtContent", _W + "customXml"):
            yield from _rows(node)


def _cells(row: Any) -> Iterator[Any]:
    """Yield the cells of a row, without the empty ones that continue a cell above."""
    for node in row:
        if node.tag == _W + "tc":
            merged = node.find(f"{_W}tcPr/{_W}vMerge")
            if merged is None or merged.get(_W + "val") == "restart":
                yield node
        elif node.tag in (_W + "sdt", _W + "sdtContent", _W + "customXml"):
            yield from _cells(node)


def _words(node: Any) -> str:
    """Collect the visible text of a paragraph, without text boxes."""
    return "".join(_visible(node))


def _visible(node: Any) -> Iterator[str]:
    for child in node:
        tag = child.tag
        if tag == _W + "t":
            yield child.text or ""
        elif tag in _SIGNS:
            yield _SIGNS[tag]
        elif tag == _W + "br":
            yield "" if child.get(_W + "type") in ("page", "column") else "\n"
        elif tag == _W + "r" and child.find(f"{_W}rPr/{_W}vanish") is not None:
            continue
        elif isinstance(tag, str) and tag not in _GONE and tag != _W + "txbxContent":
            yield from _visible(child)


def _boxes(node: Any) -> Iterator[Any]:
    """Yield the text boxes anchored in a paragraph, each one once."""
    for child in node:
        if child.tag == _W + "txbxContent":
            yield child
        elif isinstance(child.tag, str) and child.tag not in _GONE:
            yield from _boxes(child)
