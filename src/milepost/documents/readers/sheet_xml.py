"""Read the cells of xlsx and ods files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import chain
from xml.etree.ElementTree import Element

from milepost.documents.readers.archive import Archive, attribute, attributes, every, local, number
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.office import SCRIPTS
from milepost.documents.readers.scripts import Look
from milepost.documents.readers.sheet_values import COLUMNS, REPEATS, Book, Sheet, written

_ESCAPE = re.compile("_x([0-9a-fA-F]{4})_")
_LONG = re.compile(r"-?\d(?:[.,]\d+)?E\+15")  # LibreOffice shows a number of 16 digits so
_MOST = 1000  # columns over which a cell is repeated


def read_book(archive: Archive, styles: str, strings: str, text: TextBuilder) -> Book:
    """Read the parts of an xlsx file that have its styles and strings."""
    book = Book(text)
    root = archive.xml_or_none(styles)
    fonts = (font for held in every(root, "fonts") for font in held)
    book.looks = [Look(struck=any(map(_strikes, font))) for font in fonts]
    own = {
        number(node.get("numFmtId"), 0): node.get("formatCode", "")
        for node in every(root, "numFmt")
    }
    for node in (node for cells in every(root, "cellXfs") for node in every(cells, "xf")):
        font, kind = (number(node.get(key), 0) for key in ("fontId", "numFmtId"))
        book.add_style(font, kind, own)
    if strings in archive.parts:
        book.strings = [_string(node, book) for node in archive.elements(strings, ("si",))]
    return book


def read_sheets(archive: Archive, workbook: str, book: Book) -> list[tuple[str, str]]:
    """Return the names of the sheets of an xlsx file, and the links to their parts."""
    root = archive.xml(workbook)
    book.is_1904 = any(node.get("date1904") in ("1", "true") for node in every(root, "workbookPr"))
    sheets = every(root, "sheet")
    shown = (None, "visible")
    book.hidden = {node.get("name", "") for node in sheets if node.get("state") not in shown}
    return [(node.get("name", ""), attribute(node, "id") or "") for node in sheets]


def _strikes(node: Element) -> bool:
    return local(node) == "strike" and node.get("val") not in ("0", "false")


def _string(string: Element, book: Book) -> str:
    """Return what is shown of a string, which may have letters of several looks."""
    if len(string) == 1 and local(string[0]) == "t":
        return _unescaped(string[0].text or "")
    parts = []
    for run in string:
        if local(run) not in ("r", "t"):  # readings
            continue
        words = _unescaped("".join(node.text or "" for node in every(run, "t")))
        struck, script = False, None
        for node in run.iter():
            struck = struck or _strikes(node)
            if local(node) == "vertAlign":
                script = SCRIPTS.get(node.get("val", ""))
        parts.append((words, Look(struck=struck, script=script)))
    return book.with_looks(parts)


def _unescaped(text: str) -> str:
    """Return a text with the characters that XML does not have: ``_x000D_`` is a line break."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def read_cells(archive: Archive, part: str, sheet: Sheet) -> None:
    """Read the cells in a part of an xlsx file."""
    row = 0
    columns: set[int] = set()  # those that are hidden
    for node in archive.elements(part, ("col", "row", "mergeCell")):
        is_hidden = node.get("hidden") in ("1", "true")
        if local(node) == "col":
            first, end = number(node.get("min"), 1) - 1, number(node.get("max"), 1)
            columns.update(range(first, min(end, first + _MOST)) if is_hidden else ())
            continue
        if local(node) == "mergeCell":
            ends = [_place(end) for end in node.get("ref", "").split(":")]
            if len(ends) == 2:
                (top, left), (bottom, right) = ends
                sheet.merged.append((top, bottom, left, right))
            continue
        row, column = number(node.get("r"), row + 1, digits=7), -1
        sheet.hidden += is_hidden and len(node) > 0
        for cell in node:
            place = cell.get("r")
            row, column = _place(place) if place else (row, column + 1)
            value = _value(cell, sheet)
            if value is not None:
                sheet.put(row, column, number(cell.get("s"), 0), value)
    if columns:
        sheet.hidden += len(columns.intersection(chain.from_iterable(sheet.rows.values())))


def read_head(table: Element, sheet: Sheet) -> None:
    """Read which row names the columns of a table of an xlsx file."""
    if table.get("headerRowCount") != "0":
        sheet.heads.add(_place(table.get("ref", "").split(":")[0])[0])


def _place(name: str) -> tuple[int, int]:
    """Return the row (from 1) and the column (from 0) of ``B7``."""
    letters = name.rstrip("0123456789")
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - 64
    return number(name[len(letters) :], 1, digits=7), column - 1


def _value(cell: Element, sheet: Sheet) -> float | str | None:
    said, kind, has_formula = None, cell.get("t", "n"), False
    for node in cell:
        tag = local(node)
        if tag == "is":
            return _string(node, sheet.book)
        has_formula |= tag == "f"
        said = node.text if tag == "v" else said
    if not said:
        sheet.unsolved += has_formula
        return None
    with suppress(ValueError, IndexError):
        if kind == "n":
            return float(said)
        if kind == "s":
            return sheet.book.strings[int(said)]
        if kind == "b":
            return str(said == "1").upper()
        if kind == "d":
            return written(datetime.fromisoformat(said))
    return _unescaped(said)


def read_table(
    table: Element, read: Callable[[Element], str], struck: frozenset[str | None], sheet: Sheet
) -> None:
    """Read the cells of a table of an ods file.

    ``read`` returns the text of a cell; ``struck`` are the styles that strike it out.
    """
    row = 1
    for line in table.iter(f"{table.tag}-row"):
        cells: dict[int, str] = {}
        column = 0
        for cell in line:
            said = attributes(cell)
            columns = number(said.get("number-columns-repeated"), 1)
            if not len(cell):
                sheet.unsolved += "formula" in said
            down = number(said.get("number-rows-spanned"), 1)
            across = number(said.get("number-columns-spanned"), 1)
            if down > 1 or across > 1:
                sheet.merged.append((row, row + down - 1, column, column + across - 1))
            if text := _cell(cell, said, read, struck):
                for place in range(column, column + min(columns, _MOST)):
                    cells[place] = text
            column = min(column + columns, COLUMNS)
        times = number(attribute(line, "number-rows-repeated"), 1, digits=7)
        if cells:
            sheet.hidden += times * (attribute(line, "visibility") in ("collapse", "filter"))
            shown = min(times, REPEATS + 1)
            sheet.rows |= dict.fromkeys(range(row, row + shown), cells)
            sheet.left_out += times - shown
        row += times


def _cell(
    cell: Element,
    said: Mapping[str, str],
    read: Callable[[Element], str],
    struck: frozenset[str | None],
) -> str:
    """What is shown of a cell with the attributes ``said``; a date as in other spreadsheets."""
    is_struck = said.get("style-name") in struck
    plain = _plain(cell)
    text = read(cell) if plain is None or is_struck else plain
    if local(cell) != "table-cell":  # merged with another one
        return ""
    kind = said.get("value-type")
    if kind == "boolean" and not is_struck:
        return said.get("boolean-value", "").upper()
    if kind == "date" and not is_struck and not (text.isdecimal() and len(text) == len("2026")):
        with suppress(ValueError):
            return written(datetime.fromisoformat(said.get("date-value", "")))
    is_long = kind == "float" and _LONG.fullmatch(text) is not None and not is_struck
    if not is_long and (text or is_struck or any(map(len, cell))):
        return text
    stored = said.get("string-value") or said.get("value", "")
    with suppress(ValueError):
        return written(float(stored))
    return stored


def _plain(cell: Element) -> str | None:
    """The text of a cell with one paragraph without a style or anything in it; of others None."""
    if len(cell) != 1 or len(cell[0]) or cell[0].attrib or local(cell[0]) != "p":
        return None
    text = cell[0].text or ""
    return " ".join(text.split()) if text.isascii() else None
