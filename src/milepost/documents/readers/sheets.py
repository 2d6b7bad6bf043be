"""Read spreadsheets (xlsx, xlsm, xlsb, xls, ods, fods): one heading per sheet, one line per row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from xml.etree.ElementTree import Element

from milepost.documents.readers import metadata, sheet_records, sheet_xml
from milepost.documents.readers.archive import Archive, attribute, every, local, parsed
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.office import Drawings, links, main_part, target, words
from milepost.documents.readers.opendocument import ANCHORED, Reader, content_of
from milepost.documents.readers.shapes import is_hidden
from milepost.documents.readers.sheet_values import Book, Sheet
from milepost.documents.readers.table import write_rows
from milepost.errors import UnreadableFile
from milepost.properties import EMPTY
from milepost.types import Document
from milepost.wording import counted


def read_sheets(data: bytes, name: str, source: str | None) -> Document:
    """Read all sheets, including hidden ones."""
    properties, content = EMPTY, None
    notes: list[str] = []
    text = TextBuilder()
    if data.startswith(b"PK"):
        archive = Archive(data, name)  # refuses zip bombs
        if "content.xml" in archive.parts:
            content = content_of(archive)
            sheets = _tables(content, text, archive)
            properties = metadata.of_opendocument(archive)
        else:
            sheets = _of_workbook(archive, text, notes)
            properties = metadata.of_office(archive)
    elif data.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<"):
        content = parsed(data, name, "the file")
        sheets = _tables(content, text)
        properties = metadata.of_opendocument(content)
    else:
        sheets = sheet_records.read_old(data, name, text)
    if not sheets and content is None:
        raise UnreadableFile(f"{name} is damaged: it has no sheets", "open and save it again")
    for sheet in sheets:
        text.place("sheet", sheet.name)
        rows = sheet.laid_out(name)
        if rows or sheet.lines:
            text.add(sheet.name, level=1)
        write_rows(rows, text, sheet.heads)
        for line in sheet.lines:
            text.add(line)
        if (rows or sheet.lines) and sheet.name in sheet.book.hidden:
            notes.append(f"sheet {sheet.name} is hidden, but read")
        elif sheet.hidden:
            notes.append(
                f"sheet {sheet.name}: hidden rows and columns that are read: {sheet.hidden:,}"
            )
        if sheet.unsolved:
            notes.append(
                f"sheet {sheet.name}: {sheet.unsolved:,} formulas have no stored result; open the "
                "file in a spreadsheet program and save it again"
            )
        if sheet.left_out:
            equal = counted(sheet.left_out, "row")
            notes.append(f"sheet {sheet.name}: {equal} equal to the row above left out")
    return text.document(name, source, tuple(notes), properties)


def _tables(content: Element, text: TextBuilder, archive: Archive | None = None) -> list[Sheet]:
    """Read the sheets of an ods or fods file, and what is beside their cells."""
    styles = [archive.xml_or_none("styles.xml")] if archive else []
    reader = Reader([*styles, content], archive)
    struck, unseen = reader.styles.struck(), reader.styles.unseen
    book = Book(text)
    beside: list[Element] = []

    def read(cell: Element) -> str:
        """Read the text of a cell; the boxes in it are beside it."""
        beside.extend(node for node in cell.iter() if local(node) in ANCHORED)
        style = attribute(cell, "style-name")
        paragraphs = [reader.words(node, style) for node in cell if local(node) == "p"]
        return " ".join(" ".join(paragraphs).split())

    sheets: list[Sheet] = []
    held = (
        node for body in content for book in body if local(book) == "spreadsheet" for node in book
    )
    for table in (node for node in held if local(node) == "table"):
        sheet = Sheet(attribute(table, "name") or "", book)
        if attribute(table, "style-name") in unseen:
            book.hidden.add(sheet.name)
        if sheet.name.startswith("'file:"):  # a copy of what formulas refer to in another file
            continue
        shapes = (node for node in table if local(node) == "shapes")
        beside = [node for part in shapes for node in part.iter() if local(node) in ANCHORED]
        sheet_xml.read_table(table, read, struck, sheet)
        parts = (part for box in beside for part in _beside(box, reader))
        lines = [reader.words(node) for part in parts for node in every(part, "p")]
        lines += (reader.typed(node) for node in every(table, "control"))
        sheet.lines = [line for line in lines if line]
        sheets.append(sheet)
    text.left_out.update(reader.text.left_out)
    return sheets


def _beside(box: Element, reader: Reader) -> list[Element]:
    """Return what has the words of a box in an ods file; values of charts are in cells."""
    if local(box) not in ("object", "object-ole"):
        return [box]
    root = reader.embedded(box)
    return every(root, "title") + every(root, "subtitle") if root is not None else []


def _of_workbook(archive: Archive, text: TextBuilder, notes: list[str]) -> list[Sheet]:
    """Read the sheets of an xlsx or xlsb file; damaged drawings are named in ``notes``."""
    main = main_part(archive)
    if main is None:
        return []
    parts = links(archive, main[0])
    reader = sheet_records if main[0].endswith(".bin") else sheet_xml
    book = reader.read_book(archive, target(parts, "styles"), target(parts, "sharedStrings"), text)
    sheets: list[Sheet] = []
    for name, key in reader.read_sheets(archive, main[0], book):
        kind, part = parts.get(key, ("", ""))
        if part in archive.parts:
            sheet = Sheet(name, book)
            if kind == "worksheet":
                reader.read_cells(archive, part, sheet)
            sheet.lines = list(_drawn_lines(archive, part, sheet, notes))
            sheets.append(sheet)
    return sheets


def _drawn_lines(archive: Archive, part: str, sheet: Sheet, notes: list[str]) -> Iterator[str]:
    """Yield the text of the boxes, diagrams and charts of a sheet, which takes its tables."""
    text = sheet.book.text
    try:
        beside = links(archive, part)
        for kind, drawn in beside.values():
            if kind in ("oleObject", "package"):
                text.leave_out("x", "an embedded object")
            elif kind == "table" and drawn.endswith(".xml"):
                sheet_xml.read_head(archive.xml(drawn), sheet)
            elif kind == "vmlDrawing":
                with suppress(UnreadableFile):  # it often is no XML
                    yield from _controls(archive.xml(drawn), text)
            elif kind == "drawing":
                drawings = Drawings(archive, links(archive, drawn), notes)
                for node in _shown(drawings.part(drawn)):
                    tag = local(node)
                    if tag == "txBody":
                        yield from filter(None, (words(line, text) for line in every(node, "p")))
                    elif tag == "graphicData":
                        # The values of charts are in cells.
                        whole = node.get("uri", "").endswith("diagram")
                        said = drawings.lines(node)
                        yield from (line for line, row in said if line and (whole or not row))
    except UnreadableFile as error:
        notes.append(error.problem)


def _controls(drawing: Element, text: TextBuilder) -> Iterator[str]:
    """Yield what the form fields of a sheet show."""
    for shape in every(drawing, "shape"):
        label = " ".join(" ".join(box.itertext()) for box in every(shape, "textbox"))
        for data in every(shape, "ClientData"):
            kind = data.get("ObjectType")
            if kind in ("Checkbox", "Radio"):
                is_on = any(node.text == "1" for node in every(data, "Checked"))
                label = f"{'☒' if is_on else '☐'} {label}"
            elif kind in ("Drop", "List"):
                text.leave_out("x", "a list of choices")
            if kind != "Note":
                yield " ".join(label.split())


def _shown(drawing: Element) -> Iterator[Element]:
    """Yield the elements of a drawing, without those of hidden shapes."""
    for node in drawing:
        if not is_hidden(node):
            yield node
            yield from _shown(node)
