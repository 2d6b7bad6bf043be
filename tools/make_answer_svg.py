"""Write ``docs/answer.svg``: a real answer as a terminal shows it, for the README.

    python tools/make_answer_svg.py

Runs ``milepost search`` in this process on the book in ``examples`` and draws what it prints on
stdout. The first run reads the book, which takes some twenty seconds. The same answer gives the
same bytes; another processor may round a probability to the next percent.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from pathlib import Path
from unittest import mock

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from milepost.cli.program import program

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "answer.svg"
COMMAND = (
    'milepost search "How do bees make the cells of the honeycomb?" '
    "examples/origin-of-species.txt -k 2"
)
COLUMNS = 84
"""Wide enough for the heat strip, narrow enough to be read at the width of a web page."""

FONTS = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
"""Fonts of the reader's system: the picture loads nothing."""

THEME = TerminalTheme(
    background=(22, 27, 34),
    foreground=(230, 237, 243),
    normal=[
        (0, 0, 0), (255, 123, 114), (63, 185, 80), (210, 153, 34),
        (88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196),
    ],
)  # fmt: skip
"""A dark screen, which reads well on a light page and on a dark one."""


class Terminal(io.StringIO):
    """Collects what a command prints and says that it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Make the command wrap lines and use colours."""
        return True


def answer(command: str, folder: Path) -> str:
    """Run a ``milepost`` command in ``folder`` and return its stdout, escape sequences included.

    Raises:
        RuntimeError: the command ended with an error or found nothing.
    """
    screen = Terminal()
    terminal = {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    with (
        mock.patch.dict(os.environ, terminal),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(screen),
    ):
        try:
            program.main([*shlex.split(command)[1:], "--color", "always"])
        except SystemExit as done:
            if done.code:
                raise RuntimeError(f"{command}: exit code {done.code}") from None
    return screen.getvalue()


def picture(command: str, printed: str) -> str:
    """Draw a command and what it printed as an SVG, ``COLUMNS`` wide."""
    screen = Console(
        record=True,
        file=io.StringIO(),
        width=COLUMNS,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    screen.print(Text.assemble(("$ ", "green"), (command, "bold")), soft_wrap=False)
    screen.print()
    screen.print(Text.from_ansi(printed.rstrip("\n")))
    screen.print()
    svg = screen.export_svg(title="milepost", theme=THEME, unique_id="answer")
    svg = re.sub(r"\s*@font-face \{.*?\n    \}", "", svg, flags=re.DOTALL)
    svg = svg.replace("font-family: Fira Code, monospace", f"font-family: {FONTS}")
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


def main() -> None:
    """Run the command and write the picture."""
    TARGET.write_text(picture(COMMAND, answer(COMMAND, ROOT)), encoding="utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
