"""What the studies share: options, the cache of vectors, the check for torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from milepost.console.options import FOLDER, Command, Interrupted

if TYPE_CHECKING:
    from milepost_eval.vectors import Vectors

P = ParamSpec("P")
R = TypeVar("R")

vectors_option = click.option(
    "--cache", type=FOLDER, help="Folder to keep vectors in. [default: lab in Milepost's cache]"
)

controls_option = click.option(
    "--controls/--no-controls", default=True, help="Add rows of untrained baselines."
)


def seed_option(help_text: str = "The first seed.") -> Callable[[Command], Command]:
    """``--seed``, which is not negative: NumPy's generators refuse that."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=0, metavar="N", help=help_text
    )


out_option = click.option(
    "--out",
    type=FOLDER,
    help="Keep finished trainings here. A stopped run continues from them; a run with other "
    "settings is refused.",
)


@contextmanager
def resumable(folder: Path | None) -> Iterator[None]:
    """Say after Ctrl-C how a run goes on whose finished trainings are kept in a folder, or in none.

    Raises:
        Interrupted: Ctrl-C was pressed.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(
            "finished trainings are stored; run the same command to continue"
            if folder
            else "with --out FOLDER a run can be continued"
        ) from None


def kept_vectors(cache: Path | None) -> Vectors:
    """Open the cache of vectors in the folder of ``--cache`` or in Milepost's own."""
    from milepost.engine.folder import cache_folder
    from milepost_eval.vectors import Vectors

    return Vectors((cache or cache_folder() / "lab") / "vectors.sqlite")


def needs_torch(command: Callable[P, R]) -> Callable[P, R]:
    """Check for torch before the command does anything.

    Raises:
        MissingExtra: torch is not installed.
    """

    @wraps(command)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        from milepost._optional import require

        require("torch", extra="lab")
        return command(*args, **kwargs)

    return checked
