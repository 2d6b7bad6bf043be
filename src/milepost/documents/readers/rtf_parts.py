"""Parts of RTF files that are no running text.

They are tables, whose cells are known by their right edges; formulas, whose parts have the names of
those of Office Math; fields of forms; and what the file says of itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from xml.etree.ElementTree import Element, SubElement

from milepost.documents.readers import metadata
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.formulas import linear
from milepost.documents.readers.grid import Cell, Grid
from milepost.properties import Properties

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


_TOKEN = re.compile(r"([{}])|\\m([a-zA-Z]+)-?\d* ?|\\[a-zA-Z]+-?\d* ?|\\.|[^\\{}]+", re.DOTALL)


def formula(group: str, text_of: Callable[[str], str]) -> str:
    """Write the formula in a group in one line; ``text_of`` reads the text of a part."""
    node = root = Element("")
    outer: list[Element] = []
    for match in _TOKEN.finditer(group):
        if match[1] == "{":
            outer.append(node)
            node = SubElement(node, "")
        elif match[1]:
            node = outer.pop() if outer else node
        elif match[2] and not node.tag:
            node.tag = match[2]
        else:
            if not len(node) or node[-1].tag != "t":
                SubElement(node, "t").text = ""
            node[-1].text = f"{node[-1].text}{match[0]}"
    for node in [*root.iter()]:
        for words in node.findall("t"):
            words.text = text_of(words.text or "")
            node.set("{m}val", words.text)
    return linear(root)


_KIND = re.compile(r"\\fftype([12])\b")
_CHOSEN = re.compile(r"\\ff(def)?res(\d+)")
_DEFAULT = "25"
_CHOICE = re.compile(r"\\ffl ([^{}]*)")


def typed(field: str) -> str:
    """Show the state of a form field that has no text of its own."""
    kind, said = _KIND.search(field), dict(_CHOSEN.findall(field))
    if kind is None:
        return ""
    chosen = said.get("", _DEFAULT)
    number = int((said.get("def", "0") if chosen == _DEFAULT else chosen)[:4])
    if kind[1] == "1":
        return "☒" if number == 1 else "☐"
    choices = _CHOICE.findall(field)
    return str(choices[number]).strip() if number < len(choices) else ""


_LONGEST = 2000  # characters of a value
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_VALUE = re.compile(r"\{\s*\\(title|subject|author|keywords|doccomm|creatim)(?![a-z])\s?")
_DATE = re.compile(r"\\yr(\d{4})\s*\\mo(\d\d?)\s*\\dy(\d\d?)(?!\d)")


def information(group: str, text_of: Callable[[str], str]) -> Properties:
    """Read the properties in the group ``info``; ``text_of`` reads the text of a value."""
    said: dict[str, str] = {}
    place = 0
    # Where a value is there twice, the second time it is in Unicode.
    while match := _VALUE.search(group, place):
        place = end_of_group(group, match.end())
        value = group[match.end() : min(place, match.end() + _LONGEST)]
        date = _DATE.match(value)
        said[match[1]] = f"{date[1]}-{date[2]:0>2}-{date[3]:0>2}" if date else text_of(value)
    return metadata.properties(
        title=said.get("title"),
        author=said.get("author"),
        date=said.get("creatim"),
        keywords=said.get("keywords"),
        description=said.get("doccomm"),
        own={"subject": said.get("subject")},
    )


def end_of_group(raw: str, place: int) -> int:
    """Where the group ends that a place is in."""
    depth = 1
    for brace in _BRACE.finditer(raw, place):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return len(raw)
