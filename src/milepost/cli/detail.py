"""How much of each result is printed: options of the commands that print passages."""

from __future__ import annotations

from dataclasses import dataclass

import click

from milepost.cli.console.options import Command
from milepost.cli.question import added, gathered


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is printed; the fields are options, see ``detail_options``.

    Attributes:
        context: sentences on each side of an answer; None for what the screen has room for.
        full: whole passages.
        every: also what is probably no answer.
        bars: where in each document the text matches the question.
    """

    context: int | None = None
    full: bool = False
    every: bool = False
    bars: bool = False

    @property
    def around(self) -> bool:
        """Whether more than the answer is asked for, so that a pipe gets it too."""
        return self.full or self.bars or self.context is not None

    @property
    def long(self) -> bool:
        """Whether more than a screen is asked for."""
        return self.around or self.every


def detail_options(command: Command) -> Command:
    """Add ``-C``, ``--full``, ``--all`` and ``--map``."""
    return added(
        command,
        click.option(
            "-C",
            "context",
            type=click.IntRange(min=0),
            metavar="N",
            help="Print N sentences before and after each answer.",
        ),
        click.option("--full", is_flag=True, help="Print whole passages."),
        click.option(
            "--all", "every", is_flag=True, help="Print results below 20% too, which are counted."
        ),
        click.option(
            "--map", "bars", is_flag=True, help="Print where in each document the text matches."
        ),
    )


takes_detail = gathered(Detail, "detail")
