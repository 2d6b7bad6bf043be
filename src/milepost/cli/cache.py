"""``milepost cache``: what lies in the cache, and how to remove it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milepost.cli.console.group import CommandGroup
from milepost.cli.console.options import Settings, common, json_option, say
from milepost.cli.console.screen import size_text, visible_name
from milepost.cli.sources import stored
from milepost.errors import MilepostError, WrongModel
from milepost.exports.records import print_json
from milepost.objects import is_address
from milepost.wording import counted

if TYPE_CHECKING:
    from milepost.index.cache import CachedItem


class CacheGroup(CommandGroup):
    """``milepost cache`` is ``milepost cache list``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``list`` in front of options and of nothing."""
        is_list = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        if is_list and not ctx.resilient_parsing:  # a shell that completes the command
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=CacheGroup,
    epilog="""\b
Examples:
  milepost cache
  milepost cache prune --older 30d
  milepost cache prune --to 2GB""",
)
def cache() -> None:
    """List or prune the cache: indexes of `milepost search PATH`, compiled models and so on.

    All of it can be made again but files uploaded to `milepost serve PATH`, which stay. Indexes are
    kept within MILEPOST_CACHE_LIMIT (10GB if it is not set): after a search that read files, those
    that were not used for the longest time go.
    """


@cache.command("list", short_help="List what is in the cache: size, last use.")
@json_option
@common
def list_items(as_json: bool) -> int:
    """List what is in the cache, the longest unused first, and the sizes."""
    from milepost.encoder.engine.folder import cache_folder
    from milepost.index.cache import LIMIT_VARIABLE, cached_items, limit_bytes

    folder, limit, items = cache_folder(), limit_bytes(), cached_items()
    total = sum(item.size_bytes for item in items)
    if as_json:
        print_json(
            {
                "path": str(folder),
                "size_bytes": total,
                "limit_bytes": limit,
                "items": [_record(item) for item in items],
            }
        )
        return 0
    for line in _lines(items):
        click.echo(line)
    click.echo(
        f"{size_text(total):>12}  in {folder}; indexes are kept within {size_text(limit)} "
        f"({LIMIT_VARIABLE})"
    )
    return 0


@cache.command("prune", short_help="Remove from the cache what is old, or too much.")
@click.option("--older", metavar="AGE", help="Remove what was not used for so long: 12h, 30d, 4w.")
@click.option(
    "--to",
    "size",
    metavar="SIZE",
    help="Remove the longest unused until SIZE is left: 500MB, 2GB, 0. "
    "[default: without --older, what indexes are kept within]",
)
@json_option
@common
@click.pass_obj
def prune(settings: Settings, older: str | None, size: str | None, as_json: bool) -> int:
    """Remove what was not used for some time, or the longest unused down to a size.

    What another process has open, or has uploaded files, stays and is counted.
    """
    from milepost.index.cache import cached_items, limit_bytes, parse_age, parse_size
    from milepost.index.cache import prune as pruned
    from milepost.index.known_files import forget_missing

    older_s = None if older is None else parse_age(older, "--older")
    size_bytes = None if size is None else parse_size(size, "--to")
    if older is None and size is None:
        size_bytes = limit_bytes()
    done = pruned(cached_items(), older_s=older_s, size_bytes=size_bytes)
    forget_missing()
    freed = sum(item.size_bytes for item in done.removed)
    if as_json:
        print_json(
            {
                "removed": [str(item.path) for item in done.removed],
                "freed_bytes": freed,
                "in_use": [str(item.path) for item in done.in_use],
                "refused": {str(path): why for path, why in done.refused.items()},
            }
        )
    elif not settings.quiet:
        used = f", {len(done.in_use)} in use or with uploads" if done.in_use else ""
        more = "; --to SIZE or --older AGE removes more" if older is None and size is None else ""
        click.echo(f"{len(done.removed)} removed, {size_text(freed)} freed{used}{more}")
    if done.refused:
        path, why = next(iter(done.refused.items()))
        say(f"{path} cannot be removed: {why}; try: check the permissions of {path.parent}")
        return 2
    return 0


def _lines(items: Sequence[CachedItem]) -> Iterator[str]:
    """One line an index, and one for all things of each other kind."""
    for kind in dict.fromkeys(item.kind for item in items if item.kind != "index"):
        same = [item for item in items if item.kind == kind]
        yield _line(sum(item.size_bytes for item in same), same[-1], f"{kind} ({len(same)})")
    for item in items:
        if item.kind == "index":
            yield _line(item.size_bytes, item, f"index of {_about(item.path)}")


def _line(size_bytes: int, last: CachedItem, text: str) -> str:
    used = datetime.fromtimestamp(last.used_s)
    return f"{size_text(size_bytes):>12}  {used:%Y-%m-%d %H:%M}  {visible_name(text)}"


def _about(folder: Path) -> str:
    try:
        with stored(folder) as (state, _):
            names = [info.name for info in state.documents()]
    except WrongModel:
        return "documents of a model that is not installed"
    except MilepostError as error:
        return f"unknown documents ({error.problem})"
    if len(names) < 2:
        return names[0] if names else "no documents"
    try:
        above = os.path.commonpath([Path(name).parent for name in names])
        if is_address(names[0]):  # of which one slash is lost
            above = above.replace(":/", "://", 1)
        above = f" in {above}"
    except ValueError:  # a pipe or an object beside files, or other drives
        above = ""
    return f"{counted(len(names), 'document')}{above}"


def _record(item: CachedItem) -> dict[str, Any]:
    return {
        "path": str(item.path),
        "kind": item.kind,
        "size_bytes": item.size_bytes,
        "used": datetime.fromtimestamp(item.used_s).astimezone().isoformat(timespec="seconds"),
    }
