"""Options that several commands have, the settings they set, and lines on stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from milepost._paths import expanded
from milepost.cli.console.screen import Colour, visible
from milepost.errors import MilepostError

if TYPE_CHECKING:
    from milepost.encoder.engine.precision import Arithmetic
    from milepost.store.address import IndexPlace


Command = TypeVar("Command", bound=Callable[..., Any])

DB = Path(".milepost")  # default folder of the index, in the current folder


_NOTES = 3  # on a terminal


class Interrupted(Exception):
    """Ctrl-C was pressed; the message says what was saved."""


@dataclass(slots=True)
class Settings:
    """Values of the options that every command has; no precision is what the environment says."""

    colour: Colour = "auto"
    quiet: bool = False
    debug: bool = False
    precision: Arithmetic | None = None


def say(line: str) -> None:
    """Write one line to stderr after the program's name; control characters become visible.

    Where stderr cannot be written (a full disk, a closed pipe), the command goes on without it.
    """
    with suppress(OSError):
        click.echo(f"milepost: {visible(' '.join(line.split()))}", err=True)


def say_all(lines: Sequence[str]) -> None:
    """Say several lines; on a terminal the first few, so that they do not push results away."""
    for line in _few(lines):
        say(line)


def say_notes(notes_of: Mapping[str, Sequence[str]]) -> None:
    """Say what could not be read of each document."""
    for name, notes in notes_of.items():
        for note in notes:
            say(f"{name}: {note}")


def rows_said(lines: Sequence[str]) -> int:
    """Lines of the terminal that ``say_all`` takes; 0 where stderr is not one."""
    columns = shutil.get_terminal_size().columns if sys.stderr.isatty() else 0
    return sum(-(-len(f"milepost: {line}") // columns) for line in _few(lines)) if columns else 0


def _few(lines: Sequence[str]) -> list[str]:
    if len(lines) <= _NOTES + 1 or not sys.stderr.isatty():
        return list(lines)
    return [*lines[:_NOTES], f"{len(lines) - _NOTES} more notes; --json has them all"]


def _sets(name: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def store(context: click.Context, _: click.Parameter, value: Any) -> Any:
        settings = context.find_object(Settings)
        if settings is not None:
            setattr(settings, name, value)
        return value

    return store


def added(command: Command, *options: Callable[[Command], Command]) -> Command:
    """Add options to a command, in the order of its help."""
    for option in reversed(options):  # the first one is listed first
        command = option(command)
    return command


def common(command: Command) -> Command:
    """Add ``--color``, ``--quiet`` and ``--debug``."""
    return added(
        command,
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            expose_value=False,
            callback=_sets("colour"),
            help="When to use colours; auto: on a terminal, unless NO_COLOR is set.",
        ),
        click.option(
            "-q",
            "--quiet",
            is_flag=True,
            expose_value=False,
            callback=_sets("quiet"),
            help="Do not print progress, notes or a summary.",
        ),
        click.option(
            "--debug",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_sets("debug"),
            help="Show the traceback if an error occurs.",
        ),
    )


model_option = click.option(
    "--model",
    metavar="NAME|FOLDER",
    help="Name of a shipped model, or a model folder.",
)
precision_option = click.option(
    "--precision",
    type=click.Choice(["auto", "int8", "float"]),
    expose_value=False,
    callback=_sets("precision"),
    help="Arithmetic of the network; auto: int8 where the CPU has instructions for it, else float. "
    "[default: MILEPOST_PRECISION, else auto]",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document instead of text."
)


hidden_option = click.option(
    "--hidden",
    type=click.Choice(["drop", "keep"]),
    help="Drop or keep text in PDFs that a reader of the page cannot see. [default: drop]",
)


ocr_option = click.option(
    "--ocr",
    type=click.Choice(["auto", "never", "always"]),
    help="Recognise text in pictures (OCR). auto: on scanned pages and in picture files; always: "
    "on all other pages of PDFs too. Takes seconds a page. [default: never]",
)


def model_options(command: Command) -> Command:
    """Add ``--ocr``, ``--model`` and ``--precision``: what reads a text."""
    return added(command, ocr_option, model_option, precision_option)


def count_option(
    name: str, default: int, help_text: str, *, minimum: int = 1
) -> Callable[[Command], Command]:
    """Make an option that takes a whole number."""
    return click.option(
        name, type=click.IntRange(min=minimum), default=default, metavar="N", help=help_text
    )


def db_option(help_text: str) -> Callable[[Command], Command]:
    """Make ``--db``, the folder or address of the index."""
    return place_option("--db", "db", help_text)


def place_option(
    name: str, variable: str, help_text: str, *, required: bool = False
) -> Callable[[Command], Command]:
    """Make an option that takes the folder or address of an index."""
    return click.option(
        name,
        variable,
        metavar="FOLDER|URL",
        type=click.Path(path_type=str),
        callback=_place,
        required=required,
        help=help_text,
    )


def _place(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> IndexPlace | None:
    if value is None:
        return None
    from milepost.store.address import index_place

    return index_place(value)


def chosen_db(db: IndexPlace | None) -> IndexPlace | None:
    """Choose the index: ``--db``, else MILEPOST_DB, else ``./.milepost`` if it exists."""
    if db is not None:
        return db
    named = os.environ.get("MILEPOST_DB")
    if named:
        from milepost.store.address import index_place

        place = index_place(named)
        return expanded(place) if isinstance(place, Path) else place
    return DB if DB.is_dir() else None


def required_db(db: IndexPlace | None, usage: str = "") -> IndexPlace:
    """Choose the index as ``chosen_db`` does; raise an error with the usage if there is none."""
    chosen = chosen_db(db)
    if chosen is None:
        path = click.get_current_context().command_path.rpartition("milepost ")[2]
        raise MilepostError(
            "nothing to search: no PATH, no --db, and no index in this folder",
            f"milepost {usage or f'{path} … PATH'}, or milepost index PATH",
        )
    return chosen
