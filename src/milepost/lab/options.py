"""What the experiments share: options, the cache of their vectors, and that torch is there."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from milepost.console.options import Command, count_option

if TYPE_CHECKING:
    from milepost.evaluate.vectors import Vectors

P = ParamSpec("P")
R = TypeVar("R")

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)

vectors_option = click.option(
    "--cache",
    metavar="FOLDER",
    type=FOLDER,
    help="Keep vectors here. [default: lab in Milepost's cache]",
)

controls_option = click.option(
    "--controls/--no-controls",
    default=True,
    show_default=True,
    help="Add rows of untrained baselines.",
)


def seed_option(help_text: str = "The first seed.") -> Callable[[Command], Command]:
    """``--seed``; NumPy's generators take none below 0."""
    return count_option("--seed", 0, help_text, least=0)


def kept_vectors(cache: Path | None) -> Vectors:
    """Open the vectors that experiments keep, in the folder of ``--cache`` or Milepost's own."""
    from milepost.engine.folder import cache_folder
    from milepost.evaluate.vectors import Vectors

    return Vectors((cache or cache_folder() / "lab") / "vectors.sqlite")


def needs_torch(command: Callable[P, R]) -> Callable[P, R]:
    """Ask for torch before the command does anything; without it, say which extra brings it."""

    @wraps(command)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        from milepost._optional import require

        require("torch", extra="train")
        return command(*args, **kwargs)

    return checked
