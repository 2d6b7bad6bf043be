"""Print the cells of a spreadsheet as JSON: a separate program that ``sheets.py`` runs.

A damaged or hostile spreadsheet of a kilobyte can make the library request any amount of memory,
which ends the process. It therefore runs in this process, which imports nothing from Milepost.

Input: the bytes of the file on stdin. Output: for each sheet one line with its name, then one line
for each row with cells: its number and the cells.
"""

from __future__ import annotations

import datetime
import json
import sys

MEMORY = 4 << 30
"""Maximum bytes of address space; spreadsheets that need more are refused."""

SECONDS = 600
"""Maximum CPU time, because nothing else ends this process if the parent process is killed."""

REPEATS = 100
"""Maximum number of equal rows printed in succession, because a file of a kilobyte may repeat a row
a million times."""


def limit_resources() -> None:
    """Limit the memory and CPU time of this process if the system supports it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    limit = SECONDS if most == resource.RLIM_INFINITY else min(SECONDS, most)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, most))


def written(cell: object) -> str:
    """Format a cell: dates as YYYY-MM-DD, numbers without rounding errors.

    >>> written(3.0), written(0.1 + 0.2), written(datetime.datetime(2026, 3, 1))
    ('3', '0.3', '2026-03-01')
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return f"{cell:.15g}"
    if isinstance(cell, datetime.datetime):
        midnight = cell.time() == datetime.time()
        return str(cell.date()) if midnight else cell.isoformat(" ", "minutes")
    return " ".join(str(cell).split())


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
        print(json.dumps({"sheet": metadata.name}))  # noqa: T201
        before: list[str] = []
        equal = left_out = 0
        for number, row in enumerate(sheet.iter_rows(), (sheet.start or (0, 0))[0] + 1):
            cells = [written(cell) for cell in row]
            if not any(cells):
                continue
            equal = equal + 1 if cells == before else 0
            if equal >= REPEATS:
                left_out += 1
                continue
            before = cells
            print(json.dumps([number, cells]))  # noqa: T201
        if left_out:
            print(json.dumps({"left_out": left_out}))  # noqa: T201
    print(json.dumps({"end": True}))  # noqa: T201


if __name__ == "__main__":
    main()
