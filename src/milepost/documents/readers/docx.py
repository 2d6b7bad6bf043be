"""Read Word files: the text with all tracked changes accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from milepost.documents.readers import docx_styles, metadata, office
from milepost.documents.readers.archive import Archive, attribute, number, parsed
from milepost.documents.readers.docx_styles import (
    VAL,
    Numbering,
    Style,
    W,
    is_on,
    look_of,
    said,
    toggled,
)
from milepost.documents.readers.fields import resolved, unresolved
from milepost.documents.readers.fonts import symbol, unsymboled
from milepost.documents.readers.formulas import linear
from milepost.documents.readers.grid import Cell, TreeReader
from milepost.documents.readers.scripts import Look, shown
from milepost.documents.readers.shapes import is_hidden
from milepost.errors import MilepostError
from milepost.types import Document

_MAIN = W[1:-1].encode()
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
"""Namespace of the strict variant of the standard, in which the elements have the same names."""

_GONE = frozenset(
    W + tag
    for tag in (
        "del", "moveFrom", "delText", "instrText", "delInstrText", "pPr", "rPr", "sectPr", "rt",
    )
)  # fmt: skip
"""Elements whose text is not part of the document."""

_SIGNS = {W + "tab": " ", W + "cr": "\n", W + "noBreakHyphen": "‑", W + "ptab": " "}
_HEX = re.compile(r"[0-9a-fA-F]{1,5}")
_SPACES = re.compile(r"[ \t]+")
_ENDS_NOT = f"{W}rPr/{W}del"  # the end of a paragraph is deleted
_CONTAINERS = (W + "sdt", W + "sdtContent", W + "customXml")
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}graphicData"
_SUFFIXES = {"html": ".html", "xhtml+xml": ".xhtml", "rfc822": ".mht", "plain": ".txt"}
"""Of files in the package, whose names say nothing, by their type."""

_FORMULA = "}oMath"
_LETTERING = "}textpath"
"""Letters of WordArt, in an attribute."""


def read_docx(data: bytes, name: str, source: str | None) -> Document:
    """Read a Word file: body, tables and text boxes in order, footnotes and endnotes at the end."""
    archive = Archive(data, name)  # refuses zip bombs
    main, _ = office.main_part(archive) or ("word/document.xml", "")
    body = _xml(archive, main)
    reader = _Reader(archive, office.links(archive, main))
    reader.blocks(body)
    for kind in ("footnotes", "endnotes"):
        reader.notes(kind)
    return reader.text.document(name, source, tuple(reader.problems), metadata.of_office(archive))


def _xml(archive: Archive, part: str) -> Element:
    return parsed(archive.read(part).replace(_STRICT, _MAIN), archive.name, part)


class _Reader(TreeReader):
    def __init__(self, archive: Archive, parts: office.Links) -> None:
        super().__init__()
        self._archive, self._links = archive, parts
        self._drawings = office.Drawings(archive, parts, self.problems)
        self._styles: dict[str, Style] = docx_styles.read_styles(self._part("styles"))
        self._default = self._style(None, "docDefaults").look
        self._numbering = Numbering(self._part("numbering"))
        # A paragraph that joins the next: its end is deleted, or it is an initial.
        self._carried = ""
        self._fields: list[_Field] = []  # that are open

    def _part(self, kind: str) -> Element | None:
        part = office.target(self._links, kind)
        return _xml(self._archive, part) if part else None

    def blocks(self, parent: Element) -> None:
        """Add the paragraphs and tables under ``parent``, including those in containers."""
        for node in parent:
            tag = node.tag
            if tag == W + "p":
                self._paragraph(node)
            elif tag == W + "tbl":
                kept = (row for row in _held(node, "tr") if row.find(f"{W}trPr/{W}del") is None)
                rows = ((row, list(_held(row, "tc"))) for row in kept)
                header = f"trPr/{W}tblHeader"  # a row that is repeated at the top of each page
                table = (
                    (cells, self._row(row, cells), bool(is_on(row, header))) for row, cells in rows
                )
                self.table(table, "tbl")
            elif tag == W + "altChunk":
                self._chunk(attribute(node, "id") or "")
            elif tag.endswith(_FORMULA):
                self.text.add(shown(linear(node)))
            elif tag not in _GONE:
                self.blocks(node)

    def notes(self, kind: str) -> None:
        """Add the footnotes or endnotes, without their separator lines."""
        for note in self._part(kind) or ():
            if note.get(W + "type") in (None, "normal"):
                self.blocks(note)

    def _chunk(self, key: str) -> None:
        """Add a file that the package has in place of paragraphs."""
        from milepost.documents.readers.formats import read_bytes

        _, part = self._links.get(key, ("", ""))
        try:
            kind = office.content_type(self._archive, part).rpartition("/")[2]
            document = read_bytes(self._archive.read(part), part + _SUFFIXES.get(kind, ""))
            self.text.include(document)
            self.problems += document.notes
        except MilepostError as error:
            self.problems.append(f"an inserted file was not read: {error}")

    def _paragraph(self, node: Element) -> None:
        properties = node.find(W + "pPr")
        style = self._style(properties, "pStyle")
        words = self._carried + shown("".join(self._visible(node, style.look)))
        self._fields.clear()
        frame = properties.find(W + "framePr") if properties is not None else None
        is_initial = frame is not None and frame.get(W + "dropCap") in ("drop", "margin")
        if is_initial or (properties is not None and properties.find(_ENDS_NOT) is not None):
            self._carried = words
            return
        self._carried = ""
        level = docx_styles.outline(properties) or style.level
        words = "\n".join(_SPACES.sub(" ", line).strip() for line in words.split("\n")).strip()
        own = docx_styles.numbered(properties)
        mark = properties.find(W + "rPr") if properties is not None else None
        bullet = ""
        look = look_of(mark).over(style.look).over(self._default)
        if words or not look.hidden:  # an empty item is counted, too
            named = "" if own[1] else said(properties, W + "pStyle")
            listed, depth = own[0] or style.listed[0], own[1] or style.listed[1] or "0"
            bullet = self._numbering.next(listed, depth, named) if listed else ""
        bullet = "" if level and bullet == "- " else bullet
        self.text.add(words and bullet + words, close=bool(bullet) and not level, level=level)
        for inner in self._inner(node, style.look):
            if inner.tag.endswith(_LETTERING):
                self.text.add(inner.get("string", ""))
            elif inner.tag == _DRAWING:
                for line, close in self._drawings.lines(inner):
                    self.text.add(line, close=close)
            else:
                self.blocks(inner)

    def _style(self, properties: Element | None, tag: str) -> Style:
        return self._styles.get(said(properties, W + tag, tag), _NO_STYLE)

    def _row(self, row: Element, cells: list[Element]) -> Iterator[Cell]:
        if before := number(said(row, f"{W}trPr/{W}gridBefore"), 0):
            yield "", before, 1
        for cell in cells:
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            rows = 1 if merged is None else -int(merged.get(VAL) == "restart")
            columns = number(said(cell, f"{W}tcPr/{W}gridSpan"), 1)
            yield self.cell(cell), columns, rows

    def _visible(self, node: Element, look: Look) -> Iterator[str]:
        for child in node:
            tag = child.tag
            if tag == W + "r":
                yield from self._run(child, look)
            elif tag == W + "t":
                if not any(field.waits for field in self._fields[:-1]):
                    words = unsymboled(child.text or "", look.font or "")
                    self._fill(words)
                    yield words
            elif tag in _SIGNS:
                yield _SIGNS[tag]
            elif tag == W + "br":
                yield "\n"
            elif tag == W + "sym":
                code = child.get(W + "char", "")
                if _HEX.fullmatch(code):
                    self._fill(code)
                    yield symbol(int(code, 16), child.get(W + "font", ""))
            elif tag == W + "fldChar":
                yield self._open_or_close(child)
            elif tag == W + "instrText" and self._fields:
                self._fields[-1].instruction += child.text or ""
            elif tag.endswith(("}OLEObject", "}control")):
                self.text.leave_out("x", f"an embedded object ({child.get('ProgID', 'a control')})")
            elif tag.endswith(_FORMULA):
                yield linear(child)
            elif tag not in _GONE and tag != W + "txbxContent":
                yield from self._visible(child, look)

    def _fill(self, words: str) -> None:
        for field in self._fields if words else ():
            field.is_empty = field.is_empty and field.waits

    def _open_or_close(self, node: Element) -> str:
        """Begin a field or its result, or end it; returns what is shown of one without a result."""
        kind = node.get(W + "fldCharType")
        if kind == "begin":
            data = node.find(W + "ffData")
            self._fields.append(_Field("" if data is None else _state(data)))
        elif self._fields and kind == "separate":
            self._fields[-1].waits = False
        elif self._fields:
            field = self._fields.pop()
            shown = field.state or resolved(field.instruction)
            if not shown and (what := unresolved(field.instruction)):
                self.text.leave_out("x", what)
            if field.is_empty:
                return shown
        return ""

    def _look(self, run: Element, base: Look) -> Look:
        own = run.find(W + "rPr")
        named = toggled(self._style(own, "rStyle").look, base)
        return look_of(own).over(named).over(self._default)

    def _run(self, node: Element, base: Look) -> Iterator[str]:
        look = self._look(node, base)
        if not look.hidden:
            yield self.text.looking("".join(self._visible(node, look)), look)

    def _inner(self, node: Element, base: Look) -> Iterator[Element]:
        """Yield the text boxes, diagrams and charts anchored in a paragraph, each one once."""
        for child in node:
            if (
                child.tag == W + "txbxContent"
                or (child.tag == _DRAWING and child.find(f".//{W}txbxContent") is None)
                or child.tag.endswith(_LETTERING)
            ):
                yield child
            elif (child.tag == W + "r" and self._look(child, base).hidden) or is_hidden(child):
                continue
            elif child.tag not in _GONE:
                yield from self._inner(child, base)


_NO_STYLE = Style()


@dataclass(slots=True)
class _Field:
    """An open field."""

    state: str  # what a form field shows that has no text of its own
    instruction: str = ""  # what it says
    waits: bool = True  # whether its result is still to come
    is_empty: bool = True  # whether it has no result so far


def _state(data: Element) -> str:
    """Show the state of a form field that has no text of its own: a box, a list of choices."""
    box, choices = data.find(W + "checkBox"), data.find(W + "ddList")
    if box is not None:
        state = is_on(box, "checked")
        if state is None:
            state = is_on(box, "default")
        return "☒" if state else "☐"
    if choices is not None:
        entries = [entry.get(VAL, "") for entry in choices.findall(W + "listEntry")]
        chosen = number(said(choices, W + "result") or said(choices, W + "default"), 0)
        return entries[chosen] if chosen < len(entries) else ""
    return ""


def _held(parent: Element, tag: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, including those in containers."""
    for node in parent:
        if node.tag == W + tag:
            yield node
        elif node.tag in _CONTAINERS:
            yield from _held(node, tag)
