"""``milepost view``: documents as one HTML file that searches them itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost._paths import expanded
from milepost.cli.console.options import (
    hidden_option,
    json_option,
    model_option,
    ocr_option,
    say,
    say_notes,
)
from milepost.cli.console.screen import size_text
from milepost.cli.question import SearchOptions, no_cache_option, takes_search_options
from milepost.cli.sources import complain, unreadable
from milepost.exports.records import print_json
from milepost.wording import counted

if TYPE_CHECKING:
    from milepost.encoder import Encoder
    from milepost.exports.view import PageSize

WRITTEN, ERROR = 0, 2

_LARGE = 20_000_000
"""Bytes from which a page opens slowly on a phone, and many mail servers refuse it."""


@click.command(
    epilog="""\b
Examples:
  milepost view book.txt -o book.html
  milepost view papers/ notes.md -o papers.html --overwrite
  milepost view contract.pdf -o contract.html --full""",
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="File to write: .html.",
)
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
@click.option(
    "--full",
    is_flag=True,
    help="Put landmark-light's vectors on the page unrounded: the passages are those of `milepost "
    "search --model landmark-light`, and the page is some 5 MB larger.",
)
@no_cache_option("PATHs")
@hidden_option
@ocr_option
@json_option
@model_option
@takes_search_options
def view(options: SearchOptions, out: Path, overwrite: bool, full: bool) -> int:
    """Write PATHs (files, folders, - for stdin) as one HTML file that answers questions.

    The file holds the texts, their landmarks and a light model. It searches in the browser, without
    a server or a network, also when opened from a disk or an email. Its passages are those of the
    command line with the same model.
    """
    from milepost.exports.view import page_model, write_page
    from milepost.exports.view.page import check_page
    from milepost.exports.view.rounding import LIGHT

    out = expanded(out)
    check_page(out, overwrite=overwrite)
    chosen = (options.model or LIGHT) if full else page_model(options.model)
    from milepost.encoder import load

    encoder = load(chosen)
    index, report = options.read(encoder)
    with index:
        complain(report)
        if unreadable(report):
            return ERROR
        size = write_page(index, out, overwrite=overwrite)
    if options.as_json:
        print_json(_record(out, encoder, size), report)
    elif not options.settings.quiet:
        _describe(out, encoder, size)
        say_notes(report.notes)
    return WRITTEN


def _describe(out: Path, encoder: Encoder, size: PageSize) -> None:
    documents = counted(size.documents, "document")
    say(
        f"{out}: {documents}, {counted(size.sentences, 'sentence')}, "
        f"{size_text(size.total)}: text "
        f"{size_text(size.text)}, landmarks and words {size_text(size.landmarks + size.words)}, "
        f"model and program {size_text(size.model + size.program)}"
    )
    if size.total > _LARGE:
        say(
            f"{size_text(size.total)} is much for a page: phones open it slowly, and mail servers "
            "may refuse it; try: fewer files, or milepost serve"
        )
    say(f'the same passages: milepost search "…" PATH --model {encoder.folder}')


def _record(out: Path, encoder: Encoder, size: PageSize) -> dict[str, object]:
    return {
        "path": str(out),
        "size_bytes": size.total,
        "documents": size.documents,
        "sentences": size.sentences,
        "characters": size.characters,
        "model": str(encoder.folder),
    }
