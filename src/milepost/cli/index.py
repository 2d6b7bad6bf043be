"""``milepost index``: add files to an index and report on each."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost._optional import require
from milepost._paths import expanded
from milepost.cli.console.options import (
    DB,
    Interrupted,
    chosen_db,
    db_option,
    hidden_option,
    json_option,
    model_option,
    ocr_option,
    precision_option,
    say,
    say_notes,
)
from milepost.cli.console.progress import Bar, Gauge
from milepost.cli.console.screen import visible_name
from milepost.cli.question import SearchOptions, takes_search_options
from milepost.cli.sources import STDIN, chosen_for, complain, expand, read_names, stored
from milepost.errors import MilepostError, NotAnIndex, StoreError, missing_file
from milepost.exports.records import print_json, report_record
from milepost.objects import ObjectAddress, bucket, is_address
from milepost.store.address import IndexPlace, label, local_folder
from milepost.wording import counted

if TYPE_CHECKING:
    from milepost.index import Index
    from milepost.index.known_files import KnownFiles
    from milepost.types import Document, IndexReport, ReadOptions

ERROR = 2


@click.command(
    epilog="""\b
Examples:
  milepost index reports/ paper.pdf
  milepost index ~/notes --db ~/notes.milepost
  milepost index s3://reports/2026 --db reports.milepost
  milepost index reports/ --dry-run
  milepost index reports/ --rebuild
  milepost index ~/notes --db ~/notes.milepost --watch""",
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@db_option("Folder of the index. [default: MILEPOST_DB, else ./.milepost]")
@click.option(
    "--rebuild", is_flag=True, help="Build the index again; other PATHs' documents are kept."
)
@click.option(
    "--watch",
    is_flag=True,
    help="Then keep running, and index what changes in the PATHs, until Ctrl-C.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="List what would be read, removed and skipped, and why; change nothing.",
)
@click.option(
    "--workers",
    metavar="ray[://HOST:PORT]",
    help="Index with Ray: a worker on each core of this machine, or of a cluster.",
)
@hidden_option
@ocr_option
@json_option
@model_option
@precision_option
@takes_search_options
def index(
    options: SearchOptions, rebuild: bool, watch: bool, dry_run: bool, workers: str | None
) -> int:
    """Add PATHs (files, folders, - for stdin) to an index, or bring it up to date.

    Addresses such as s3://BUCKET/PREFIX, gs:// and az:// are read from object storage; this needs
    the extra `objects`. An object with the same ETag is not read again.

    New and changed files are read, unchanged files are skipped, and documents whose files have
    disappeared from the given folders are removed. Each document is stored as a whole: after
    Ctrl-C the index holds all earlier documents, and the same command continues from there.

    The index remembers how each file was read. Without --hidden and --ocr, a file is read as
    before; with them, it is reread if it was read differently.

    With --watch, new and changed files are read half a second after they were last written, and
    documents whose files are gone from a folder are removed. A file that cannot be read is
    reported, and read again when it changes. With --json, each change is one line.

    With --workers, a worker that dies is replaced and its files are indexed again; all workers
    must be able to read the PATHs and to reach the index.

    With --dry-run, nothing is read or changed. Each file, and each folder that is skipped, has one
    line: what would happen to it, its size, and why.
    """
    from milepost.encoder.engine import find_model
    from milepost.encoder.engine.folder import DEFAULT
    from milepost.index import model_choice
    from milepost.index.known_files import KnownFiles
    from milepost.store import erase_store

    paths, place = options.paths, chosen_db(options.db) or DB
    if dry_run:
        if watch:
            raise click.UsageError("give --dry-run or --watch, not both")
        from milepost.cli.dry_run import show_plan

        return show_plan(options, place, rebuild=rebuild)
    if watch:
        _check_watch(paths)
    if workers is not None:
        _check_workers(workers, paths, watch)
    sources = expand(options)
    if options.model is None and isinstance(place, Path) and (rebuild or not place.exists()):
        files = model_choice.sample(paths).files
        model = chosen_for(options.settings, files, sources) or DEFAULT
        options = replace(options, model=model)
    find_model(options.model)  # before anything is erased
    if not _any_there(paths):  # an index is neither erased nor made for nothing
        if rebuild:
            raise missing_file(paths[0], "; nothing was erased")
        if isinstance(place, Path) and not (place.is_dir() and any(place.iterdir())):
            raise missing_file(paths[0], "; no index was made")
    if rebuild:
        kept = _beside(options, place)
        with suppress(NotAnIndex):  # what is there in its place is refused when it is opened
            erase_store(place)
        if kept:
            with (
                options.open_index(place, create=True, read_only=False) as opened,
                Bar(options.settings, as_json=options.as_json) as bar,
            ):
                opened.add(kept, progress=bar)
    if workers is not None:
        return _with_workers(options, workers, place)
    known = None if rebuild else KnownFiles(place if isinstance(place, Path) else None)
    with options.open_index(place, create=True, read_only=False) as opened:
        try:
            with Bar(options.settings, as_json=options.as_json) as bar:
                report = opened.add(
                    sources, progress=bar, hidden=options.hidden, ocr=options.ocr, known=known
                )
            code = _show(options, report, opened, place)
            if watch:
                _follow(options, opened, place, report, known)
        except KeyboardInterrupt:
            count = counted(len(opened.documents()), "document")
            said = f"{count} saved in {_named(place)}; run the same command to continue"
            raise Interrupted(said) from None
    return code


def _beside(options: SearchOptions, place: IndexPlace) -> list[Document]:
    """What the PATHs leave alone of an index: uploads, and documents of other PATHs or of none."""
    from milepost.index.intake import find_places, vanished, wanted_pictures
    from milepost.index.places import source_place
    from milepost.store import stored_document

    places = [source_place(path) for path in options.paths if path != "-"]
    failed: dict[str, str] = {}
    try:
        with stored(place) as (state, _):
            infos = state.documents()
            names = {info.name for info in infos}
            pictures = wanted_pictures(names, options.ocr)
            files, readable = find_places(places, failed, pictures, names)
            read = {*map(str, files), *([STDIN] if "-" in options.paths else [])}
            read.update(vanished(infos, readable, read, failed))
            return [stored_document(state, info) for info in infos if info.name not in read]
    except NotAnIndex:
        return []
    except StoreError as error:
        say(f"only the PATHs are indexed again, as {error.problem}; index others after this")
        return []


def _check_workers(workers: str, paths: tuple[str, ...], watch: bool) -> None:
    """Refuse what workers cannot do, before anything is erased."""
    if workers != "ray" and not workers.startswith("ray://"):
        raise click.UsageError(f"--workers {workers}: give ray, or ray://HOST:PORT")
    if watch or "-" in paths or any(map(is_address, paths)):
        raise click.UsageError("--workers is for files and folders, without --watch")
    require("ray.data", extra="ray")


def _with_workers(options: SearchOptions, workers: str, place: IndexPlace) -> int:
    from milepost.index import open as open_index
    from milepost.index.workers.cluster import index_paths

    with Gauge(options.settings, wanted=not options.as_json) as bar:

        def show(path: str, done: int, of: int) -> None:
            bar.show(f"{done:,}/{of:,} {visible_name(Path(path).name)[-30:]}", done, of)

        with redirect_stdout(sys.stderr):  # Ray prints there that a worker died
            report = index_paths(
                options.paths,
                place,
                model=options.model,
                address=None if workers == "ray" else workers,
                hidden=options.hidden,
                ocr=options.ocr,
                progress=show,
            )
    with open_index(place, model=options.model, read_only=True) as opened:
        return _show(options, report, opened, place)


def _check_watch(paths: tuple[str, ...]) -> None:
    """Refuse what cannot be followed, before anything is read."""
    if "-" in paths:
        raise click.UsageError("stdin cannot be watched")
    if any(map(is_address, paths)):
        raise click.UsageError("object storage cannot be watched; run the command again instead")
    require("watchfiles", extra="watch")


def _any_there(paths: tuple[str, ...]) -> bool:
    """Whether one of the paths exists, so that the index may be erased or created for it.

    If none does, the first fault of a storage that could not be asked is raised.
    """
    fault: MilepostError | None = None
    for path in paths:
        try:
            if _there(path):
                return True
        except MilepostError as error:
            fault = fault or error
    if fault is not None:
        raise fault
    return False


def _there(path: str) -> bool:
    """Whether the path exists; one that cannot be inspected is reported later."""
    if is_address(path):
        address = ObjectAddress.parse(path)
        return bucket(address).reachable(address)
    try:
        return path == "-" or expanded(path).exists()
    except OSError:
        return True


def _show(options: SearchOptions, report: IndexReport, opened: Index, place: IndexPlace) -> int:
    """Print what was done; returns the exit code."""
    _show_report(options, report, place, _summary(report, opened, place))
    if not report.failed and not opened.documents():
        say("no file to read was found; hidden, ignored and binary files are skipped")
    return 0 if read_names(report) or report.removed else ERROR


def _show_report(
    options: SearchOptions, report: IndexReport, place: IndexPlace, lines: Iterable[str]
) -> None:
    """Print a report, as JSON or in these lines; on stderr what could not be read, and notes."""
    if options.as_json:
        print_json({"db": label(place), **report_record(report)})
    elif not options.settings.quiet:
        for line in lines:
            click.echo(line)
    sys.stdout.flush()  # whoever reads a pipe waits for it
    complain(report)
    if not options.settings.quiet:
        say_notes(report.notes)


def _named(place: IndexPlace) -> str:
    """The place as it was given, but for a password."""
    return label(place) if isinstance(place, str) else str(place)


def _summary(report: IndexReport, opened: Index, place: IndexPlace) -> list[str]:
    kinds = ("added", "changed", "unchanged", "removed", "failed")
    counts = [f"{len(getattr(report, kind)):,} {kind}" for kind in kinds if getattr(report, kind)]
    infos = opened.documents()
    sentences = sum(info.sentences for info in infos)
    documents = counted(len(infos), "document")
    lines = [f"{_named(place)}: {documents}, {counted(sentences, 'sentence')}"]
    if counts:
        lines.append(f"  {', '.join(counts)}")
    if report.sentences:
        speed = report.sentences / max(report.seconds, 1e-3)
        read = f"{counted(report.sentences, 'sentence')} ({counted(report.tokens, 'token')})"
        lines.append(f"  read {read} in {report.seconds:,.1f} s, {speed:,.0f} sentences/s")
    return lines


def _follow(
    options: SearchOptions,
    index: Index,
    place: IndexPlace,
    before: IndexReport,
    known: KnownFiles | None,
) -> None:
    from milepost.documents import read_file
    from milepost.index.intake import Steps
    from milepost.server.documents.watching import Watch

    if not options.settings.quiet:
        say(f"watching {', '.join(options.paths)}; Ctrl-C stops it")
    with Bar(options.settings, as_json=options.as_json) as bar:

        def read(path: Path, reading: ReadOptions) -> Document:
            return read_file(path, reading, Steps(bar, str(path), 1, 1).page)

        watch = Watch(
            index,
            options.paths,
            local_folder(place),
            options.hidden,
            options.ocr,
            read,
            bar,
            known,
        )
        for update in watch.updates(before):
            bar.clear()
            if isinstance(update, MilepostError):
                say(f"{update}; retrying until it works")
            else:
                _show_report(options, update, place, _changes(update))


def _changes(report: IndexReport) -> Iterator[str]:
    for kind in ("added", "changed", "removed"):
        for name in getattr(report, kind):
            yield f"{kind} {visible_name(name)}"
