"""Commands that train, fit and export: one file for each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from milepost.cli.console.options import Command

allow_nc_option = click.option(
    "--allow-nc",
    is_flag=True,
    help="Use documents whose licence forbids commercial use or is not recognised.",
)


def cache_option(folder: str) -> Callable[[Command], Command]:
    """``--cache``, a folder of that name in Milepost's cache by default."""
    says = f"Keep vectors here. [default: {folder} in Milepost's cache]"
    return click.option("--cache", metavar="FOLDER", type=click.Path(path_type=Path), help=says)


def split_option(says: str) -> Callable[[Command], Command]:
    """``--split``, train by default."""
    splits = click.Choice(["train", "dev", "test"])
    return click.option("--split", type=splits, default="train", help=says)
