"""Write the rows of a sheet or a CSV file as text, each cell after the name of its column.

Measured on four real tables of airports, cars, people and bacteria (136 questions such as "Which
city is NAME airport in?", the shipped model): the row was the first hit for 134 questions with
column names in each cell, and for 111 with column names only in the first row.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from itertools import islice, pairwise, takewhile

from milepost.documents.encoding import decode
from milepost.documents.readers.builder import TextBuilder, caption_in
from milepost.documents.readers.column_names import (
    MISSING,
    Cells,
    Covered,
    Row,
    column_names,
    header_rows,
    is_amount,
    is_figure,
    is_label,
    names_columns,
    table_starts,
)
from milepost.documents.readers.grid import joined
from milepost.documents.readers.plain import read_rows
from milepost.types import Document

MAX_UNIT = 500
"""Characters of a unit: a longer row is written as several, so that neither the sentence splitter
nor the model cuts it. Each unit begins with the row's first cell and, if few rows differ in it,
with the one that tells most of them apart: they name its subject."""

_TOKEN = re.compile(r"[^\W\d_]{1,8}|\d{1,2}|[^\w\s]|_")
_MAX_TOKENS = 128  # about what a model reads at once
_MAX_KEY = 80
_KEY_COLUMNS, _KEY_SAMPLE = 6, 200  # columns that may name a subject, and rows that decide


def write_rows(
    rows: Sequence[Row], text: TextBuilder, heads: Collection[int] = frozenset()
) -> None:
    """Add rows, which ascend by number and are not empty, to a text, with a mark for each.

    A table begins at the first row of several cells, after each empty row and where names stand
    again; the title above it, alone in its row, is its caption. ``heads`` are the numbers of rows
    that the file says to name columns.
    """
    labels: Cells = []
    for start, end in pairwise([*table_starts(rows), len(rows)]):
        labels = _write(rows[start:end], text, labels, heads)


def _write(rows: Sequence[Row], text: TextBuilder, labels: Cells, heads: Collection[int]) -> Cells:
    """Add some rows below those with names ``labels``; returns the last names of columns."""
    names = labels  # of the rows down to the next empty one
    body: list[Cells] = []  # rows below the labels
    begins = True  # a table begins at the first row of several cells, below its title if any
    last = 0
    title = ""
    headers = 0  # rows that name the columns, from here on
    key = 0  # the column that tells rows apart
    for index, (number, row) in enumerate(rows):
        filled = sum(map(bool, row))
        is_head = number in heads and not headers and index + 1 < len(rows)
        begins = begins or is_head or number > last + 1
        if begins:
            text.end_table()
        if begins and (filled > 1 or _names_several(rows[index : index + 4], title)):
            headers = max(is_head, header_rows(rows, index, second=bool(labels)))
            if headers:
                header = [cells for _, cells in rows[index : index + headers]]
                if _has_title(header):
                    title = f"{title} {header[0][1]}".strip()
                    header[0] = [header[0][0], "", *header[0][2:]]
                labels = names = column_names(header)
                body = []
                key = _key_column(names, rows[index + headers :])
            elif labels:
                is_same = _goes_on(labels, body, rows[index:], is_titled=bool(title))
                names, key = (labels, key) if is_same else ([], 0)
            if headers or filled > 1:
                text.begin_table(names, title, header_rows=headers)
        begins = begins and filled == 1 and not headers
        if begins:
            title = caption_in(title) or " ".join(filter(None, row))
        elif not headers:
            title = ""
        text.place("row", str(number))
        last = number
        if headers:
            headers -= 1
            last = rows[index + 1][0] - 1  # empty rows below it do not end the table
            text.add(joined(row), close=True)
        else:
            if names and filled > 1:
                body.append(row)
            for unit in _units(row, names if not begins or is_amount(title) else [], key):
                text.add(unit, close=True)
    text.end_table()
    return labels


def _names_several(rows: Sequence[Row], title: str) -> bool:
    """Whether the only cell of the first row can be a name above several of the columns below it.

    Without a title above it, it may be the title, unless the file says what it covers.
    """
    number, row = rows[0]
    if not (title or any(isinstance(cell, Covered) for cell in row)):
        return False
    first = next(column for column, cell in enumerate(row) if cell)
    return any(
        any(cells[:first]) and all(cells[first : first + 2]) and len(cells) > first + 1
        for at, (below, cells) in enumerate(rows[1:], number + 1)
        if below == at
    )


def _goes_on(
    names: Cells, before: Sequence[Cells], rows: Sequence[Row], *, is_titled: bool
) -> bool:
    """Whether rows below an empty one go on with the table of the rows ``before``, if any.

    The first must have cells of the same kinds, and the rows reach its last column or fill most of
    them. Below a title, all but the names of rows, which may be indented, must be alike, and two
    columns may hold anything. Words alone may be names of another table, unless one recurs or is no
    label.
    """
    before = before[-_SAMPLE:]
    number, first = rows[0]
    again = [cell for cell, name in zip(first, names, strict=False) if cell and cell == name]
    if not before or len(again) > 1:
        return True
    block = [cells for at, (row, cells) in enumerate(rows[:_SAMPLE], number) if row == at]
    seen = _kinds(before)
    own = {kind for kind in _kinds([first]) if not MISSING.fullmatch(first[kind[0]])}
    columns, filled = ({column for column, _ in kinds} for kinds in (seen, _kinds(block)))
    is_whole = 2 * len(filled) > len(columns) or max(columns) in filled
    if 2 * len(own - seen) >= len(own) or not is_whole:
        return False
    if is_titled and (len(columns) < 3 or not own - {(min(filled), False)} <= seen):
        return False
    if any(has_figure for _, has_figure in own) or not all(map(is_label, first)):
        return True
    known = {each for cells in before for each in enumerate(cells[1:]) if each[1]}
    return any(each in known for cells in block for each in enumerate(cells[1:]))


def _kinds(rows: Sequence[Cells]) -> set[tuple[int, bool]]:
    """Return the columns that are filled, each with whether figures are in it."""
    return {
        (column, is_figure(cell)) for cells in rows for column, cell in enumerate(cells) if cell
    }


def _has_title(header: Sequence[Cells]) -> bool:
    """Whether words too long for a name cover all columns but the first, as the file says."""
    top, width = header[0], max(map(len, header))
    is_over = len(top) == width > 2 and all(isinstance(cell, Covered) for cell in top[2:])
    return is_over and len(header) > 1 and not is_label(top[1])


def _key_column(names: Cells, rows: Sequence[Row]) -> int:
    """The first column, or a named one with over twice as many short words that differ."""
    words = defaultdict[int, set[str]](set)
    for _, row in rows[:_KEY_SAMPLE]:
        for column, (cell, name) in enumerate(zip(row, names[:_KEY_COLUMNS], strict=False)):
            if cell and (name or column < 2) and is_label(cell, _MAX_KEY):
                words[column].add(cell)
    best = max(words, key=lambda column: len(words[column]), default=0)
    return best if len(words[best]) > 2 * len(words[0]) else 0


def _units(row: Cells, labels: Cells, key: int) -> list[str]:
    if not any(labels) and sum(map(bool, row)) > 1:
        line = joined(row)  # only its place tells to which column a cell belongs
        if len(line) <= MAX_UNIT:
            return [line]
    named = [*labels, *[""] * len(row)]
    pairs = {
        column: f"{label}: {cell}" if label else cell
        for column, (label, cell) in enumerate(zip(named, row, strict=False))
        if cell
    }
    first, *rest = pairs.values()
    keys = dict.fromkeys((min(pairs), key if key in pairs else min(pairs)))
    subject = [pairs[column] for column in keys if len(row[column]) <= _MAX_KEY]
    units = [first]
    for pair in rest:
        longer = f"{units[-1]} | {pair}"
        if len(longer) <= MAX_UNIT and len(_TOKEN.findall(longer)) <= _MAX_TOKENS:
            units[-1] = longer
        else:
            units.append(" | ".join(dict.fromkeys((*subject, pair))))
    return units


_DELIMITERS = "\t;|,"
"""The first is the least likely to be a sign in a cell."""

_SAID = re.compile(r'"?sep=([^\w\s"]|\t)"?\n', re.I)
"""A first line that spreadsheet programs read, and do not show."""

_ESCAPED = re.compile(r'\\"[^,;\t|\n"]')
_COMMENT = re.compile(r"#(?:[#\s]|$)")
_MIN_TABBED = 3  # lines of a table in a text without a suffix of tables
_SAMPLE = 50  # rows used to find the delimiter, or what a table holds
_LEAST = 3  # columns and rows of a table below lines of other lengths


def read_delimited(data: bytes, name: str, source: str | None) -> Document:
    """Read a table; a file without a delimiter is read line by line."""
    text, notes = decode(data, name)
    said = _SAID.match(text)
    text = text[said.end() :] if said else text
    escape = "\\" if _ESCAPED.search(text) else None
    delimiter = said[1] if said else _delimiter(text, escape)
    try:
        rows = _rows(text, delimiter, escape) if delimiter else []
    except csv.Error:  # a cell of more than 128 KiB
        rows = []
    if not rows:
        return read_rows(data, name, source)
    built = TextBuilder()
    write_rows(_with_comments(rows, delimiter), built)
    return built.document(name, source, notes)


def is_tabbed(text: str, *, is_whole: bool) -> bool:
    """Whether the beginning of a text is a table with tabs below the names of its columns."""
    lines = text.splitlines()[: None if is_whole else -1]
    rows = [(number, line.split("\t")) for number, line in enumerate(lines, 1) if line.strip()]
    width = len(rows[0][1]) if rows else 0
    if len(rows) < _MIN_TABBED or width < 2 or any(len(cells) != width for _, cells in rows):
        return False
    return header_rows(rows, 0, second=width == 2) > 0  # two columns may be a list of words


def _rows(text: str, delimiter: str, escape: str | None) -> list[Row]:
    """Read all rows; a quotation mark that is never closed is no mark around a cell."""
    try:
        records = _records(text, delimiter, escape)
        is_open = bool(records) and any("\n" in cell for cell in records[-1])
    except csv.Error:
        is_open = True
        if '"' not in text:
            raise
    at = text.rfind('"')
    if is_open and "\n" in text[at:].strip():
        records = _records(text[:at] + text[at + 1 :], delimiter, escape)
    rows = (
        (number, [" ".join(cell.split()) for cell in record])
        for number, record in enumerate(records, 1)
    )
    return [(number, cells) for number, cells in rows if any(cells)]


def _records(
    text: str, delimiter: str, escape: str | None, count: int | None = None
) -> list[list[str]]:
    file = io.StringIO(text, newline="")
    reader = csv.reader(file, delimiter=delimiter, escapechar=escape, skipinitialspace=True)
    return list(islice(reader, count))


def _with_comments(rows: list[Row], delimiter: str) -> list[Row]:
    """Make each comment above the table one cell, unless the last names the columns."""
    count = next((k for k, (_, cells) in enumerate(rows) if not _COMMENT.match(cells[0])), 0)
    if count and names_columns(rows, count - 1) and not header_rows(rows, count):
        count -= 1
    comments = [(number, [f"{delimiter} ".join(cells)]) for number, cells in rows[:count]]
    return comments + rows[count:]


def _delimiter(text: str, escape: str | None) -> str:
    """Find the delimiter that gives most rows the same number of cells; empty if none does.

    A comma if each row is one cell in quotation marks. If no delimiter fits more than half of the
    rows, it is the one of the table at their end, of three columns and rows at least.
    """
    best, most = "", 0.5
    last, size = "", 0
    for delimiter in _DELIMITERS:
        try:
            records = _records(text, delimiter, escape, _SAMPLE)
        except csv.Error:
            continue
        widths = [len(cells) for cells in records if any(map(str.strip, cells))]
        width, rows = Counter(widths).most_common(1)[0] if widths else (1, 0)
        share = rows / max(1, len(widths))
        is_quoted = text.startswith('"') and delimiter == "," and share == 1
        if share > most and (width > 1 or is_quoted):
            best, most = delimiter, share
        width = widths[-1] if widths else 0
        rows = sum(1 for _ in takewhile(width.__eq__, reversed(widths)))
        if min(width, rows) >= _LEAST and width * rows > size:
            last, size = delimiter, width * rows
    return best or last
