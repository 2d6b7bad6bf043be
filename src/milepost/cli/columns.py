"""Rows of words and numbers in columns, for tables that are printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """One line a row, the head first; the first column to the left, the others to the right.

    >>> list(columns(("name", "n"), [("mean", "3"), ("lmk", "12")]))
    ['name   n', 'mean   3', 'lmk   12']
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for first, *others in (head, *rows):
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join((first.ljust(widths[0]), *cells)).rstrip()
