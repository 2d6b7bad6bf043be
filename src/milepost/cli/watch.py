"""``milepost index --watch``: print what becomes of files that change."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.options import Settings, say
from milepost.console.screen import visible_name
from milepost.store.address import IndexPlace, label, local_folder

if TYPE_CHECKING:
    from milepost.index import Index
    from milepost.types import Document, Hidden, IndexReport, Ocr, ReadOptions


def follow(
    settings: Settings,
    index: Index,
    paths: Sequence[str],
    place: IndexPlace,
    before: IndexReport,
    *,
    hidden: Hidden | None,
    ocr: Ocr | None,
    as_json: bool,
) -> None:
    """Index what changes until Ctrl-C."""
    from milepost.console.progress import Bar
    from milepost.errors import MilepostError
    from milepost.intake import Steps
    from milepost.library.watching import Watch
    from milepost.text import read_file

    if not settings.quiet:
        say(f"watching {', '.join(paths)}; Ctrl-C stops it")
    with Bar(settings, as_json=as_json) as bar:

        def read(path: Path, options: ReadOptions) -> Document:
            return read_file(path, options, Steps(bar, str(path), 1, 1).page)

        watch = Watch(index, paths, local_folder(place), hidden, ocr, read, bar)
        for update in watch.updates(before):
            bar.clear()
            if isinstance(update, MilepostError):
                say(f"{update}; retrying until it works")
            else:
                _show(settings, update, place, as_json=as_json)


def _show(settings: Settings, report: IndexReport, place: IndexPlace, *, as_json: bool) -> None:
    from milepost.cli.sources import complain

    if as_json:
        from milepost.console.records import print_json, report_record

        print_json({"db": label(place), **report_record(report)})
    elif not settings.quiet:
        for kind in ("added", "changed", "removed"):
            for name in getattr(report, kind):
                click.echo(f"{kind} {visible_name(name)}")
    sys.stdout.flush()  # whoever reads a pipe waits for it
    complain(report.failed)
    if not settings.quiet:
        for name, notes in report.notes.items():
            for note in notes:
                say(f"{name}: {note}")
