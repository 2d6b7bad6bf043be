"""What the commands share: options, the settings they leave, and lines on stderr."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from milepost.console.screen import Colour, visible
from milepost.errors import MilepostError

Command = TypeVar("Command", bound=Callable[..., Any])

DB = Path(".milepost")
"""The index of the current folder."""


class Interrupted(Exception):
    """Ctrl-C was pressed; the message says what is kept."""


@dataclass(slots=True)
class Settings:
    """What the options of every command say.

    Attributes:
        colour: ``auto``, ``always`` or ``never``.
        quiet: no progress, no notes, no summary.
        debug: show the traceback of an error.
    """

    colour: Colour = "auto"
    quiet: bool = False
    debug: bool = False


def say(line: str) -> None:
    """Write one line to stderr, with the program's name; control characters made visible."""
    click.echo(f"milepost: {visible(' '.join(line.split()))}", err=True)


def _sets(name: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that leaves an option's value in the settings."""

    def keep(context: click.Context, _: click.Parameter, value: Any) -> Any:
        settings = context.find_object(Settings)
        if settings is not None:
            setattr(settings, name, value)
        return value

    return keep


def common(command: Command) -> Command:
    """Add ``--color``, ``--quiet`` and ``--debug``."""
    for add in (
        click.option(
            "--debug",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_sets("debug"),
            help="Show the traceback of an error.",
        ),
        click.option(
            "-q",
            "--quiet",
            is_flag=True,
            expose_value=False,
            callback=_sets("quiet"),
            help="No progress, no notes, no summary.",
        ),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            expose_value=False,
            callback=_sets("colour"),
            help="Colours; auto: on a terminal, unless NO_COLOR is set.",
        ),
    ):
        command = add(command)
    return command


model_option = click.option(
    "--model", metavar="NAME|FOLDER", help="A shipped model or a model folder."
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document instead of text."
)


def count_option(
    name: str, default: int, help_text: str, *, least: int = 1
) -> Callable[[Command], Command]:
    """An option that says how many."""
    return click.option(
        name,
        type=click.IntRange(min=least),
        default=default,
        show_default=True,
        metavar="N",
        help=help_text,
    )


def db_option(help_text: str) -> Callable[[Command], Command]:
    """``--db``, the folder of the index."""
    return click.option("--db", metavar="FOLDER", type=click.Path(path_type=Path), help=help_text)


def chosen_db(db: Path | None) -> Path | None:
    """Choose the index: the one given, else MILEPOST_DB, else ``./.milepost`` if it is there."""
    if db is not None:
        return db
    named = os.environ.get("MILEPOST_DB")
    if named:
        return Path(named).expanduser()
    return DB if DB.is_dir() else None


def required_db(db: Path | None) -> Path:
    """``chosen_db``; an error with the next command where there is none."""
    chosen = chosen_db(db)
    if chosen is None:
        raise MilepostError(
            "there is nothing to search: no PATH, no --db, and no index in this folder",
            'milepost search "…" PATH, or milepost index PATH first',
        )
    return chosen
