"""``milepost remove``: take documents out of an index, and show what was taken out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.console.options import DB, chosen_db, db_option, json_option, model_option
from milepost.cli.console.screen import visible_name
from milepost.cli.question import SearchOptions, takes_search_options
from milepost.cli.sources import stored
from milepost.errors import IndexBusy, StoreError
from milepost.exports.records import print_json
from milepost.store.address import label, local_folder
from milepost.wording import counted

if TYPE_CHECKING:
    from milepost.index import RemovalReport


@click.command(
    epilog="""\b
Examples:
  milepost remove report.pdf --db reports.milepost
  milepost remove report.pdf --now --db reports.milepost
  milepost remove --now --db reports.milepost""",
)
@click.argument("names", metavar="NAME...", nargs=-1)
@db_option("Folder of the index. [default: MILEPOST_DB, else ./.milepost]")
@click.option(
    "--now",
    is_flag=True,
    help="Erase what the index and the cache still hold of these and earlier removed documents.",
)
@json_option
@model_option
@takes_search_options
def remove(options: SearchOptions, now: bool) -> None:
    """Remove documents by NAME: a name in the index, a path, or the end of one.

    Copies that were uploaded to a server of this index are deleted; all other files stay, and a
    file in a folder that is indexed again comes back.

    Removed text is not found any more, but its bytes stay in the files of the index until others
    take their place; what holds them is printed. With --now the index is written anew, which takes
    as long as a copy of it, and indexes in the cache that hold the documents are deleted.
    """
    from milepost.index.cache import UPLOADS
    from milepost.index.naming import resolve_names
    from milepost.server.documents import Library

    if not options.names and not now:
        raise click.UsageError("name a document, or give --now")
    place = chosen_db(options.db) or DB
    with options.open_index(place, read_only=False) as index:
        with index.snapshot() as state:
            infos = state.infos(list(resolve_names(options.names, state)))
        report = Library(index, local_folder(place) / UPLOADS).remove(infos, now=now)
    report = _with_cache(report, now=now)
    if options.as_json:
        print_json({"db": label(place), **asdict(report)})
    elif not options.settings.quiet:
        _show(report, now=now)


def _with_cache(report: RemovalReport, *, now: bool) -> RemovalReport:
    """Delete the indexes of the cache that hold the documents; without ``now``, name them."""
    from milepost.store import erase_store

    holding = _cached(report.removed)
    if holding and not now:
        cached = f"{', '.join(map(str, holding))} in the cache, until they are deleted"
        return replace(report, remains="; ".join(filter(None, (report.remains, cached))))
    for folder in holding:
        erase_store(folder)
    return replace(report, files=(*report.files, *map(str, holding)))


def _cached(names: Collection[str]) -> list[Path]:
    """Folders of indexes in the cache that hold one of the documents, or that cannot be read."""
    from milepost.encoder.engine.folder import cache_folder

    found = []
    for file in sorted((cache_folder() / "indexes").glob("*/milepost.sqlite")) if names else ():
        try:
            with stored(file.parent) as (state, _):
                holds = bool(state.infos(list(names)))
        except IndexBusy:
            raise
        except StoreError:
            holds = True
        if holds:
            found.append(file.parent)
    return found


def _show(report: RemovalReport, *, now: bool) -> None:
    if report.removed:
        number = len(report.files)
        copies = f", {number:,} {'copy' if number == 1 else 'copies'}" if number else ""
        click.echo(
            f"removed {counted(report.characters, 'character')}, "
            f"{counted(report.sentences, 'sentence')} with their vectors, "
            f"{counted(report.words, 'word')}{copies}:"
        )
    for name in (*report.removed, *report.files):
        click.echo(f"  {visible_name(name)}")
    if report.remains:
        click.echo(f"still holding bytes of it: {report.remains}{'' if now else '; --now erases'}")
    elif now:
        click.echo("nothing of it is left in the index")
