"""Print the cells of a spreadsheet as JSON: a separate program that ``sheets.py`` runs.

A damaged or hostile spreadsheet of a kilobyte can make the library request any amount of memory,
which ends the process. It therefore runs in this process, which imports nothing from Milepost.

Input: the bytes of the file on stdin. Output: for each sheet one line with its name, the column,
from 0, of the first cell of its rows, its rows with cells (their numbers and the cells), and how
many equal rows were left out.
"""

from __future__ import annotations

import datetime
import json
import math
import sys
from collections.abc import Iterable

MEMORY = 4 << 30
"""Maximum bytes of address space; spreadsheets that need more are refused."""

SECONDS = 600
"""Maximum CPU time, because nothing else ends this process if the parent process is killed."""

MAX_MERGED = 1000
"""Maximum number of rows over which a merged cell is repeated."""

MAX_REPEATED = 80
"""Maximum number of characters of a merged cell that is repeated in each of its rows."""

REPEATS = 100
"""Maximum number of equal rows printed in succession, because a file of a kilobyte may repeat a row
a million times."""


def limit_resources() -> None:
    """Limit the memory and CPU time of this process if the system supports it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, limit in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS)):
        _, most = resource.getrlimit(kind)
        own = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(kind, (own, most))


def written(cell: object) -> str:
    """Format a cell: dates as YYYY-MM-DD, numbers with the digits that a sheet has room for.

    >>> written(3.0), written(0.1 + 0.2), written(2 / 3), written(datetime.datetime(2026, 3, 1))
    ('3', '0.3', '0.666666667', '2026-03-01')
    >>> written(datetime.timedelta(hours=37, minutes=30)), written(datetime.time(9, 5, 7))
    ('37:30', '09:05:07')
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return _number(cell)
    if isinstance(cell, datetime.datetime):
        cell = _to_the_second(cell)
        midnight = cell.time() == datetime.time()
        unit = "seconds" if cell.second else "minutes"
        return str(cell.date()) if midnight else cell.isoformat(" ", unit)
    if isinstance(cell, datetime.time):
        day = datetime.datetime(2000, 1, 1)
        time = _to_the_second(datetime.datetime.combine(day, cell)).time()
        return time.isoformat("seconds" if time.second else "minutes")
    if isinstance(cell, datetime.timedelta):
        minutes, seconds = divmod(round(abs(cell).total_seconds()), 60)
        sign = "-" if cell < datetime.timedelta() else ""
        text = f"{sign}{minutes // 60}:{minutes % 60:02}"
        return f"{text}:{seconds:02}" if seconds else text
    return " ".join(str(cell).split())


def _number(value: float) -> str:
    """Write a number; one that is not whole has eleven characters at most, as in a sheet."""
    if 1e16 <= abs(value) < math.inf:
        return f"{value:.6g}"  # only 15 digits are stored
    if not abs(value) < 1e10 or value.is_integer():
        return f"{value:.15g}"
    fixed = f"{value:.12f}".rstrip("0")
    if abs(value) < 1e-4 and float(fixed) == value and len(fixed.lstrip("-")) <= 11:
        return fixed
    return f"{value:.{max(6, min(10, math.floor(math.log10(abs(value))) + 10))}g}"


def _to_the_second(moment: datetime.datetime) -> datetime.datetime:
    """Round to whole seconds: a sheet stores a moment as a fraction of a day."""
    return (moment + datetime.timedelta(microseconds=500_000)).replace(microsecond=0)


def covered(
    ranges: Iterable[tuple[tuple[int, int], tuple[int, int]]],
) -> dict[int, list[tuple[int, int]]]:
    """Map each row, from 0, to the columns of its cells that are merged over several rows.

    Each column comes with the first row of its cell.
    """
    rows: dict[int, list[tuple[int, int]]] = {}
    for (top, left), (bottom, _) in ranges:
        if top < bottom < top + MAX_MERGED:
            for row in range(top, bottom + 1):
                rows.setdefault(row, []).append((left, top))
    return rows


def main() -> None:
    """Read a spreadsheet from stdin and print its sheets."""
    import io

    from python_calamine import CalamineWorkbook, PasswordError, SheetTypeEnum

    limit_resources()
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read()))
    except PasswordError:
        print(json.dumps({"error": "password"}))  # noqa: T201 - the output of this program
        return
    for metadata in book.sheets_metadata:
        if metadata.typ != SheetTypeEnum.WorkSheet:  # a chart, a macro
            continue
        sheet = book.get_sheet_by_name(metadata.name)
        rows: list[tuple[int, list[str]]] = []
        _, first_column = sheet.start or (0, 0)
        merged = covered(sheet.merged_cell_ranges or ())
        above: dict[tuple[int, int], str] = {}
        before: list[str] = []
        equal = left_out = 0
        for number, row in enumerate(sheet.iter_rows(), 1):
            cells = [written(cell) for cell in row]
            if not any(cells):
                continue
            for column, top in merged.get(number - 1, ()):
                at = column - first_column
                if 0 <= at < len(cells):
                    if number - 1 == top:
                        above[top, column] = cells[at] if len(cells[at]) <= MAX_REPEATED else ""
                    cells[at] = cells[at] or above.get((top, column), "")
            equal = equal + 1 if cells == before else 0
            if equal >= REPEATS:
                left_out += 1
                continue
            before = cells
            rows.append((number, cells))
        print(json.dumps([metadata.name, first_column, rows, left_out]))  # noqa: T201
    print(json.dumps({"end": True}))  # noqa: T201


if __name__ == "__main__":
    main()
