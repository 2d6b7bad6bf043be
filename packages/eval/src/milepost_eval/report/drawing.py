"""Lines, bands and intervals as SVG: the same bytes for the same figures, text left as text."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from milepost._optional import require
from milepost_eval.report.table import clean
from milepost_eval.statistics import Verdict

INK = "#1b1f24"
"""Text and axes."""

GROUND = "#fefefe"
"""Background of a drawing."""

PALE = "#8c959f"
"""What is not highlighted: readable on white and on black."""

_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "milepost",
    "text.parse_math": False,  # a name with two dollars is no formula
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same layout everywhere
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": INK,
    "grid.alpha": 0.13,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
}


@dataclass(frozen=True, slots=True)
class Style:
    """How a system is drawn: its colour, marker and dashes, each of which identifies it."""

    colour: str
    marker: str = ""
    dashes: tuple[float, float] | None = None
    width: float = 1.6


# Okabe and Ito's colours (2008) without black and yellow, which one of the two grounds swallows.
OURS = Style("#0072B2", "o", None, 2.6)
OTHERS = (
    Style("#D55E00", "s", (4, 1.5)),
    Style("#009E73", "^", (1.5, 1.2)),
    Style("#CC79A7", "D", (6, 2)),
    Style("#E69F00", "v", (3, 1)),
    Style("#56B4E9", "P", (1, 1)),
)
REST = Style(PALE, width=0.7)

VERDICTS: dict[Verdict, str] = {"better": "#0072B2", "worse": "#D55E00", "unknown": PALE}
"""What is said of a difference → its colour."""


@dataclass(frozen=True, slots=True)
class Line:
    """One system's curve; ``low`` and ``high`` give its band, None where there is none."""

    style: Style
    xs: Sequence[float]
    ys: Sequence[float]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """An x axis: what it counts, where its ticks are, what they read, and whether it is a log."""

    title: str
    ticks: Sequence[float]
    labels: Sequence[str]
    log: bool = False
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """One row of intervals: a difference with its two ends, and what is said of it."""

    label: str
    mean: float
    low: float
    high: float
    verdict: Verdict
    total: bool = False


@contextmanager
def settings() -> Iterator[None]:
    """The look of all plots; whatever the program outside has set is left alone."""
    matplotlib = require("matplotlib", extra="eval")
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        # Text stays text: whoever reads the page has fonts for it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def figure(width: float, height: float, layout: str | None = "constrained") -> Any:
    """An empty figure in inches, drawn by no window system."""
    require("matplotlib.backends.backend_svg", extra="eval")
    made = require("matplotlib.figure", extra="eval").Figure((width, height), layout=layout)
    made.patch.set_facecolor("white")
    if layout:
        made.get_layout_engine().set(w_pad=0.09, h_pad=0.07)
    return made


def shorten(name: str, most: int = 40) -> str:
    """A name that fits, both ends kept: systems of one family differ at the end.

    >>> shorten("late-chunk:recursive", 11)
    'late-…rsive'
    """
    name = clean(name)
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-(most - 1 - half) :]}"


def draw_lines(axes: Any, lines: Sequence[Line], x: Axis, y_title: str) -> None:
    """Curves over an axis, those that are given first on top."""
    for depth, line in enumerate(lines):
        style, order = line.style, 3 + (len(lines) - depth) / len(lines)
        _band(axes, line, order - 2)
        axes.plot(line.xs, line.ys, zorder=order, **_drawn(style))
    if x.log:
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
    axes.set_xticks(x.ticks, x.labels)
    if x.limits:
        axes.set_xlim(*x.limits)
    axes.margins(y=0.08)
    axes.set_xlabel(x.title)
    axes.set_ylabel(y_title)


def draw_spans(axes: Any, spans: Sequence[Span], limits: tuple[float, float], title: str) -> None:
    """Differences with intervals, one row each, zero marked."""
    axes.axvline(0, color=INK, linewidth=1, zorder=2)
    for row, span in enumerate(spans):
        colour = VERDICTS[span.verdict]
        # Filled where something is known: not by colour alone.
        fill = GROUND if span.verdict == "unknown" else colour
        axes.plot([span.low, span.high], [row, row], color=colour, linewidth=2, zorder=3)
        axes.plot(
            [span.mean], [row], "D" if span.total else "o", color=colour, markersize=6.5,
            markerfacecolor=fill, markeredgewidth=1.6, zorder=4,
        )  # fmt: skip
    axes.set_yticks(range(len(spans)), [span.label for span in spans])
    for label, span in zip(axes.get_yticklabels(), spans, strict=True):
        label.set_fontweight("bold" if span.total else "normal")
    axes.set_ylim(len(spans) - 0.4, -0.6)
    axes.set_xlim(*limits)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(title)


def legend_handle(style: Style) -> Any:
    """A sample of a line for a legend in a figure."""
    return require("matplotlib.lines", extra="eval").Line2D([], [], **_drawn(style))


def svg(made: Any, prefix: str = "") -> str:
    """A figure as SVG: the same bytes for the same figure.

    Args:
        made: the figure.
        prefix: goes before every id, so that several drawings can live in one page.
    """
    buffer = io.StringIO()
    made.savefig(
        buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type"))
    )
    text = re.sub(r"<!DOCTYPE[^>]*>\s*", "", buffer.getvalue())  # it names a file on the network
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # names of groups, which nothing refers to
    text = re.sub(r"""(\bid="|href="#|url\(#)""", rf"\g<1>{prefix}", text)
    return text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")


def _drawn(style: Style) -> dict[str, Any]:
    return {
        "color": style.colour,
        "linewidth": style.width,
        "linestyle": (0, style.dashes) if style.dashes else "-",
        "marker": style.marker or None,
        "markersize": 5.5,
    }


def _band(axes: Any, line: Line, order: float) -> None:
    """The interval around a curve; where a point has none, the band has a gap."""
    missing = float("nan")
    low = [missing if value is None else value for value in line.low]
    high = [missing if value is None else value for value in line.high]
    if low:
        axes.fill_between(
            line.xs, low, high, color=line.style.colour, alpha=0.16, linewidth=0, zorder=order
        )
