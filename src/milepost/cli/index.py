"""``milepost index``: files into an index, and what became of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.options import (
    DB,
    Interrupted,
    Settings,
    chosen_db,
    common,
    db_option,
    json_option,
    model_option,
    say,
)
from milepost.errors import NotAnIndex, UnreadableFile

if TYPE_CHECKING:
    from milepost.index import Index
    from milepost.types import Report

ERROR = 2


@click.command(
    short_help="Read files and folders into an index.",
    epilog="""\b
Examples:
  milepost index reports/ paper.pdf
  milepost index ~/notes --db ~/notes.milepost
  milepost index reports/ --rebuild""",
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@db_option("The folder of the index. [default: MILEPOST_DB, else ./.milepost]")
@click.option("--rebuild", is_flag=True, help="Erase the index first.")
@json_option
@model_option
@common
@click.pass_obj
def index(
    settings: Settings,
    paths: tuple[str, ...],
    db: Path | None,
    rebuild: bool,
    as_json: bool,
    model: str | None,
) -> int:
    """Read PATHs (files, folders, - for stdin) into an index, or bring it up to date.

    New and changed files are read, unchanged ones passed over, and documents removed whose files
    are gone from the folders given. Each document is stored as a whole: after Ctrl-C the index
    holds everything before, and the same command goes on from there.
    """
    from milepost.cli.sources import expand, read_names
    from milepost.console.progress import Bar
    from milepost.engine import find_model
    from milepost.index import open as open_index

    place = chosen_db(db) or DB
    find_model(model)  # before anything is erased
    if not any(map(_there, paths)):
        _refuse(place, paths, rebuild)
    if rebuild:
        _erase(place)
    sources = expand(paths)
    with open_index(place, model=model) as opened:
        try:
            with Bar(settings, as_json=as_json) as bar:
                report = opened.add(sources, progress=bar)
        except KeyboardInterrupt:
            raise Interrupted(_kept(opened, place)) from None
        _show(settings, report, opened, place, as_json)
    return 0 if read_names(report) or report.removed else ERROR


def _there(path: str) -> bool:
    """Whether something stands there; what may not be looked at is told of later."""
    try:
        return path == "-" or Path(path).expanduser().exists()
    except OSError:
        return True
    except RuntimeError:  # "~name" of nobody
        return False


def _refuse(place: Path, paths: tuple[str, ...], rebuild: bool) -> None:
    """Of paths none of which is there, make or erase no index; one that is there says the rest."""
    named = f"{paths[0]} does not exist"
    if rebuild:
        raise UnreadableFile(named, "check the path; nothing was erased")
    if not (place.is_dir() and any(place.iterdir())):
        raise UnreadableFile(named, "check the path; no index was made")


def _erase(place: Path) -> None:
    """Erase the index, where there is one."""
    from milepost.store import erase_store

    try:
        erase_store(place)
    except NotAnIndex:
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise


def _kept(opened: Index, place: Path) -> str:
    count = len(opened.documents())
    documents = f"{count:,} document{'' if count == 1 else 's'}"
    return f"{documents} kept in {place}; run the same command to go on"


def _show(settings: Settings, report: Report, opened: Index, place: Path, as_json: bool) -> None:
    """Print the report: results on stdout, what was not read on stderr."""
    from milepost.cli.sources import complain

    if as_json:
        from milepost.console.records import print_json, report_record

        print_json({"db": str(place.absolute()), **report_record(report)})
    elif not settings.quiet:
        for line in _summary(report, opened, place):
            click.echo(line)
    complain(report.failed)
    if not settings.quiet:
        for name, notes in report.notes.items():
            for note in notes:
                say(f"{name}: {note}")
    if not report.failed and not opened.documents():
        say("there was nothing to read; see which files count: milepost index --help")


def _summary(report: Report, opened: Index, place: Path) -> list[str]:
    kinds = ("added", "changed", "unchanged", "removed", "failed")
    counts = [f"{len(getattr(report, kind)):,} {kind}" for kind in kinds if getattr(report, kind)]
    infos = opened.documents()
    sentences = sum(info.sentences for info in infos)
    lines = [f"{place}: {len(infos):,} documents, {sentences:,} sentences"]
    if counts:
        lines.append(f"  {', '.join(counts)}")
    if report.sentences:
        speed = report.sentences / max(report.seconds, 1e-3)
        lines.append(
            f"  read {report.sentences:,} sentences ({report.tokens:,} tokens) in "
            f"{report.seconds:,.1f} s, {speed:,.0f} sentences/s"
        )
    return lines
