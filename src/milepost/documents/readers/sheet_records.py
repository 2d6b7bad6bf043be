"""Read the cells of old and of binary workbooks (xls, xlsb), and the boxes of old ones.

Both formats are lists of records: [MS-XLS] 2.4 and [MS-XLSB] 2.3. The names here are those of the
specifications. A damaged list is read as far as it goes.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

from milepost.documents.readers.archive import Archive
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.fonts import code_page
from milepost.documents.readers.scripts import LOWERED, PLAIN, RAISED, Look
from milepost.documents.readers.sheet_values import Book, Sheet
from milepost.errors import locked

_ERRORS = {
    0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?",
    0x24: "#NUM!", 0x2A: "#N/A",
}  # fmt: skip
_BOF, _EOF, _BOUND_SHEET, _FORMAT, _XF, _CONTINUE = 0x809, 0x0A, 0x85, 0x41E, 0xE0, 0x3C
_FILE_PASS, _DATE_MODE, _CODE_PAGE, _MERGE_CELLS = 0x2F, 0x22, 0x42, 0xE5
_NUMBER, _RK, _MUL_RK, _FORMULA, _STRING, _BOOL_ERR = 0x203, 0x27E, 0xBD, 0x06, 0x207, 0x205
_FONT, _SST, _LABEL_SST, _LABEL, _RICH_STRING = 0x31, 0xFC, 0xFD, 0x204, 0xD6
_OBJ, _TXO, _SERIES_TEXT = 0x5D, 0x1B6, 0x100D
_NOTE = 0x19
"""The kind of an object that is a comment."""
_WORKSHEET = 0
"""The kind of a sheet that is no chart, macro or module."""
_BIFF8 = 0x600

_BRT_ROW, _BRT_RK, _BRT_ERROR, _BRT_BOOL, _BRT_REAL, _BRT_TEXT, _BRT_STRING = 0, 2, 3, 4, 5, 6, 7
_BRT_FORMULA_TEXT, _BRT_FORMULA_NUMBER, _BRT_FORMULA_BOOL, _BRT_FORMULA_ERROR = 8, 9, 10, 11
_BRT_SST_ITEM, _BRT_FONT, _BRT_FORMAT, _BRT_XF, _BRT_BOOK, _BRT_SHEET = 19, 43, 44, 47, 153, 156
_BRT_MERGE_CELL, _BRT_BEGIN_XFS, _BRT_END_XFS = 176, 617, 618


def _add_font(book: Book, font: bytes, script: int) -> None:
    """Add a font, which has its script at an offset."""
    struck, raised = font[2] & 8, struct.unpack_from("<H", font, script)[0]
    book.looks.append(Look(struck=bool(struck), script={1: RAISED, 2: LOWERED}.get(raised, "")))


def _add_string(book: Book, words: str, runs: list[tuple[int, int]]) -> None:
    """Add a string; ``runs``: where each font begins in it."""
    looks = [book.looks[font] if font < len(book.looks) else PLAIN for _, font in runs]
    places = [0, *(start for start, _ in runs), len(words)]
    parts = (words[a:b] for a, b in pairwise(places))
    book.strings.append(book.with_looks([*zip(parts, [PLAIN, *looks], strict=True)]))


def read_old(data: bytes, name: str, text: TextBuilder) -> list[Sheet]:
    """Read an xls file.

    Raises:
        UnreadableFile: it has a password, or no part with sheets.
    """
    import olefile

    with olefile.OleFileIO(io.BytesIO(data)) as container:
        names = [path[0] for path in container.listdir() if len(path) == 1]
        streams = sorted((n for n in names if n.lower() in ("workbook", "book")), reverse=True)
        data = container.openstream(streams[0]).read()
    own: dict[int, str] = {}
    book = Book(text)
    styles: list[tuple[int, int]] = []
    sheets: list[tuple[int, int, str]] = []
    listed: list[bytes] = []
    codec = None if struct.unpack_from("<H", data, 4)[0] >= _BIFF8 else "cp1252"
    last = 0
    for kind, body in _old_records(data, 0):
        if kind == _FILE_PASS:
            raise locked(name)
        if kind == _CODE_PAGE and codec:
            codec = code_page(str(struct.unpack_from("<H", body)[0])) or codec
        elif kind == _DATE_MODE:
            book.is_1904 = body[0] == 1
        elif kind == _FONT:
            if len(book.looks) == 4:  # there is no fifth font
                book.looks.append(PLAIN)
            _add_font(book, body, 8)
        elif kind == _FORMAT:
            own[struct.unpack_from("<H", body)[0]] = _string(body[2:], 1 if codec else 2, codec)
        elif kind == _XF:
            styles.append(struct.unpack_from("<2H", body))
        elif kind == _BOUND_SHEET:
            start, state, what = struct.unpack_from("<I2B", body)
            sheets.append((start, what, _string(body[6:], 1, codec)))
            if state & 3:
                book.hidden.add(sheets[-1][2])
        elif kind == _SST or (kind == _CONTINUE and last == _SST):
            listed.append(body)
        elif kind == _EOF:
            break
        last = last if kind == _CONTINUE else kind
    for font, style in styles:
        book.add_style(font, style, own)
    with suppress(struct.error, IndexError):  # also where they end
        for words, runs in _strings(_Joined(listed)):
            _add_string(book, words, runs)
    return [_old_sheet(data, *each, book, codec) for each in sheets]


class _Joined:
    """Reads a list of strings that goes on over several records."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts[:0:-1]
        self._data, self._at = parts[0], 8

    def take(self, size: int) -> bytes:
        while self._at + size > len(self._data):
            self._data, self._at = self._data[self._at :] + self._parts.pop(), 0
        self._at += size
        return self._data[self._at - size : self._at]

    def letters(self, size: int, *, is_wide: bool) -> str:
        said = ""
        while True:
            width = 2 if is_wide else 1
            here = min(size, (len(self._data) - self._at) // width)
            said += self.take(here * width).decode("utf-16-le" if is_wide else "latin-1", "replace")
            size -= here
            if not size:
                return said
            self._data, self._at = self._parts.pop(), 1
            is_wide = bool(self._data[0] & 1)  # each record says it anew


def _strings(data: _Joined) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the strings of an old workbook, and where each font in them begins."""
    while True:
        size, flags = struct.unpack("<HB", data.take(3))
        count = struct.unpack("<H", data.take(2))[0] if flags & 8 else 0
        behind = struct.unpack("<I", data.take(4))[0] if flags & 4 else 0
        words = data.letters(size, is_wide=bool(flags & 1))
        yield words, list(struct.iter_unpack("<2H", data.take(4 * count)))
        data.take(behind)


def _old_sheet(
    data: bytes, start: int, what: int, name: str, book: Book, codec: str | None
) -> Sheet:
    sheet, depth, is_comment, awaited = Sheet(name, book), 0, False, 0
    row = column = style = 0
    with suppress(struct.error, IndexError):
        for kind, body in _old_records(data, start):
            if kind in (_BOF, _EOF):
                depth += 1 if kind == _BOF else -1
                if not depth:
                    break
            elif kind == _OBJ:
                is_comment = struct.unpack_from("<H", body, 4)[0] == _NOTE
            elif kind == _TXO:
                awaited = 0 if is_comment else struct.unpack_from("<H", body, 10)[0]
            elif kind == _CONTINUE and awaited:
                said = body[1:].decode("utf-16-le" if body[0] & 1 else "latin-1", "replace")
                sheet.lines += [" ".join(line.split()) for line in said[:awaited].split("\n")]
                awaited = 0
            elif kind == _SERIES_TEXT:
                sheet.lines.append(" ".join(_string(body[2:], 1, None).split()))
            elif depth == 1 and what == _WORKSHEET:  # not the numbers that a chart has copied
                if kind == _STRING:
                    sheet.put(row + 1, column, style, _string(body, 2, codec))
                elif kind == _FORMULA:  # whose string may follow
                    row, column, style = struct.unpack_from("<3H", body)
                _old_cell(kind, body, sheet, codec)
    sheet.lines = list(dict.fromkeys(filter(None, sheet.lines)))
    return sheet


def _old_cell(kind: int, body: bytes, sheet: Sheet, codec: str | None) -> None:
    if kind == _MERGE_CELLS:
        for top, bottom, *columns in struct.iter_unpack("<4H", body[2:]):
            sheet.merged.append((top + 1, bottom + 1, *columns))
    if kind not in (_NUMBER, _RK, _MUL_RK, _FORMULA, _BOOL_ERR, _LABEL_SST, _LABEL, _RICH_STRING):
        return
    row, column, style = struct.unpack_from("<3H", body)
    place = row + 1, column, style
    if kind == _LABEL_SST:
        sheet.put(*place, sheet.book.strings[struct.unpack_from("<I", body, 6)[0]])
    elif kind in (_LABEL, _RICH_STRING):
        sheet.put(*place, _string(body[6:], 2, codec))
    elif kind == _RK:
        sheet.put(*place, _packed(body[6:10]))
    elif kind == _MUL_RK:
        for n, at in enumerate(range(4, len(body) - 2, 6)):
            style = struct.unpack_from("<H", body, at)[0]
            sheet.put(row + 1, column + n, style, _packed(body[at + 2 : at + 6]))
    elif kind == _NUMBER or (kind == _FORMULA and body[12:14] != b"\xff\xff"):
        sheet.put(*place, struct.unpack_from("<d", body, 6)[0])
    elif kind == _BOOL_ERR:
        sheet.put(*place, _sign(body[6], is_error=bool(body[7])))
    elif body[6] in (1, 2):
        sheet.put(*place, _sign(body[8], is_error=body[6] == 2))


def _sign(value: int, *, is_error: bool) -> str:
    return _ERRORS.get(value, "") if is_error else str(value == 1).upper()


def _old_records(data: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    while at + 4 <= len(data):
        kind, size = struct.unpack_from("<2H", data, at)
        yield kind, data[at + 4 : at + 4 + size]
        at += 4 + size


def _string(data: bytes, width: int, codec: str | None) -> str:
    """Read a text that begins with its length; without a ``codec``, a byte says how wide it is."""
    size = int.from_bytes(data[:width], "little")
    if codec:
        return data[width : width + size].decode(codec, "replace")
    start = width + 1
    if data[width] & 1:
        return data[start : start + 2 * size].decode("utf-16-le", "replace")
    return data[start : start + size].decode("latin-1")


def _packed(four: bytes) -> float:
    """Read a number of four bytes (RK): the upper half of a float, or a whole number."""
    flags = four[0]
    if flags & 2:
        value = float(struct.unpack("<i", four)[0] >> 2)
    else:
        value = struct.unpack("<d", bytes(4) + bytes([flags & 0xFC]) + four[1:])[0]
    return value / 100 if flags & 1 else value


def read_book(archive: Archive, styles: str, strings: str, text: TextBuilder) -> Book:
    """Read the parts of an xlsb file that have its styles and strings."""
    own: dict[int, str] = {}
    book = Book(text)
    is_cell = False
    with suppress(struct.error, IndexError):
        for kind, body in _part(archive, styles):
            if kind == _BRT_FORMAT:
                own[struct.unpack_from("<H", body)[0]] = _wide(body, 2)[0]
            elif kind == _BRT_FONT:
                _add_font(book, body, 6)
            elif kind in (_BRT_BEGIN_XFS, _BRT_END_XFS):
                is_cell = kind == _BRT_BEGIN_XFS
            elif kind == _BRT_XF and is_cell:
                style, font = struct.unpack_from("<2H", body, 2)
                book.add_style(font, style, own)
        for kind, body in _part(archive, strings):
            if kind == _BRT_SST_ITEM:
                words, end = _wide(body, 1)
                count = 4 * struct.unpack_from("<I", body, end)[0] if body[0] & 1 else 0
                runs = struct.iter_unpack("<2H", body[end + 4 : end + 4 + count])
                _add_string(book, words, list(runs))
    return book


def read_sheets(archive: Archive, workbook: str, book: Book) -> list[tuple[str, str]]:
    """Return the names of the sheets of an xlsb file, and the links to their parts."""
    sheets: list[tuple[str, str]] = []
    with suppress(struct.error):
        for kind, body in _part(archive, workbook):
            if kind == _BRT_SHEET:
                link, end = _wide(body, 8)
                sheets.append((_wide(body, end)[0], link))
                if body[0]:
                    book.hidden.add(sheets[-1][0])
            elif kind == _BRT_BOOK:
                book.is_1904 = bool(body[0] & 1)
    return sheets


def read_cells(archive: Archive, part: str, sheet: Sheet) -> None:
    """Read the cells in a part of an xlsb file."""
    row = 0
    with suppress(struct.error, IndexError):
        for kind, body in _part(archive, part):
            if kind == _BRT_ROW:
                row = struct.unpack_from("<I", body)[0] + 1
            elif kind == _BRT_MERGE_CELL:
                top, bottom, left, right = struct.unpack_from("<4I", body)
                sheet.merged.append((top + 1, bottom + 1, left, right))
            elif _BRT_RK <= kind <= _BRT_FORMULA_ERROR:
                column, style = struct.unpack_from("<2I", body)
                sheet.put(row, column, style & 0xFFFFFF, _binary_value(kind, body[8:], sheet.book))


def _binary_value(kind: int, value: bytes, book: Book) -> float | str:
    if kind == _BRT_RK:
        return _packed(value[:4])
    if kind in (_BRT_REAL, _BRT_FORMULA_NUMBER):
        return float(struct.unpack_from("<d", value)[0])
    if kind == _BRT_STRING:
        return book.strings[int.from_bytes(value[:4], "little")]
    if kind in (_BRT_TEXT, _BRT_FORMULA_TEXT):
        return _wide(value, 0)[0]
    return _sign(value[0], is_error=kind in (_BRT_ERROR, _BRT_FORMULA_ERROR))


def _part(archive: Archive, part: str) -> Iterator[tuple[int, bytes]]:
    """Yield the kinds and contents of the records of a part."""
    data, at = archive.read(part) if part in archive.parts else b"", 0
    with suppress(IndexError):
        while at < len(data):
            kind, at = data[at], at + 1
            if kind & 0x80:
                kind, at = kind & 0x7F | data[at] << 7, at + 1
            size = 0
            for n in range(4):
                byte, at = data[at], at + 1
                size |= (byte & 0x7F) << 7 * n
                if not byte & 0x80:
                    break
            yield kind, data[at : at + size]
            at += size


def _wide(data: bytes, at: int) -> tuple[str, int]:
    """Read a text and return where it ends."""
    size = struct.unpack_from("<I", data, at)[0]
    end = at + 4 + 2 * size
    return data[at + 4 : end].decode("utf-16-le", "replace"), end
