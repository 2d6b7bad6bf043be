"""What the commands of eval, train and lab share: options, columns, and a counter on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from milepost.cli.console.options import Settings
from milepost.cli.console.screen import is_terminal, visible, visible_name, width

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
FOLDER.name = "folder"  # help shows it as FOLDER

code_option = click.option(
    "--code",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    multiple=True,
    help="Python file that registers poolings (milepost_lab.pooling.register); it is run.",
)


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


class Counter:
    """One line on stderr that counts questions; without a terminal one every half minute."""

    def __init__(self, settings: Settings) -> None:
        self._quiet = settings.quiet
        self._wanted = not settings.quiet and is_terminal(sys.stderr)
        self._drawn = 0.0
        self._written = time.monotonic()

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove the line, so that something else can be printed."""
        if self._drawn:
            self._drawn = 0.0
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def steps_of(self, task: str = "") -> Callable[[str, int, int], None]:
        """A callback that takes the current work, the amount done and the total."""
        return lambda doing, done, of: self(doing, task, done, of)

    def __call__(self, system: str, task: str, done: int, of: int) -> None:
        """Show that a system has answered ``done`` of a task's ``of`` questions."""
        now = time.monotonic()
        if self._wanted and (done == 0 or now - self._drawn > 0.1):
            self._drawn = now
            line = visible_name(f"{task}  {done}/{of}  {system}")
            # A line that the terminal wraps could not be removed.
            sys.stderr.write(f"\r\x1b[K{line[: (width(sys.stderr) or 80) - 1]}")
            sys.stderr.flush()
        elif not (self._wanted or self._quiet) and now - self._written > 30:
            self._written = now
            sys.stderr.write(visible_name(f"{task}  {done}/{of}  {system}".strip()) + "\n")
            sys.stderr.flush()
