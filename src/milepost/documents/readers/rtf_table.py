"""Collect the rows of a table in an RTF file, whose cells are known by their right edges."""

from __future__ import annotations

from bisect import bisect_right

from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.grid import Cell, Grid

_CLOSE = 30  # twentieths of a point: edges this near are one
_MAX_ROWS = 100_000


class Table:
    """The rows of one table at a time."""

    def __init__(self) -> None:
        # Cells of each row, their edges, and whether it names columns.
        self._rows: list[tuple[list[str], list[tuple[int, int]], bool]] = []
        self.cells: list[str] = []  # those read whose row has not ended
        self.after: list[TextBuilder] = []  # footnotes and text boxes of the cells
        self._edges: list[tuple[int, int]] = []  # right edge, rows as in ``Cell``
        self._covered = 1
        self._is_header = False

    def define(self, word: str, number: int | None) -> bool:
        """Note what a word says of the cells of the row; returns whether it does."""
        if word == "trowd":
            self._edges = []
            self._covered = 1
        elif word == "trhdr":
            self._is_header = True
        elif word in ("clvmgf", "clvmrg"):
            self._covered = -1 if word == "clvmgf" else 0
        elif word == "cellx":
            self._edges.append((number or 0, self._covered))
            self._covered = 1
        else:
            return False
        return True

    def is_empty(self) -> bool:
        """Whether no cell has been read."""
        return not (self.cells or self._rows)

    def row(self) -> None:
        """End the row."""
        if self.cells and len(self._rows) < _MAX_ROWS:
            self._rows.append((self.cells, self._edges, self._is_header))
        self.cells = []
        self._is_header = False

    def write(self, text: TextBuilder) -> None:
        """Write the rows and start anew."""
        if not self._rows:
            return
        known: list[int] = []
        for edge in sorted({edge for _, edges, _ in self._rows for edge, _ in edges}):
            if not known or edge - known[-1] > _CLOSE:
                known.append(edge)
        grid = Grid()
        for cells, edges, header in self._rows:
            grid.add(_placed(cells, edges, known), header=header)
        grid.write(text)
        for inner in self.after:
            text.include(inner.document("", None))
        self._rows, self.after = [], []


def _placed(cells: list[str], edges: list[tuple[int, int]], known: list[int]) -> list[Cell]:
    """Return the cells of a row with the columns that they cover."""
    if len(edges) != len(cells):
        return [(words, 1, 1) for words in cells]
    placed: list[Cell] = []
    column = 0
    for words, (edge, rows) in zip(cells, edges, strict=True):
        span = max(1, bisect_right(known, edge) - column)
        placed.append((words, span, rows))
        column += span
    return placed
