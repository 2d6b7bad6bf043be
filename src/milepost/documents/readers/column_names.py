"""Decide which rows of a table name its columns, and where a table begins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import takewhile, zip_longest

Cells = list[str]
"""Cells of a row; empty cells are empty strings."""


class Covered(str):
    """An empty place that the cell on its left covers, as the file says."""

    __slots__ = ()


COVERED = Covered()

Row = tuple[int, Cells]
"""The number of a row, from 1, and its cells, at least one of which has text."""

_MAX_LABEL = 60
_MAX_QUESTION = 240  # characters of a question of a form
_MOST_HEADERS = 6
_SAMPLE = 50  # rows below a row that decide whether it names the columns
_MAX_FIGURE = 40
_MAX_FIGURED = 12  # characters of a label like "18 - 49": longer ones are amounts
_YEAR = re.compile(  # or a part of one
    r"(?:(?:[QH][1-4]|[1-4][QH]|FY)\s?)?(?:19|20)\d\d(?:\s?[/–-]\s?(?:19|20)?\d\d)?"
    r"(?:,?\s[^\W\d]\w*)?(?:\s?(?:\([^()]*\)|\[\w\]|[\\^]\d|\*))*|[QH][1-4]|[1-4][QH]",
    re.I,
)
_DATE = re.compile(
    r"(?:\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./ -](?:\d{1,2}|[^\W\d_]{3,})[./ -]\d{2,4})\b.*"
    r"|[^\W\d_]{3}[-'’]\d\d"
)
_STEP = re.compile(
    r"(?P<named>(?:[^\W\d_]|[^\W\d_]{2,3}\.?[-\s'’#/]{0,2}|[#№]\s?)\d{1,4}"
    r"(?:\W{0,2}[^\W\d_]{0,2}\d{2,4})?)"
    r"|(?P<counted>\d{1,4}(?:[.,]\d)?\s?[^\W\d_]{2,3}\.?|\d{1,4}\s[^\W\d_]"
    r"|(?:19|20)\d\d[^\W\d_]|\d{1,2}[^\W\d_]\s?['’]?\d\d(?:\d\d)?|\d{4}[-\s]?[^\W\d_]\d{1,2})"
    r"|(?P<range>[<>≤≥]=?\s?\d[\d.,]*|\d[\d.,]*\s?(?:[-–—/:]\s?\d[\d.,]*|\+))"
)
"""Day 1, Q1 FY25; 5 kg, 1st, 1Q25; 18-24, 65+. A row of names may count in such steps."""
_UNIT = re.compile(r"\((?:1?[,. ]?000(?:[,. ]000)?|(?=.*(?:[^\W\d]|=)).*)\)")
MISSING = re.compile(r"\W*(?:[A-Z]{1,2}\W*|n\W?[ad]\W*)?", re.I)
_QUESTION = re.compile(r"[?？](?:\s*\*|\s*\([^()]*\))?$")
_VALUE = re.compile(rf"@|://|^(?i:true|false)$|:\s+(?:{_DATE.pattern})$")
_NO_LABEL = re.compile(rf"(?:\S+\s+){{3}}.*[.!?]$|{_VALUE.pattern}")
"""What is no label; "No." and "In use?" are."""


def header_rows(rows: Sequence[Row], index: int, *, second: bool = False) -> int:
    """How many rows from ``index`` on name the columns; in upper ones, names cover several.

    A row below names may name columns that have none yet, such as the first two, or go on with
    names above figures. Empty rows may lie between names above figures.
    """
    part = rows[index : index + _MOST_HEADERS + _SAMPLE]
    if _holds_pairs(part):
        return 0
    found = int(names_columns(part, 0, second=second))
    for end in range(1, min(_MOST_HEADERS, len(part) - 1)):
        header = [cells for _, cells in part[: end + 1]]
        upper, low = header[-2:]
        low = [
            cell if cell != above else "" for above, cell in zip_longest(upper, low, fillvalue="")
        ]
        above = column_names(header[:-1]) if found else upper
        is_new = [not name for name, cell in zip_longest(above, low, fillvalue="") if cell]
        goes_on = (found > 1 and len(is_new) > 1 and all(is_new)) if found else any(is_new)
        units = [_UNIT.fullmatch(cell) for cell in low[1:] if cell]
        is_lower = not low[0] or (bool(units) and all(units))
        if not (goes_on or is_lower):
            break
        below = part[end + 1 :]
        if not all(_are_names([(part[end][0], cells), *below]) for cells in (upper, low)):
            break
        if not is_lower and not found and is_figure(low[0]):
            break  # a row of figures names columns beside an empty cell
        if not is_lower and upper[0] and part[end][0] > part[end - 1][0] + 1:
            break  # of another table
        named = [(part[end][0], column_names(header)), *below]
        if (goes_on or _above_figures(part, end, low)) and names_columns(
            named, 0, second=True, several=True
        ):
            found = end + 1
    return found


def _are_names(rows: Sequence[Row]) -> bool:
    """Whether each cell of the first row may be a name, or a step, above the other rows."""
    steps = _steps(rows, 0)
    return all(_is_name(cell) or column in steps for column, cell in enumerate(rows[0][1]))


def _holds_pairs(rows: Sequence[Row]) -> bool:
    """Whether each row is the name of one value, such as a date, an amount or words.

    Of the values below the first row, some are dates and some other figures, or half are words of
    their own. Units may stand behind amounts.
    """
    columns = [column for column, cell in enumerate(rows[0][1]) if cell]
    below = list(_below(rows, 0))
    if len(columns) != 2 or not {*columns} <= {
        at for cells in below for at, cell in enumerate(cells) if cell
    }:
        return False
    for cells in below:
        others = [cell for at, cell in enumerate(cells) if cell and at not in columns]
        is_measured = any(map(is_amount, cells[columns[1] : columns[1] + 1]))
        if others and (any(map(is_figure, others)) or not is_measured):
            return False
    pairs = [[cells[column] for column in columns] for cells in below if count_filled(cells) > 1]
    keys = [rows[0][1][columns[0]], *(key for key, _ in pairs)]
    if len({*keys}) < len(keys) or any(map(is_figure, keys)):
        return False
    values = [value for _, value in pairs if is_figure(value) or not MISSING.fullmatch(value)]
    dates = [value for value in values if _DATE.fullmatch(value)]
    words = [value for value in values if not (value in dates or is_figure(value))]
    has_both = dates and any(is_amount(value) and value not in dates for value in values)
    is_half = 2 * len(words) >= len(pairs) and len(words) == len({*words}) > 1
    return bool(has_both) or (is_half and len(words) < len(values))


def _above_figures(rows: Sequence[Row], index: int, cells: Cells) -> bool:
    """Whether all ``cells`` of a row stand above figures alone."""
    figures, words = _columns_below(rows, index)
    return {column for column, cell in enumerate(cells[1:], 1) if cell} <= figures - words


def table_starts(rows: Sequence[Row]) -> list[int]:
    """Where tables begin in rows: at the first, and where names above figures stand again.

    The name of the first column may differ. What stands above the names, such as another year,
    begins the table, too. Below a row of sentences, other names may stand.
    """
    starts = [0]
    known = _first_rows(rows, 0)
    for at in range(1, len(rows) - 1):
        is_below = _is_prose(rows[at - 1][1]) and all(map(is_label, rows[at][1]))
        if is_below and header_rows(rows, at, second=True):
            starts.append(at)
            known = _first_rows(rows, at)
            continue
        names = rows[at][1][1:]
        start, first = starts[-1], known.get(tuple(names), at)
        if first > at - 2 or count_filled(names) < 2:
            continue
        if not all(is_label(cell) or _step(cell) for cell in names):
            continue
        end = min(at, first + 1 + _SAMPLE)
        if names_columns(rows[start:end], first - start, second=True):
            numbers = range(1, min(max(1, first - start), at - first - 1) + 1)
            above = takewhile(partial(_is_above, rows, at, first), numbers)
            starts.append(min([at, *(at - k for k in above)]))
            known = _first_rows(rows, starts[-1])
        elif end < at:
            del known[tuple(names)]  # the sample would be the same for each that is like it
    return starts


def _is_prose(cells: Cells) -> bool:
    """Whether each cell of several is a sentence."""
    filled = [cell for cell in cells if cell]
    return len(filled) > 1 and all(map(_NO_LABEL.search, filled))


def _first_rows(rows: Sequence[Row], start: int) -> dict[tuple[str, ...], int]:
    """The cells of the first rows of a table, but for their first, and where they are."""
    numbers = range(start, min(start + _MOST_HEADERS, len(rows)))
    return {tuple(rows[at][1][1:]): at for at in reversed(numbers)}


def _is_above(rows: Sequence[Row], at: int, before: int, by: int) -> bool:
    """Whether the row ``by`` above one is a title, or stands above ``before``, too."""
    cells = rows[at - by][1]
    return count_filled(cells) == 1 or (by <= before and cells == rows[before - by][1])


def names_columns(
    rows: Sequence[Row], index: int, *, second: bool = False, several: bool = False
) -> bool:
    """Whether a row holds the names of the columns below it.

    Its cells must be labels (or what ``_is_heading`` says, or steps such as "Jan 2025"), none may
    recur in its column, and the rows below may fill few other columns, or any one beside three
    names of which one is above figures; its first cell may not end in a colon as those below do.
    Any further such row of a sheet (``second``) must be above figures. A row of figures names
    columns only if they are years or steps beside an empty first cell. If two names in words are
    above columns of figures alone, one in four may be another figure, such as "18 - 49", and some
    may be alike, as they may above figures, in several rows of labels (``several``), or if all
    recur as often, as in tables side by side. If none are alike, two in three cells may then be
    below no name.
    """
    number, row = rows[index]
    cells = [cell for cell in row if cell]
    steps = set() if several else _steps(rows, index)
    figured = [
        cell
        for column, cell in enumerate(row)
        if cell and not (several or column in steps or is_label(cell))
        if not _is_heading(rows, index, column)
    ]
    if not all(map(is_figure, figured)):
        return False
    if 4 * len(figured) > len(cells) or max(map(len, figured), default=0) > _MAX_FIGURED:
        return False
    if all(map(is_figure, cells)) and (row[0] or len(cells) < 2):
        return False
    if index + 1 < len(rows) and rows[index + 1][0] > number + 1:
        second = True
    inside, outside = 0, Counter[int]()
    for other in _below(rows, index):
        if row[0].endswith(":") and other[:1] and other[0].endswith(":"):
            return False  # each row has a name of its own
        for column, (cell, label) in enumerate(zip_longest(other, row, fillvalue="")):
            if cell and cell == label:
                return False
            inside += bool(cell and label)
            outside[column] += bool(cell and not label and column)
    figures, words = _columns_below(rows, index)
    times = Counter(cells)
    again = {column for column, label in enumerate(row) if times[label] > 1}
    are_twins = bool(figures) and len(times) > 1 and len({*times.values()}) == 1
    alone = figures - words
    above = {label for column, label in enumerate(row) if column in alone}
    is_above = sum(sum(map(str.isalpha, label)) > 3 for label in above) > 1
    if not (is_above or (not figured and (several or are_twins or again <= alone))):
        return False
    is_wide = len(cells) > 2 and any(label for at, label in enumerate(row) if at in alone)
    spare = max(outside.values(), default=0) if is_wide else 0
    if is_wide and is_above and not (second or again) and 2 * inside > outside.total():
        return True
    return inside > 3 * (outside.total() - spare) and (bool(figures) or not second)


def _is_heading(rows: Sequence[Row], index: int, column: int) -> bool:
    """Whether a date stands above amounts, or a question above cells that are none.

    Other long words are a name above amounts, and above labels of half their length.
    """
    cell = rows[index][1][column]
    below = [cells[column] for cells in _below(rows, index) if any(cells[column : column + 1])]
    if not below or not column:
        return False
    if _DATE.fullmatch(cell):
        return all(is_amount(each) and not _DATE.fullmatch(each) for each in below)
    if len(cell) > _MAX_QUESTION or is_figure(cell) or _VALUE.search(cell):
        return False
    is_question = bool(_QUESTION.search(cell)) and not any(map(_QUESTION.search, below))
    longest = len(cell) // 2
    return is_question or all(is_amount(each) or is_label(each, longest) for each in below)


def _steps(rows: Sequence[Row], index: int) -> set[int]:
    """Return the columns of a row whose cells go on in steps of one kind, above other cells."""
    row = rows[index][1]
    steps = {column: _step(cell) for column, cell in enumerate(row) if column and _step(cell)}
    years = {column for column, cell in enumerate(row) if column and _YEAR.fullmatch(cell)}
    columns, kinds = steps.keys() | years, {*steps.values()}
    if len(columns) < 2 or len(kinds) != 1 or is_figure(row[0]):
        return set()
    if 2 * count_filled(row[min(columns) : max(columns) + 1]) >= 3 * len(columns):
        return set()  # each may be the value of the name on its left
    cells = dict.fromkeys(row[column] for column in steps)  # names above them may tell them apart
    numbers = [[*map(int, re.findall(r"\d+", cell))] for cell in cells]
    is_range = kinds == {"range"}
    are_sorted = any(
        order == sorted(order) or (not is_range and order == sorted(order, reverse=True))
        for order in (numbers, [each[::-1] for each in numbers])  # the year is first or last
    )
    letters = {"".join(filter(str.isalpha, cell)) for cell in cells}
    if len(cells.keys() | {row[at] for at in years}) < 2 or (len(letters) == 1 and not are_sorted):
        return set()
    pairs = ((column, cells) for cells in _below(rows, index) for column in steps)
    below = [_step(cells[at]) for at, cells in pairs if any(cells[at : at + 1])]
    if not below or 4 * sum(kind in kinds for kind in below) > len(below):
        return set()
    figures, words = _columns_below(rows, index)
    is_sure = len(columns) > 2 and not is_range
    return {*steps} if is_sure or columns <= figures - words else set()


def _step(cell: str) -> str | None:
    """Return of which kind a figure is that may be one of several steps, if it is one."""
    match = _STEP.fullmatch(cell) if is_amount(cell) else None
    return match and match.lastgroup


def _below(rows: Sequence[Row], index: int) -> Iterator[Cells]:
    """Yield the rows below a row, down to an empty one that lies below several cells."""
    last, is_body = rows[index][0], False
    for number, cells in rows[index + 1 : index + 1 + _SAMPLE]:
        if is_body and number > last + 1:
            return
        last, is_body = number, is_body or count_filled(cells) > 1
        yield cells


def _columns_below(rows: Sequence[Row], index: int) -> tuple[set[int], set[int]]:
    """Return the columns that have figures below a row, and those that have words."""
    held: dict[bool, set[int]] = {True: set(), False: set()}
    for cells in _below(rows, index):
        for column, cell in enumerate(cells):
            if is_figure(cell) or not MISSING.fullmatch(cell):
                held[is_figure(cell)].add(column)
    return held[True], held[False]


def column_names(rows: Sequence[Sequence[str]]) -> Cells:
    """Join the names of each column in several rows of them, from top to bottom.

    An empty place in an upper row belongs to the name on its left, which covers several columns, if
    the file does not say what is covered; the name of the first column, with nothing below it,
    names only the rows.

    >>> column_names([["", "2024", ""], ["Item", "May", "June"]])
    ['Item', '2024 May', '2024 June']
    """
    width = max(map(len, rows), default=0)
    names: list[list[str]] = [[] for _ in range(width)]
    for number, row in enumerate(rows, 1):
        covering, group = "", [""]
        alone = not any(lower[0] for lower in rows[number:])
        is_known = any(isinstance(cell, Covered) for cell in row)
        for column in range(width):
            cell = row[column] if column < len(row) else ""
            if cell:
                covering, group = cell, names[column].copy()
            elif is_known:
                covering = covering if isinstance(cell, Covered) else ""
            elif names[column] != group or (alone and column == 1):
                covering = ""
            if not cell and not any(any(lower[column : column + 1]) for lower in rows[number:]):
                continue
            if covering and covering not in names[column]:
                names[column].append(covering)
    return [" ".join(parts) for parts in names]


def _is_name(cell: str) -> bool:
    return is_label(cell, 2 * _MAX_LABEL) and not re.search(r":(?:\s|$)|：", cell)


def is_label(cell: str, longest: int = _MAX_LABEL) -> bool:
    """Whether a cell may name a column: short words, a year, a unit."""
    if is_figure(cell):
        return bool(_YEAR.fullmatch(cell) or _UNIT.fullmatch(cell))
    return len(cell) <= longest and not _NO_LABEL.search(cell)


_SYMBOL = re.compile(r"[^\W\d_]{1,3}\d{1,2}(?:[.,]\d)?[^\W\d_]?")
"""PM10, CO2, x1: no figures."""


@lru_cache(maxsize=4096)
def is_figure(cell: str) -> bool:
    """Whether a cell is a number, an amount, a date or a code, and hardly any word."""
    letters = sum(map(str.isalpha, cell)) if len(cell) <= _MAX_FIGURE else len(cell)
    has_digits = letters <= 3 and any(map(str.isdigit, cell))
    return has_digits and (not _SYMBOL.fullmatch(cell) or bool(_YEAR.fullmatch(cell)))


def is_amount(cell: str) -> bool:
    """Whether a cell is a figure, and no year."""
    return is_figure(cell) and not _YEAR.fullmatch(cell)


def count_filled(cells: Cells) -> int:
    """How many cells are not empty."""
    return sum(map(bool, cells))
