"""Fit results into a screen: shorten their texts first, then leave out the last ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from milepost.cli.console.screen import visible
from milepost.types import Passage

INDENT = "   "

Block = list["Text"]  # the lines of one result


class Limits(NamedTuple):
    """Maximum lines of a result's answer and of its context; None for all. Empty lines between."""

    answer: int | None = None
    context: int | None = None
    gap: int = 1


_FIRST = Limits(answer=4, context=1)  # what the first result keeps however little room there is

_STEPS = (
    Limits(10, 2),
    Limits(6, 2),
    Limits(4, 1),
    Limits(3, 1),
    Limits(3, 0),
    Limits(2, 0),
    Limits(1, 0, gap=0),
)


def fit(
    results: int, build: Callable[[int, Limits], Block], room: int | None
) -> tuple[list[Block], int]:
    """Build as much of each result as a screen has ``room`` for in lines, best first.

    ``build`` gives the lines of a result, by its number from 0, within limits. Returns the results
    that fit, at least one, and the empty lines between them.
    """
    if room is None:
        return [build(number, Limits()) for number in range(results)], 1
    blocks: list[Block] = []
    gap = 0
    for limits in _STEPS:
        first = max(limits, _FIRST)  # tuples: the context falls with the answer
        blocks = [build(number, limits if number else first) for number in range(results)]
        gap = limits.gap
        if _height(blocks, gap) <= room:
            return blocks, gap
    while len(blocks) > 1 and _height(blocks, gap) > room - 1:  # one line counts those left out
        blocks.pop()
    return blocks, gap


def _height(blocks: list[Block], gap: int) -> int:
    return sum(map(len, blocks)) + gap * (len(blocks) - 1)


def wrapped(text: Text, out: Console, columns: int | None, most: int | None = None) -> Block:
    """Wrap a text into indented lines, long words too; more than one empty line becomes one.

    None for ``columns`` keeps the lines as they are. Of ``most`` lines the last one ends in ``…``.
    """
    if columns is None:
        rows = list(text.split("\n", allow_blank=True))
    else:
        rows = list(text.wrap(out, columns - len(INDENT), tab_size=4))
    lines: Block = []
    for row in rows:
        row.rstrip()
        if row.plain:
            lines.append(Text.assemble(INDENT, row))
        elif lines and lines[-1].plain:
            lines.append(row)
    while lines and not lines[-1].plain:
        lines.pop()
    if most is None or len(lines) <= most:
        return lines
    lines = lines[:most]
    if lines and columns is not None:
        last = lines[-1]
        while last.cell_len > columns - 2 and " " in last.plain.strip():
            last.right_crop(len(last) - last.plain.rstrip().rfind(" "))  # ends between words
        last.truncate(columns - 2)
        last.rstrip()
        last.append(" …")
    return lines


def shortened(text: str, cells: int) -> str:
    """Cut a text to a number of cells of the terminal; what is cut ends in ``…``.

    >>> shortened("contracts", 5), shortened("fee", 5)
    ('cont…', 'fee')
    """
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + "…" if cells > 1 else ""


def rows_of(passage: Passage) -> Text | None:
    """Return caption, columns and rows, each in its line; None if no table with columns answers."""
    table = passage.table
    if table is None or not table.columns or not table.rows:
        return None
    shown = Text()
    for names in (table.caption, " | ".join(table.columns)):
        if names:
            shown.append(f"{visible(names)}\n", style="aside")
    for number, row in enumerate(table.rows):
        shown.append("\n" * bool(number))
        shown.append(visible(" | ".join(row.cells)), style="answer")
    return shown


def names_above(passage: Passage) -> str:
    """Return the names of the columns of the row that answers, where it does not hold them."""
    table, best = passage.table, passage.best
    if table is None or not any(row.start <= best.start < row.end for row in table.rows):
        return ""
    names = [name for name in table.columns if name]
    return "" if all(f"{name}: " in best.text for name in names) else " | ".join(names)
