"""Decide whether two successive lines are one paragraph, two rows or two paragraphs.

The rules use the traces of typesetting: leading, indents, a short last line, a change of size or
weight, the bullet of a list item. They look at one flow at a time.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import Enum
from itertools import pairwise, starmap
from statistics import median

from milepost.documents.readers.pdf.records import Line, in_runs

_ITEM = re.compile(
    r"(?:[•▪■➢✓·◦‣●○–—∗*✔\-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|(?:\d{1,3}\.){3,5})(?:\s|$)"
    r"|[•▪■➢✓●○‣◦]"
)
_ENDS = re.compile(r"[.!?:;…。！？：；][\"'”’»)\]]*(?:\d{0,3}|\[\d{1,3}(?:[,–-]\d{1,3})*\])$")
_LEADER = re.compile(r"(?:[.…]{4}|(?: [.·…]){4}|…{2})[\s.]*\S{0,6}$")
_DOTS = ("..", " .", " ·", "…")  # one of them is in each leader, and found in less time
_HYPHENATED = re.compile(r"[^\W\d_]{2}[-\u00ad\u2010]$")
_INSIDE = re.compile(r"[^\W_][,\-\u2010’”\")\]]?$")
_LAST = re.compile(r"[^\W_][.!?][\"'”’)\]]*$")
_OPENS = re.compile(r"[\"'“‘«(\[]*[^\W_]")
_WIDE = 16  # font sizes: a line of running text, and not of a table or a list of names
_COLUMN = 10  # the same: a line of a narrow column
_STEP = 0.5  # points by which equal distances of lines may differ


class Break(Enum):
    """The text between two lines."""

    NONE = ""  # one paragraph: a space, or nothing if a hyphen is removed
    CELL = " "  # the next cell of a row
    ROW = "\n"
    PARAGRAPH = "\n\n"


class Flow:
    """Measurements of one flow, and the decision for each pair of successive lines."""

    def __init__(self, lines: list[Line]) -> None:
        """Measure the leading and the stacks (lines below each other) of the flow."""
        self.lines = lines
        self.left = min(line.left for line in lines)
        self.right = max(line.right for line in lines)
        self._stacked = [False, *starmap(_stacked, pairwise(lines))]  # each on the one before it
        self._lead = self._leading()
        # Distance and size of each line that continues a sentence of the one above.
        self._running = [
            (b.base - a.base, b.size) for a, b in pairwise(lines) if self._runs_into(a, b)
        ]
        self._spaced = self._spaced_leading()
        self._leads = self._leads_by_size()
        self._margins = self._stacks()

    def _leading(self) -> float:
        steps = [
            b.base - a.base
            for (a, b), stacked in zip(pairwise(self.lines), self._stacked[1:], strict=True)
            if stacked and b.base - a.base < 2.2 * b.size
        ]
        return median(steps) if steps else 1.25 * median(line.size for line in self.lines)

    def _spaced_leading(self) -> float:
        """Distance of lines of running text with much space between them; 0 if there are none.

        In a double-spaced text, sentences go on after that much space; elsewhere, few do.
        """
        near = [(step, size) for step, size in self._running if step < 3.2 * size]
        steps = Counter(round(step / _STEP) for step, size in near if step > 1.3 * size)
        if not steps:
            return 0.0
        usual = steps.most_common(1)[0][0] * _STEP
        count = sum(abs(step - usual) <= 2 * _STEP for step, _ in near)
        return usual if count >= max(2, len(near) / 4) else 0.0

    def _leads_by_size(self) -> dict[int, float]:
        """The leading of running text, by its size: a drawing or notes may have more lines."""
        steps: dict[int, list[float]] = {}
        for step, size in self._running:
            if step < 2.2 * size:
                steps.setdefault(round(size), []).append(step)
        return {size: median(each) for size, each in steps.items()}

    def _runs_into(self, a: Line, b: Line) -> bool:
        """Whether a wide line ends inside of a sentence that the line below it continues."""
        first, width = b.text[0], a.right - a.left
        if not first.isalpha() or first.isupper() or width <= _WIDE * a.size:
            return False
        wide = width > 0.6 * (self.right - self.left) and not ends_sentence(a)
        return wide and a.bold == b.bold and _stacked(a, b) and _same_size(a, b)

    def _stacks(self) -> list[tuple[float, float]]:
        """For each line, the left and right margin of its stack of lines."""
        margins: list[tuple[float, float]] = []
        for stack in in_runs(self.lines, self._goes_on):
            margins += [(min(x.left for x in stack), max(x.right for x in stack))] * len(stack)
        return margins

    def _goes_on(self, stack: list[Line], line: Line) -> bool:
        # A short line above the next paragraph still belongs to the same column.
        near = line.base - stack[-1].base < 2.6 * self._lead
        return near and _stacked(stack[-1], line) and _same_size(stack[-1], line)

    def between(self, at: int, row: list[Line], lead: float | None) -> Break:
        """Decide the break before line ``at``.

        Args:
            at: number of the line in the flow, at least 1.
            row: cells of the row of the previous line, including that line.
            lead: distance of the last two lines of the paragraph, None in its first line.
        """
        last, line = self.lines[at - 1], self.lines[at]
        step, size = line.base - last.base, max(last.size, line.size)
        if abs(step) <= 0.55 * size and line.left >= last.right - 0.4 * size:
            return Break.CELL
        if step <= 0:
            return Break.CELL if line.left >= last.right - 0.5 * size else Break.PARAGRAPH
        if len(row) > 1 and self._is_hyphenated(row, line) and step < 1.5 * size:
            return Break.NONE
        if not self._stacked[at]:
            far = step > 1.9 * max(self._lead, size)
            return Break.PARAGRAPH if far else Break.ROW
        wide = self._is_wide(step, lead, last, line)
        small = min(len(last.text), len(line.text)) <= 3
        other = last.bold != line.bold and not self._goes_on_in(at - 1, line)
        if wide or (not small and (other or not _same_size(last, line))):
            return Break.PARAGRAPH
        if is_item(line.text) and not self._only_looks_like_item(at):
            return Break.ROW
        if len(row) > 1 and line.left < last.left - size:
            # Below several cells: the next row, or running text that has a wide gap.
            return Break.NONE if self._runs_on(row, line) else Break.ROW
        return self._inside(at, row, lead is None)

    def _is_wide(self, step: float, lead: float | None, last: Line, line: Line) -> bool:
        """Whether there is more space below a line than between the lines of a paragraph."""
        inside = self._is_spaced(lead) if lead else last.width > _WIDE * last.size
        if inside and self._is_spaced(step):
            return False
        tight = self._is_spaced(lead) and self._spaced > 1.5 * line.size and not is_item(line.text)
        leading = lead or max(self._lead, self._leads.get(round(last.size), 0))
        usual = 1.15 * self._spaced if tight else 1.3 * leading
        return step > usual + 0.5 and step > 1.15 * max(last.size, line.size)

    def _goes_on_in(self, at: int, line: Line) -> bool:
        """Whether line ``at`` ends inside of a sentence, with no room for the next one's word."""
        inside = _is_cut(self.lines[at], _COLUMN) and line.text[0].islower()
        return inside and self.has_no_room(at, line)

    def _is_spaced(self, step: float | None) -> bool:
        """Whether a step is the usual one of running text with much space between its lines."""
        return step is not None and self._spaced > 0 and abs(step - self._spaced) <= 2 * _STEP

    def _only_looks_like_item(self, at: int) -> bool:
        """Whether a number at the start of line ``at`` belongs to the sentence before it."""
        last, line = self.lines[at - 1], self.lines[at]
        numbered = line.text.lstrip("(")[0].isalnum()
        if not numbered or ends_sentence(last) or last.text[-1] in ",/":
            return False
        listed = any(
            is_item(x.text) and abs(x.left - line.left) < 0.5 * line.size
            for x in self.lines[max(at - 12, 0) : at]
        )
        outdented = line.left < last.left - 0.5 * line.size
        return not listed and not outdented and self.ends_full(at - 1)

    def _runs_on(self, row: list[Line], line: Line) -> bool:
        long = sum(len(cell.text) for cell in row) >= 30 and line.width > 12 * line.size
        return long and not ends_sentence(row[-1]) and not line.text[0].isupper()

    def _is_hyphenated(self, row: list[Line], line: Line) -> bool:
        """Whether a word goes on at the begin of the next line, after a row with wide spaces."""
        last = row[-1]
        begins = line.left < min(last.left - line.size, row[0].left + 1.5 * line.size)
        inside = line.text[0].islower() and last.text[-2:-1].islower()
        return begins and inside and bool(_HYPHENATED.search(last.text))

    def _inside(self, at: int, row: list[Line], first: bool) -> Break:
        """Decide by indents and short ends, for two lines of one column at the usual leading."""
        last, line = self.lines[at - 1], self.lines[at]
        left, right = self._margins[at - 1]
        size = line.size
        ended = ends_sentence(last)
        lower = line.text[0].islower()
        # Inside of running text, the next word may be wider than it seems.
        running = _is_cut(last) and (not first or last.width > 2 * _WIDE * size)
        slack = 1.6 if running else 0.8
        short = last.right + _first_word(line) + slack * size < right
        both_short = max(last.right, line.right) < left + 0.6 * (self.right - self.left)
        kind = Break.ROW if both_short else Break.PARAGRAPH
        if any(map(last.text.__contains__, _DOTS)) and _LEADER.search(last.text):
            return Break.ROW  # an entry of a table of contents
        if short and (ended or not lower) and _OPENS.match(line.text):
            return kind
        if short and right - last.right > max(0.35 * (right - left), 3 * size) and not first:
            return Break.ROW  # much room is left: verses, code, list entries
        item = is_item(row[0].text)
        indent = line.left - last.left
        if indent > 0.8 * size and not item and not lower and (ended or not first):
            return Break.PARAGRAPH
        hanging = item or last.left - left > 0.8 * size
        goes_on = first and self.ends_full(at - 1) and _is_cut(last, _COLUMN)
        begins = ended or not (lower or goes_on)
        if indent < -0.8 * size and (not first or item) and hanging and begins:
            return Break.PARAGRAPH
        return Break.NONE

    def ends_full(self, at: int) -> bool:
        """Whether line ``at`` reaches the right margin, so that its paragraph may continue."""
        return self.lines[at].right > self._margins[at][1] - 1.2 * self.lines[at].size

    def is_set_off(self, at: int) -> bool:
        """Whether there is a gap before line ``at``, or other letters."""
        if not 0 < at < len(self.lines):
            return True
        last, line = self.lines[at - 1], self.lines[at]
        step = line.base - last.base
        return not 0 < step < 1.3 * self._lead or not 0.97 < line.size / last.size < 1.03

    def has_no_room(self, at: int, after: Line) -> bool:
        """Whether the first word of the line after line ``at`` did not fit into it."""
        line = self.lines[at]
        room = self._margins[at][1] - line.right
        return room < _first_word(after) + 0.8 * line.size

    def starts_flush(self, at: int) -> bool:
        """Whether line ``at`` begins at the left margin, as a line inside a paragraph does."""
        return self.lines[at].left < self._margins[at][0] + 0.6 * self.lines[at].size


def continues(flow: Flow, last: int, after: Flow, at: int) -> bool:
    """Whether line ``last`` of a flow and line ``at`` of the flow after it are one paragraph."""
    before, line = flow.lines[last], after.lines[at]
    if not _alike(before, line) or (ends_sentence(before) and not line.text[0].islower()):
        return False
    if line.text[0].islower() and len(line.text) > 3:
        return True
    running = _is_cut(before) and not is_item(before.text)
    full = flow.ends_full(last) or (running and flow.has_no_room(last, line))
    wide = before.width > max(10 * before.size, 0.6 * (flow.right - flow.left))
    return full and after.starts_flush(at) and wide and line.width > 5 * line.size


def cuts_sentence(flow: Flow, last: int, after: Flow, at: int) -> bool:
    """Whether what stands between the two lines, a note or a figure, interrupts a sentence.

    Then the first line ends inside of the sentence where the next word had no room, with a gap or
    other letters below, and the other line goes on with a small letter.
    """
    before, line = flow.lines[last], after.lines[at]
    if not _alike(before, line) or not after.starts_flush(at):
        return False
    full = before.width > _WIDE * before.size and flow.has_no_room(last, line)
    wide = line.width > 0.6 * before.width or bool(_LAST.search(line.text))
    inside = bool(_INSIDE.search(before.text)) and not before.text.isupper()
    return full and wide and inside and flow.is_set_off(last + 1) and after.is_set_off(at)


def _alike(before: Line, line: Line) -> bool:
    return _same_size(before, line) and before.bold == line.bold and not is_item(line.text)


def ends_sentence(line: Line) -> bool:
    """Whether a line ends in a mark that ends a sentence or announces what comes next."""
    return not line.text[-1].isalpha() and bool(_ENDS.search(line.text))


def is_item(text: str) -> bool:
    """Whether a line begins with a bullet or the number of a list item."""
    return bool(_ITEM.match(text))


def _is_cut(line: Line, wide: float = _WIDE) -> bool:
    """Whether a line of running text ends inside of a sentence."""
    inside = line.text[-1].isalpha() or line.text[-1] in ",-\u2010"
    return inside and line.width > wide * line.size


def _stacked(a: Line, b: Line) -> bool:
    # Asked several times for each line, where min and max take most of the time.
    if b.base - a.base <= 0.55 * (a.size if a.size < b.size else b.size):
        return False
    left = a.left if a.left > b.left else b.left
    right = a.right if a.right < b.right else b.right
    width, other = a.right - a.left, b.right - b.left
    return right - left > 0.2 * (width if width < other else other)


def _same_size(a: Line, b: Line) -> bool:
    # With small capitals most of a line is small: then its largest letters have the usual size.
    return 0.88 < a.size / b.size < 1.14 or 0.97 < a.largest / b.largest < 1.03


def _first_word(line: Line) -> float:
    word = line.text.split(" ", 1)[0]
    if len(word) > 1 and "\u2e80" <= word[0] <= "\uffef":
        word = word[0]  # a script without spaces breaks anywhere
    return line.width * len(word) / len(line.text)
