"""A claim beside the rows of a table: which of them it speaks of, and what their columns say.

A number belongs to its row and its column: the same number in another row supports nothing, and
rows around a row do not say what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from milepost.checking.claims.comparison import Comparison, compare
from milepost.checking.claims.kinds import EXACT
from milepost.checking.claims.quantity import Quantity, comparable
from milepost.checking.claims.reading import Reading, Word, read
from milepost.checking.claims.units import known
from milepost.checking.claims.values import Conflict
from milepost.language.patterns import is_dash
from milepost.table_rows import NOTES
from milepost.types import Hit, Span, Table, TableRow

Element = Word | Quantity | str
"""A word, a number, or a code ("p95", "W1", "B") by which rows and columns are told apart."""

_CODE = re.compile(r"\b(?:(?=\w*\d)(?=\w*[^\W\d_])\w+|[A-Z]{1,2})\b")
_TICKS = frozenset("yes y true x ✓ ✔ ☑ ☒ • ● included".split())
_NEGATIVE = re.compile(r"([$€£¥]?)\s?(?:\(|[-−–](?=[^()]+$))([$€£¥]?[\d.,]+\s?%?)\)?")
"""A number below zero, in brackets as accountants write it or with a sign."""
_UNIT = re.compile(r"(?:^|[(\[,]\s*|\s)([^\s()\[\],]+)\s*[)\]]?$")
"""What may be the unit of a column: "Weight (kg)", "2025 litres", "Litres"."""
_SIGN = r"(?:[A-Z]{0,2}[$€£¥]|\b[A-Z]{3})\s?"
_SCALE = re.compile(
    r"\b(?:(?i:in)\s+)?(?P<word>(?i:thousand|million|billion))s?\b(?:\s+of\b)?"
    rf"|(?:{_SIGN})?[’']000s?\b|{_SIGN}(?:000s?|(?P<short>m|bn|k))\b"
)
"""What the numbers of a table are counted in: "(in millions)", "Thousands of yen", "£’000"."""
_MONEY = frozenset(["dollar", "euro", "pound", "yen", "rupee"])
_SHORT = {"m": "million", "bn": "billion", "k": "thousand"}
_SIGNED = re.compile(r"\b(?:profit|income|earnings|results?|flows?|changes?|movements?)\b", re.I)
"""What may be above or below zero, as costs, which some print in brackets, are not."""


@dataclass(frozen=True, slots=True)
class _Column:
    """The name of a column without the unit of its numbers, and that unit, or an empty one."""

    name: Reading
    unit: str
    scale: str

    @staticmethod
    def of(text: str, scale: str) -> _Column:
        """Read the name of a column of a table that is in thousands, say."""
        scale = _scale(text) or scale
        text = _SCALE.sub("", text).strip()
        found = _UNIT.search(text)
        if found is not None and any(each.is_measure for each in read(f"1 {found[1]}").quantities):
            return _Column(read(text[: found.start()].rstrip() or text), found[1], scale)
        return _Column(read(text), "", scale)

    def with_unit(self, cell: str, claim: Reading) -> str:
        """A number with the unit and scale in which the claim has it, else with the column's unit.

        A number without a unit of its own may be money; ``$505`` may be thousands.
        """
        held = read(cell).quantities
        if len(held) != 1 or held[0].kind != "number" or held[0].unit == "percent":
            return cell
        bare = not held[0].is_measure
        names = {each.name for each in claim.quantities} & _MONEY
        units = [self.unit] if self.unit else ["", *sorted(names)]
        ways = [f"{cell} {unit}".rstrip() for unit in units] if bare else [cell]
        if self.scale and not self.unit:
            ways += [f"{cell} {self.scale} {unit}".rstrip() for unit in (units if bare else [""])]
        for way in ways:
            found = read(way).quantities
            if len(found) == 1 and any(each.allows(found[0]) for each in claim.quantities):
                return way
        return ways[-1] if self.scale and (names or _SCALE.search(claim.text)) else ways[0]


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell: the name of its column, what it holds, and where that is in ``Row.reading``."""

    name: Reading
    text: str
    value: Reading
    start: int


class Row:
    """A row of a table, each cell after the name of its column."""

    def __init__(self, row: TableRow, columns: Sequence[_Column], claim: Reading) -> None:
        self.start, self.end = row.start, row.end
        self.cells: list[_Cell] = []
        text = ""
        sign = "" if _are_costs(row, columns) else "-"
        for column, cell in zip(columns, row.cells, strict=False):
            match = _NEGATIVE.fullmatch(cell)
            number = f"{sign}{match[1]}{match[2]}" if match else cell
            value = column.with_unit(number, claim)
            if cell:
                text += " | " * bool(text)
                text += f"{column.name.text}: " if column.name.text else ""
            self.cells.append(_Cell(column.name, cell, read(value), len(text)))
            text += value
        self.reading = read(text)
        nothing = _Cell(read(""), "", read(""), 0)
        self.label = next((cell for cell in self.cells if cell.text), nothing)

    def holds(self, element: Element) -> bool:
        """Whether a cell holds a word or number of a claim."""
        return any(_has(cell.value, element) for cell in self.cells)

    def is_label(self, span: Span) -> bool:
        """Whether a part of ``reading`` is in the first cell."""
        return 0 <= span[0] - self.label.start < len(self.label.text)

    def in_text(self, span: Span, hit: Hit) -> Span:
        """Where a part of ``reading`` is in a sentence; nothing of it is the name of a column."""
        at = 0
        for cell in self.cells:
            at = max(0, hit.text.find(cell.text, at))
            if cell.start <= span[0] <= cell.start + len(cell.text):
                if _NEGATIVE.fullmatch(cell.text):
                    return at, at + len(cell.text)
                shift = at - cell.start
                return span[0] + shift, min(span[1] + shift, at + len(cell.text))
        return 0, 0


def _are_costs(row: TableRow, columns: Sequence[_Column]) -> bool:
    """Whether all figures of a row are below zero, as some print costs."""
    cells = [
        cell
        for column, cell in zip(columns[1:], row.cells[1:], strict=False)
        if any(map(str.isdigit, cell)) and not NOTES.fullmatch(column.name.text)
    ]
    are_below = bool(cells) and all(map(_NEGATIVE.fullmatch, cells))
    return are_below and not _SIGNED.search(row.cells[0])


def _scale(text: str) -> str:
    """What numbers are counted in, by a caption or the name of a column: "million", or nothing."""
    found = _SCALE.search(text)
    if found is None:
        return ""
    return (found["word"] or _SHORT.get(found["short"], "thousand")).lower()


def _has(reading: Reading, element: Element) -> bool:
    if isinstance(element, str):
        return element in _codes(reading)
    if isinstance(element, Word):
        return bool(reading.find(element))
    return any(element.allows(each) and not _cross(element, each) for each in reading.quantities)


def _cross(own: Quantity, other: Quantity) -> bool:
    """Whether dates overlap and neither is a part of the other, as 2019/20 and 2020/21."""
    first, second = sorted((own, other), key=lambda each: (each.low, -each.high))
    return (
        own.kind == "date"
        and own.role == other.role
        and second.low > first.low
        and second.high > first.high
    )


def _key(element: Element) -> str | tuple[float, float]:
    if isinstance(element, Quantity):
        return element.low, element.high
    return element if isinstance(element, str) else element.base


def _is_rival(own: Quantity, other: Quantity) -> bool:
    """Whether a number may stand for another one: a cell does not say what it counts."""
    is_count = own.kind == other.kind == "number" and not (own.is_measure or other.is_measure)
    return is_count or comparable(own, other)


def _codes(reading: Reading) -> set[str]:
    return {code.upper() for code in _CODE.findall(reading.text)}


def _elements(reading: Reading) -> list[Element]:
    return [*reading.content, *reading.quantities, *_codes(reading)]


class ClaimedTable:
    """The rows of a table beside a claim; ``above`` are the heading and the caption."""

    def __init__(self, claim: Reading, table: Table, above: Sequence[Reading]) -> None:
        width = max((len(row.cells) for row in table.rows), default=0)
        scale = _scale(" ".join([table.caption or "", *table.columns[:1]]))
        columns = [_Column.of(name, scale) for name in (*table.columns, *[""] * width)]
        self.rows = [Row(row, columns, claim) for row in table.rows]
        self._claim, self._elements, self._above = claim, _elements(claim), above
        measures = [each for each in claim.quantities if each.is_measure]
        self._units = {unit for each in measures for unit in (each.unit, each.name)}
        texts = [*(each.name for each in columns), *above]
        self._named = [e for e in self._elements if any(_has(text, e) for text in texts)]
        self._spoken_of = self._chosen()
        held = [e for e in self._elements if any(row.holds(e) for row in self.rows)]
        self._needed = [e for e in held if e not in self._named]

    def row(self, hit: Hit) -> Row | None:
        """The row that a sentence of the passage is, or is a part of."""
        return next((row for row in self.rows if row.start <= hit.start < row.end), None)

    def speaks_of(self, row: Row) -> bool:
        """Whether no other row has more of the claim's words."""
        return row in self._spoken_of

    def agrees(self, row: Row) -> bool:
        """Whether a row that the claim speaks of has all that the table has of it, in its place."""
        return (
            row in self._spoken_of
            and all(map(row.holds, self._needed))
            and all(self._in_column(row, each) for each in self._claim.quantities)
            and all(self._is_said(cell) for cell in self._columns(row))
        )

    def compare(self, row: Row) -> Comparison:
        """Compare the claim with a row as with a sentence, and by its columns."""
        found = compare(self._claim, row.reading, self._above)
        own = [*self._conflicts(row)]
        spans = {each.given for each in own}
        # Without a named column it is not known which of several numbers of a row is meant.
        values = [cell for cell in row.cells if cell is not row.label]
        numbers = [e for e in values if e.value.quantities or (e.text and is_dash(e.text[0]))]
        rest = [
            each
            for each in found.conflicts
            if each.kind not in EXACT or (len(numbers) < 2 and not row.is_label(each.found))
        ]
        rest = [each for each in rest if each.given not in spans]
        return replace(
            found,
            shared=max(found.shared, self._share(row)),
            is_whole=found.is_whole and self.agrees(row),
            conflicts=(*own, *rest),
        )

    def _share(self, row: Row) -> float:
        """Share of the claim's words and dates that a row, or what names it, has."""
        numbers = [each for each in self._claim.quantities if each.kind == "number"]
        own = [each for each in self._elements if each not in numbers]
        held = sum(each in self._named or row.holds(each) for each in own)
        return held / len(own) if own else 0.0

    def _conflicts(self, row: Row) -> Iterator[Conflict]:
        """Numbers of the claim in whose place the named column of the only such row has others."""
        columns = [cell for cell in self._columns(row) if not self._is_said(cell)]
        if self._spoken_of != [row] or not self._is_named(row) or len(columns) != 1:
            return
        cell, own = columns[0], self._by_name(row, columns[0])
        for each in self._claim.quantities:
            rivals = [other for other in cell.value.quantities if _is_rival(each, other)]
            is_name = each in self._named or _has(row.label.value, each)
            is_name |= any(_has(e.value, each) and self._by_name(row, e) - own for e in row.cells)
            if rivals and not is_name and not any(map(each.allows, rivals)):
                span = cell.start + rivals[0].start, cell.start + rivals[0].end
                yield Conflict(each.kind, (each.start, each.end), span)

    def _chosen(self) -> list[Row]:
        """The rows with most of the claim's words, and those whose whole label it has."""
        scores = [sum(self._counts(row, each) for each in self._elements) for row in self.rows]
        labels = [
            {e for e in self._elements if _has(row.label.value, e)}
            if self._is_named(row)
            else set()
            for row in self.rows
        ]
        return [
            row
            for row, score, label in zip(self.rows, scores, labels, strict=True)
            if score == max(scores) or (label and not any(label < other for other in labels))
        ]

    def _counts(self, row: Row, element: Element) -> bool:
        """Whether a row has a word or code; numbers name a row in its first cell alone."""
        if isinstance(element, Quantity):
            return _has(row.label.value, element)
        return row.holds(element)

    def _is_named(self, row: Row) -> bool:
        """Whether the claim has all of a row's first cell."""
        label = _elements(row.label.value)
        return bool(label) and all(_has(self._claim, each) for each in label)

    def _by_name(self, row: Row, cell: _Cell) -> set[Element]:
        """The elements of the claim that are in the name of a column and not in the row itself."""
        return {e for e in self._elements if _has(cell.name, e) and not row.holds(e)}

    def _names(self, element: Element) -> bool:
        """Whether the claim has a word of a column's name, if only as the unit of a number."""
        is_unit = isinstance(element, Word) and known(element.text) in self._units
        return is_unit or _has(self._claim, element)

    def _columns(self, row: Row) -> list[_Cell]:
        """The cells whose columns the claim names in full, by most of its words."""
        named = []
        for cell in row.cells:
            if cell is row.label:
                continue
            rest = [each for each in _elements(cell.name) if not row.holds(each)]
            if rest and all(map(self._names, rest)):
                named.append(({*map(_key, rest)}, cell))
        return [cell for own, cell in named if not any(own < other for other, _ in named)]

    def _is_said(self, cell: _Cell) -> bool:
        """Whether the claim has something of a cell, which may be a tick."""
        is_tick = cell.value.text.strip().lower() in _TICKS
        return is_tick or any(_has(cell.value, each) for each in self._elements)

    def _in_column(self, row: Row, number: Quantity) -> bool:
        """Whether a number stands where no other column is named by more of the claim."""
        places = [cell for cell in row.cells if _has(cell.value, number)]
        if not places or number in self._named or _has(row.label.value, number):
            return True
        rivals = [
            cell
            for cell in row.cells
            if any(_is_rival(number, other) for other in cell.value.quantities)
        ]
        most = max((len(self._by_name(row, cell)) for cell in rivals), default=0)
        return any(len(self._by_name(row, cell)) >= most for cell in places)
