"""What a screen can show: colours or none, its width, and characters that are safe to print."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Colour = Literal["auto", "always", "never"]

WIDEST = 100
"""Columns a line of prose fills at most: longer ones are hard to read."""

# Control characters of a document could steer the terminal. Each becomes one visible character,
# so that offsets stay true; line ends and tabs stay.
_CONTROLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
_CONTROLS |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
_CONTROLS |= {0x2028: 0x0A, 0x2029: 0x0A, 0x0D: 0x20}


def visible(text: str) -> str:
    """Make characters that steer a terminal visible; the text stays as long as it is."""
    return text.translate(_CONTROLS)


def visible_name(name: str) -> str:
    """Make a file's name safe to print on one line: it may hold line ends, too."""
    return visible(name).replace("\n", "␊")


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody looks at the stream, on a terminal that can more than print."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(choice: Colour, stream: TextIO) -> bool:
    """Whether to write colours: ``--color``, then FORCE_COLOR, then NO_COLOR, then the stream."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("FORCE_COLOR"):
        return True
    return not os.environ.get("NO_COLOR") and is_terminal(stream)


@contextmanager
def page(choice: Colour) -> Iterator[Console]:
    """Collect what the block prints and write it to stdout in one piece.

    A console that wrote to stdout itself would end the process when the reader of a pipe leaves.
    """
    buffer = io.StringIO()
    yield console(choice, sys.stdout, buffer)
    sys.stdout.write(buffer.getvalue())


def console(choice: Colour, stream: TextIO, file: TextIO | None = None) -> Console:
    """Make a rich console for a stream; ``file`` takes in its stead what is printed."""
    from rich.console import Console

    coloured = has_colours(choice, stream)
    return Console(
        file=file or stream,
        color_system=_palette() if coloured else None,
        no_color=False,
        force_terminal=coloured or is_terminal(stream),  # a bar moves without colours, too
        width=width(stream),
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )


def print_line(out: Console, line: Text | str) -> None:
    """Print one line as it is, however long."""
    out.print(line, soft_wrap=True)


def width(stream: TextIO) -> int | None:
    """Count the columns of a terminal, at most ``WIDEST``; None where nothing is wrapped."""
    if not stream.isatty():
        return None
    import shutil

    return max(20, min(WIDEST, shutil.get_terminal_size().columns))


def can_show(text: str, stream: TextIO) -> bool:
    """Whether the stream's encoding has these characters."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _palette() -> Literal["standard", "256"]:
    rich_enough = "256" in os.environ.get("TERM", "") or os.environ.get("COLORTERM")
    return "256" if rich_enough else "standard"
