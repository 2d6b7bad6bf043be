"""Options of the commands that ask the questions of tasks."""

from __future__ import annotations

from collections.abc import Callable

import click

from milepost.cli.console.options import Command, Settings, say
from milepost_eval.cli.terminal import FOLDER, Counter


def task_options(
    *, splits: tuple[str, ...] = ("train", "dev", "test"), cache: str = "eval"
) -> Callable[[Command], Command]:
    """``--tasks``, ``--split``, ``--questions``, ``--documents``, ``--data`` and ``--cache``.

    Args:
        splits: splits that may be asked.
        cache: the subfolder of Milepost's cache that is the default of ``--cache``.
    """
    options = (
        click.option(
            "--tasks",
            metavar="NAMES|FILE",
            default="all",
            help="Tasks by name, or files of questions, separated by commas.",
        ),
        click.option(
            "--split",
            type=click.Choice(splits),
            default="dev",
            help="Questions to ask. Make choices on dev, report on test.",
        ),
        click.option(
            "--questions",
            metavar="N",
            type=click.IntRange(min=1),
            help="Maximum number of questions per task, spread over its documents.",
        ),
        click.option(
            "--documents",
            metavar="N",
            type=click.IntRange(min=1),
            help="Maximum number of documents per task.",
        ),
        click.option("--data", type=FOLDER, help="Folder of the tasks. [default: $MILEPOST_DATA]"),
        click.option(
            "--cache",
            type=FOLDER,
            help=f"Folder to keep vectors in. [default: {cache} in Milepost's cache]",
        ),
    )

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def split_names(names: str) -> list[str]:
    """Names between commas, without spaces around them.

    Raises:
        click.UsageError: there is no name.

    >>> split_names("short, bm25")
    ['short', 'bm25']
    """
    found = [name.strip() for name in names.split(",") if name.strip()]
    if not found:
        raise click.UsageError("a list of names is empty")
    return found


def split_numbers(numbers: str, option: str, example: str) -> list[int]:
    """Whole numbers above 0 between commas, each once.

    Args:
        numbers: as given.
        option: its name, for the error.
        example: what the numbers are, such as "numbers of tokens such as 512,1024".

    Raises:
        click.UsageError: something else.

    >>> split_numbers("512, 1024,512", "--tokens", "")
    [512, 1024]
    """
    found = [int(each) if each.isdecimal() else 0 for each in split_names(numbers)]
    if min(found) < 1:
        raise click.UsageError(f"{option} {numbers}: not {example}")
    return list(dict.fromkeys(found))


def noting(settings: Settings, counter: Counter | None = None) -> Callable[[str], None]:
    """A function that prints a note on stderr unless ``--quiet`` is set.

    Args:
        settings: of the command.
        counter: the progress line, which is cleared first.
    """

    def note(line: str) -> None:
        if counter is not None:
            counter.clear()
        if not settings.quiet:
            say(line)

    return note
