"""Write rows as CSV, JSONL or HTML."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple
from pathlib import Path

from milepost.errors import InputError
from milepost.exports.tables.rows import COLUMNS, Row
from milepost.wording import percentage

_FORMULA = tuple("=+-@＝＋－＠")
"""What a spreadsheet takes for the beginning of a formula, in full width too."""


def writer_of(path: Path) -> Callable[[Sequence[Row]], str]:
    """What writes the format that the suffix of a file names."""
    writers = {".csv": as_csv, ".jsonl": as_jsonl, ".html": as_html, ".htm": as_html}
    found = writers.get(path.suffix.lower())
    if found is None:
        raise InputError(
            f"{path} does not say in which form to write", ".csv, .jsonl or .html at its end"
        )
    return found


def as_csv(rows: Sequence[Row]) -> str:
    """CSV for spreadsheets: a byte order mark, texts in one line, and no cell that is a formula.

    A text that begins like a formula gets an apostrophe before it.
    """
    out = io.StringIO(newline="")
    out.write("\ufeff")  # without it Excel reads another encoding
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(map(_cell, astuple(row)))
    return out.getvalue()


def as_jsonl(rows: Sequence[Row]) -> str:
    """One JSON object a line; texts are as in the documents, what is empty is null."""
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)


def as_html(rows: Sequence[Row]) -> str:
    """A page that needs nothing else: the rows with links to the files, at their page."""
    body = "\n".join(_html_row(row) for row in rows)
    page, style = (path.read_text(encoding="utf-8") for path in (_PAGE, _STYLE))
    return page.replace("STYLE", style, 1).replace("ROWS", body, 1)


def _cell(value: str | float | None) -> str | float:
    if not isinstance(value, str):
        return "" if value is None else value
    line = _one_line(value)
    return f"'{line}" if line.startswith(_FORMULA) else line


def _one_line(text: str) -> str:
    """A text in one line; what no file may hold (names of files may) is as on the screen."""
    plain = text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\ufffd")
    return " ".join(plain.split())


def _html_row(row: Row) -> str:
    probability = "" if row.score is None else percentage(row.score)
    where = " · ".join(part for part in (row.place, row.heading) if part)
    cells = (
        ("", _link(row)),
        ("", _escaped(row.question)),
        (' class="number"', probability),
        (' dir="auto"', _escaped(row.text or "")),
        ("", _escaped(where)),
    )
    return "<tr>" + "".join(f"<td{way}>{text}</td>" for way, text in cells) + "</tr>"


def _link(row: Row) -> str:
    if row.document is None:
        return ""
    path = Path(row.document)
    if not path.is_absolute():  # a text without a file
        return _escaped(row.document)
    page = "" if row.page is None else f"#page={row.page}"
    title = _escaped(row.document)
    return f'<a href="{_escaped(path.as_uri() + page)}" title="{title}">{_escaped(path.name)}</a>'


def _escaped(text: str) -> str:
    return html.escape(_one_line(text))


_STYLE = Path(__file__).parents[2] / "server" / "page" / "base.css"
"""Colours and type of the server's page; no Python of it is used."""

_PAGE = Path(__file__).with_name("table.html")
