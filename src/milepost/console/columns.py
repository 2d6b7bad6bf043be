"""Align rows of words and numbers in columns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from milepost.console.screen import visible, width


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Iterator[str]:
    """Yield one line per row, the head first; the first ``left`` columns are left-aligned.

    On a terminal that is too narrow, the first column gets its own line above the others.

    >>> list(columns(("name", "n"), [("mean", "3"), ("lmk", "12")]))
    ['name   n', 'mean   3', 'lmk   12']
    """
    lines = [[visible(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    room = width(sys.stdout)
    narrow = room is not None and sum(widths) + 2 * (len(widths) - 1) > room
    for line in lines:
        cells = [
            cell.ljust(size) if at < left else cell.rjust(size)
            for at, (cell, size) in enumerate(zip(line, widths, strict=True))
        ]
        if narrow:
            yield line[0]
            yield "  " + "  ".join(cells[1:]).rstrip()
        else:
            yield "  ".join(cells).rstrip()
