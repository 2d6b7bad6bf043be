"""``milepost index --watch``: print what becomes of files that change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.cli.console.options import say
from milepost.cli.console.screen import visible_name
from milepost.cli.index import show_report
from milepost.store.address import IndexPlace, local_folder

if TYPE_CHECKING:
    from milepost.cli.question import SearchOptions
    from milepost.index import Index
    from milepost.index.known_files import KnownFiles
    from milepost.types import Document, IndexReport, ReadOptions


def follow(
    options: SearchOptions,
    index: Index,
    place: IndexPlace,
    before: IndexReport,
    known: KnownFiles | None,
) -> None:
    """Index what changes until Ctrl-C."""
    from milepost.cli.console.progress import Bar
    from milepost.documents import read_file
    from milepost.errors import MilepostError
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
                show_report(options, update, place, _lines(update))


def _lines(report: IndexReport) -> Iterator[str]:
    for kind in ("added", "changed", "removed"):
        for name in getattr(report, kind):
            yield f"{kind} {visible_name(name)}"
