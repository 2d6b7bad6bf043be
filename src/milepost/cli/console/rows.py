"""Show the rows of a table that answer, under its caption and the names of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.cli.console.screen import visible

if TYPE_CHECKING:
    from rich.text import Text

    from milepost.types import Passage


def rows_of(passage: Passage) -> Text | None:
    """Return caption, columns and rows, each in its line; None if no table with columns answers."""
    from rich.text import Text

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
