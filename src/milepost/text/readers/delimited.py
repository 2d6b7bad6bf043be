"""Read CSV and TSV files: one line per row, each cell after the name of its column."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice

from milepost.text.encoding import decode
from milepost.text.readers.builder import TextBuilder
from milepost.text.readers.plain import read_rows
from milepost.text.readers.table import Row, write_rows
from milepost.types import Document

_DELIMITERS = ",;\t|"
_SAMPLE = 50  # rows used to find the delimiter


def read_delimited(data: bytes, name: str, source: str | None) -> Document:
    """Read a table; a file without a delimiter is read line by line."""
    text, notes = decode(data, name)
    delimiter = _delimiter(text)
    try:
        rows = _rows(text, delimiter) if delimiter else []
    except csv.Error:  # a cell of more than 128 KiB: a quotation mark that is never closed
        rows = []
    if not rows:
        return read_rows(data, name, source)
    built = TextBuilder()
    write_rows(rows, built)
    return built.document(name, source, notes)


def _rows(text: str, delimiter: str, count: int | None = None) -> list[Row]:
    records = islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), count)
    rows = (
        (number, [" ".join(cell.split()) for cell in record])
        for number, record in enumerate(records, 1)
    )
    return [(number, cells) for number, cells in rows if any(cells)]


def _delimiter(text: str) -> str:
    """Find the delimiter that gives most rows the same number of cells; empty if none does."""
    best, most = "", (0.5, 1)
    for delimiter in _DELIMITERS:
        try:
            widths = Counter(len(cells) for _, cells in _rows(text, delimiter, _SAMPLE))
        except csv.Error:
            continue
        width, rows = widths.most_common(1)[0] if widths else (1, 0)
        score = rows / max(1, widths.total()), width
        if width > 1 and score > most:
            best, most = delimiter, score
    return best
