"""Lines of a page → reading order: columns first.

A page is cut at its widest gutter (white space with running text on both sides) into the parts
above, left, right and below, and each part is cut again until no gutter is left. The rest is one
flow, which ``rows`` orders. A table is not a pair of columns: its rows are read across.
"""

from __future__ import annotations

from functools import lru_cache

from milepost._numpy import NDArray, np
from milepost.documents.readers.pdf.records import Line, in_runs
from milepost.documents.readers.pdf.rows import order_flow

GUTTER = 0.5  # of the font size: minimum white space between columns
MIN_LINES = 3  # on each side of a gutter
MAX_LINES = 3000  # a page with more is a map or a drawing, and has no columns
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())


def reading_order(lines: list[Line]) -> list[list[Line]]:
    """Order the lines of a page; each inner list is a flow (a column, or uncut text)."""
    by_angle: dict[int, list[Line]] = {}
    for line in lines:
        by_angle.setdefault(line.angle, []).append(line)
    flows = [flow for part in by_angle.values() for flow in _cut(part)]
    return [order_flow(flow) for flow in flows if flow]


def _cut(lines: list[Line]) -> list[list[Line]]:
    printed = [line for line in lines if not line.typed]  # what is typed stands at its label
    found = _best_gutter(printed) if 2 * MIN_LINES <= len(printed) <= MAX_LINES else None
    if found is None:
        return [lines]
    gutter, top, bottom = found
    parts: list[list[Line]] = [[], [], [], []]
    for line in lines:
        if line.base <= top:
            parts[0].append(line)
        elif line.base > bottom:
            parts[3].append(line)
        else:
            parts[2 if line.left >= gutter - 0.3 * line.size else 1].append(line)
    return [flow for part in parts if part for flow in _cut(part)]


def _best_gutter(lines: list[Line]) -> tuple[float, float, float] | None:
    """Find the left edge of a right-hand column, and the baselines between which it applies."""
    edges = _edges(lines)
    if not edges:
        return None
    lines = sorted(lines, key=lambda line: line.base)
    table = _Lines(lines)
    base, size = table.base, table.size
    best, most = None, 0.0
    column = np.array(edges)[:, None]
    afters = table.left >= column - 0.3 * size
    crosses = ~afters & (table.right > column - GUTTER * size)
    # Lines between the same two crossing lines are one band; crossing lines are in no band.
    above = np.pad(crosses.cumsum(axis=1), ((0, 0), (1, 0)))
    bands = above[:, np.searchsorted(base, base, side="left")]
    frees = above[:, np.searchsorted(base, base, side="right")] == bands
    counts = np.minimum((frees & ~afters).sum(axis=1), (frees & afters).sum(axis=1))
    for at in np.flatnonzero(counts >= MIN_LINES).tolist():
        edge, after, free, band = edges[at], afters[at], frees[at], bands[at]
        sides, crossing = (free & ~after, free & after), base[crosses[at]]
        lighter = np.minimum(
            *(np.bincount(band[s], table.weight[s], len(crossing) + 1) for s in sides)
        )
        for number in np.flatnonzero(lighter > most)[np.argsort(-lighter[lighter > most])][:3]:
            if table.are_columns(*(np.flatnonzero(s & (band == number)) for s in sides)):
                top = crossing[number - 1] if number else -np.inf
                bottom = crossing[number] - 1e-6 if number < len(crossing) else np.inf
                # The crossing line above goes to the part above, the one below to the part below.
                best, most = (edge, float(top), float(bottom)), float(lighter[number])
                break
    return best


def _edges(lines: list[Line]) -> list[float]:
    """Left edges shared by at least three lines: candidates for a right-hand column."""
    runs = in_runs(
        sorted((line.left, line.size) for line in lines),
        lambda run, each: each[0] - run[0][0] <= 0.3 * run[0][1],
    )
    return [run[0][0] for run in runs if len(run) >= MIN_LINES][1:]


class _Lines:
    """Measurements of lines as arrays, for the question whether some of them are columns."""

    def __init__(self, lines: list[Line]) -> None:
        self.left, self.right, self.base, self.size, self.weight, self.order, self.letters = (
            np.array(
                [
                    (x.left, x.right, x.base, x.size, len(x.text), x.order, _letters(x.text))
                    for x in lines
                ],
                dtype=np.float64,
            ).T
        )
        self._wide = self.weight * (self.right - self.left >= 8 * self.size)

    def are_columns(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> bool:
        """Whether the lines of these numbers are two columns of running text."""
        few, sides = min(len(left), len(right)), (left, right)
        if few < MIN_LINES or not all(map(self._is_prose, sides)):
            return False
        tops, bottoms = ([float(f(self.base[s])) for s in sides] for f in (np.min, np.max))
        height = min(low - high for high, low in zip(tops, bottoms, strict=True))
        if min(bottoms) - max(tops) < 0.5 * height:
            return False
        by_order = np.argsort(self.order[np.concatenate(sides)])
        turns = int(np.count_nonzero(np.diff(by_order < len(left))))
        if turns <= max(2, few // 5):
            return True
        # Written line by line across both columns, as text recognition does: a table of prose is
        # written cell by cell and turns less often than there are lines.
        wide = min(float(np.median(self.weight[s])) for s in sides) >= 30
        return wide and turns >= 1.6 * few - 2

    def _is_prose(self, side: NDArray[np.int64]) -> bool:
        """Whether most characters are in lines as wide as running text, and enough are letters."""
        weight = self.weight[side].sum()
        words = self.letters[side].sum() >= 0.45 * weight
        return bool(words and self._wide[side].sum() >= 0.6 * weight)


@lru_cache(maxsize=4096)  # each part of a page is looked at again
def _letters(text: str) -> int:
    if text.isascii():
        return len(text.encode().translate(None, _NO_LETTERS))
    return sum(map(str.isalpha, text))
