"""What a terminal can show: colours, its width, and characters that are safe to print."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Colour = Literal["auto", "always", "never"]

MAX_WIDTH = 100  # maximum columns of a line of prose: longer lines are hard to read

STYLES = {
    "name": "bold",
    "answer": "bold",
    "word": "underline",
    "aside": "color(243)",
    "right": "color(29)",
    "doubtful": "bold",
    "wrong": "bold color(131)",
    "added": "bold color(29)",
    "missing": "strike color(131)",
    "bar.complete": "color(29)",
    "bar.finished": "color(29)",
    "bar.pulse": "color(29)",
    "bar.back": "color(243)",
}
"""Styles of what is printed. Their colours are the few of the 256 that have a contrast of 4.5 on
black as well as on white; all other text has the terminal's own colour. The first 16 colours can
be anything, so that a terminal with no others gets bold, underlined and struck text only."""

_COLOUR = re.compile(r"color\(\d+\)")

# Control characters of a document could control the terminal. Each becomes one visible character,
# so that offsets stay correct; newlines and tabs stay.
_CONTROLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
_CONTROLS |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
_CONTROLS |= {0x2028: 0x0A, 0x2029: 0x0A, 0x0D: 0x20}


def visible(text: str) -> str:
    """Make terminal control characters visible; the length of the text does not change."""
    return text.translate(_CONTROLS)


def visible_name(name: str) -> str:
    """Make a file name safe to print on one line: it may hold newlines."""
    return visible(name).replace("\n", "␊")


def shown_path(source: str) -> str:
    """Shorten a path that lies below the current folder to a relative one."""
    try:
        return str(Path(source).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return source


def size_text(size_bytes: int) -> str:
    """Format a size.

    >>> size_text(999), size_text(12_345), size_text(22_931_876)
    ('999 B', '12.3 kB', '22.9 MB')
    """
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size_bytes >= limit:
            return f"{size_bytes / limit:,.1f} {unit}"
    return f"{size_bytes} B"


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream is a terminal that can move the cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(choice: Colour, stream: TextIO) -> bool:
    """Whether to use colours: ``--color``, then FORCE_COLOR, then NO_COLOR, then the stream."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("FORCE_COLOR"):
        return True
    return not os.environ.get("NO_COLOR") and is_terminal(stream)


@contextmanager
def page(choice: Colour, *, long: bool = False) -> Iterator[Console]:
    """Collect what the block prints and write it to stdout at once.

    If the console wrote to stdout itself, it would end the process when a pipe is closed. What is
    ``long`` is shown by a pager on a terminal if it is longer than the screen.
    """
    buffer = io.StringIO()
    yield console(choice, sys.stdout, buffer)
    text = buffer.getvalue()
    rows = height(sys.stdout) if long and is_terminal(sys.stdout) else None
    if rows is not None and text.count("\n") >= rows:
        _show_in_pager(text.removesuffix("\n"), coloured=has_colours(choice, sys.stdout))
    else:
        sys.stdout.write(text)


def _show_in_pager(text: str, *, coloured: bool) -> None:
    """Every pager gets the colours, as from git: without them no answer would be marked."""
    import click

    settings = os.environ.get("LESS", "")
    if coloured and "r" not in settings.lower():
        os.environ["LESS"] = f"-R {settings}".strip()  # else less prints codes of colours as text
    if loads := sys.modules.get("milepost.encoder.reranker"):
        loads.settle()  # the locale says in which encoding the pager gets its text
    click.echo_via_pager(text, color=coloured or None)


def console(choice: Colour, stream: TextIO, file: TextIO | None = None) -> Console:
    """Make a rich console for a stream; ``file`` receives the output instead if given."""
    from rich.console import Console
    from rich.theme import Theme

    coloured = has_colours(choice, stream)
    palette: Literal["standard", "256"] | None = "256" if coloured else None
    styles = STYLES
    if coloured and "256" not in os.environ.get("TERM", "") and not os.environ.get("COLORTERM"):
        palette = "standard"
        styles = {name: _COLOUR.sub("", style) or "none" for name, style in STYLES.items()}
    return Console(
        file=file or stream,
        color_system=palette,
        theme=Theme(styles),
        no_color=False,
        force_terminal=coloured or is_terminal(stream),  # a progress bar moves without colours too
        width=width(stream),
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )


def print_line(out: Console, line: Text | str) -> None:
    """Print one line without wrapping it."""
    out.print(line, soft_wrap=True)


def width(stream: TextIO) -> int | None:
    """Columns of a terminal, at most ``MAX_WIDTH``; None if the stream is not a terminal."""
    if not stream.isatty():
        return None
    return max(20, min(MAX_WIDTH, shutil.get_terminal_size().columns))


def height(stream: TextIO) -> int | None:
    """Lines of a terminal, at least 5; None if the stream is not a terminal."""
    if not stream.isatty():
        return None
    return max(5, shutil.get_terminal_size().lines)


def can_show(text: str, stream: TextIO) -> bool:
    """Whether the stream's encoding can represent these characters."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
