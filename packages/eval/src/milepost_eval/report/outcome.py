"""The result of an experiment: a table with intervals, panels to draw, and a note in words."""

from __future__ import annotations

from dataclasses import dataclass

from milepost_eval.statistics import decided


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its 95 % interval.

    Attributes:
        mean: a share or a difference of shares, 1 is all; or a plain number.
        low: lower end of the interval.
        high: upper end.
        kind: ``share`` is shown in per cent, ``difference`` the same with its sign, ``number`` as
            it is.
        p: of a difference, corrected for the others of the same note; None for a mean.
    """

    mean: float
    low: float
    high: float
    kind: str = "share"
    p: float | None = None

    @property
    def sure(self) -> bool:
        """Whether a difference is ``statistics.decided``, by its interval as it is shown."""
        low, high = round(self.low, 3), round(self.high, 3)
        return self.p is not None and decided(low, high, self.p) != "unknown"

    @property
    def detectable(self) -> float:
        """The minimum detectable effect, by the interval as it is shown.

        A true difference of this size is found in 80 of 100 repetitions, at two-sided 5 %: 2.80
        standard errors (the sum of the normal quantiles 1.96 and 0.84), where half of the interval
        is 1.96 of them. In the unit of ``mean``.

        >>> round(Figure(0.041, 0.016, 0.068, "difference").detectable, 4)
        0.0371
        """
        return 2.80 / 1.96 * (round(self.high, 3) - round(self.low, 3)) / 2

    def __str__(self) -> str:
        """As in tables; a plain number without an interval is that number."""
        mean, low, high = (_shown(value, self.kind) for value in (self.mean, self.low, self.high))
        exact = self.kind == "number" and low == mean == high
        return mean if exact else f"{mean} ({low} to {high})"


Cell = str | int | Figure | None
"""A table's cell; None where nothing was measured."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a panel: a figure a tick, None where nothing was measured."""

    name: str
    figures: tuple[Figure | None, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot.

    Attributes:
        title: above it.
        across: what the ticks are.
        up: what the figures are.
        ticks: names of the places on the horizontal axis.
        series: one figure a tick each.
        ordered: whether the ticks are steps of one thing, so that a line between them says
            something.
    """

    title: str
    across: str
    up: str
    ticks: tuple[str, ...]
    series: tuple[Series, ...]
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one experiment.

    Attributes:
        columns: names of the table's columns.
        rows: one cell a column each.
        note: what the figures say and do not say.
        panels: what is drawn.
        name: of the experiment.
        question: what it asks, one line.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str
    panels: tuple[Panel, ...]
    name: str = ""
    question: str = ""


def in_words(figure: Figure | None) -> str:
    """A difference in words.

    >>> in_words(Figure(-0.021, -0.04, -0.003, "difference", p=0.03))
    'loses 2.1 points (-4.0 to -0.3)'
    """
    if figure is None:
        return "was not measured"
    mean, low, high = (
        _shown(value, "difference") for value in (figure.mean, figure.low, figure.high)
    )
    if not figure.sure:
        return f"makes no difference that is sure: {mean} points ({low} to {high})"
    verb = "gains" if figure.mean > 0 else "loses"
    return f"{verb} {mean.lstrip('+-')} points ({low} to {high})"


def _shown(value: float, kind: str) -> str:
    if kind == "number":
        return f"{value:.{max(0, 4 - len(str(int(abs(value)))))}f}"
    points = round(100.0 * value, 1) + 0.0  # no minus before a zero
    return f"{points:+.1f}" if kind == "difference" else f"{points:.1f}"


def as_markdown(outcome: Outcome) -> str:
    """Heading, question, table and note as Markdown.

    Shares are per cent, in brackets the 95 % interval.
    """
    lines = [
        f"### {outcome.name}",
        "",
        outcome.question,
        "",
        _line(outcome.columns),
        "|" + "|".join(" --- " for _ in outcome.columns) + "|",
        *(_line(tuple(map(_cell, row))) for row in outcome.rows),
        "",
        outcome.note,
        "",
    ]
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
