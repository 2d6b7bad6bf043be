"""``milepost check``: a sentence, a quotation or a claim in, whether and where it is out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.question import where_option
from milepost.console.options import (
    Interrupted,
    Settings,
    common,
    db_option,
    json_option,
    model_option,
    ocr_option,
    precision_option,
    required_db,
    say,
)
from milepost.errors import InputError
from milepost.objects import is_address
from milepost.types import READ_DEFAULTS, ReadOptions

if TYPE_CHECKING:
    from milepost.engine.folder import ModelFolder
    from milepost.filters import Filter
    from milepost.index import Index
    from milepost.store.address import IndexPlace
    from milepost.types import Check, Document, Ocr, Report

CODES = {"verbatim": 0, "near": 3, "supported": 4, "not found": 1}
"""Exit code of each verdict; 2 is an error."""

_USAGE = 'check PATH "…"'


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which documents are looked at: what ``--in`` and ``--where`` say."""

    names: tuple[str, ...]
    where: Filter | None


@dataclass(slots=True)
class _Seen:
    """What was read on the way: documents, those that match the filter, and all their keys."""

    documents: int = 0
    matching: int = 0
    keys: set[str] = field(default_factory=set)


@click.command(
    short_help="Say whether a sentence, quotation or claim is in documents.",
    epilog="""\b
Examples:
  milepost check report.pdf "the fee was raised to five"
  milepost check contracts/ "either party may terminate" --json
  milepost check "bees never sleep" --db papers.milepost --min-score 0.7
  milepost check scans/ "the fee was raised to five" --ocr auto
  milepost check book.txt - < quotation.txt

\b
Exit codes:
  0 verbatim   3 nearly   4 supported   1 not found   2 error""",
)
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.argument("text")
@db_option("Check against this index. Without PATH and --db: MILEPOST_DB, else ./.milepost.")
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    metavar="PROBABILITY",
    default=0.5,
    help="Minimum probability, 0 to 1, for a passage to support TEXT.",
)
@click.option(
    "--in",
    "names",
    metavar="NAME",
    multiple=True,
    help="Look only in this document: a name, path, folder or pattern. May be repeated.",
)
@where_option
@json_option
@ocr_option
@model_option
@precision_option
@click.option("--no-cache", is_flag=True, help="Do not keep the PATHs in the cache.")
@common
@click.pass_obj
def check(
    settings: Settings,
    paths: tuple[str, ...],
    text: str,
    db: IndexPlace | None,
    min_score: float,
    names: tuple[str, ...],
    where: str | None,
    as_json: bool,
    ocr: Ocr | None,
    model: str | None,
    no_cache: bool,
) -> int:
    """Say whether TEXT (- is stdin) is in the documents, and where.

    PATHs are files and folders. Without PATH, an index made by `milepost index` is searched.

    TEXT is verbatim if it is there word for word: only white space, hyphens at line ends, upper
    and lower case, and the form of quotation marks, dashes and letters may differ. It is nearly
    verbatim if at most a quarter of its words differ; they are shown as [-given-]{+in the text+}.
    It is supported if a passage says so with a probability of --min-score or more. TEXT with a
    different number is never verbatim.
    """
    from milepost.checking import prepared
    from milepost.cli.sources import expand, model_folder
    from milepost.filters import given

    if paths and db is not None:
        raise click.UsageError("give PATHs or --db, not both")
    if ocr and not paths:
        raise click.UsageError("--ocr is for PATHs; for an index give it to `milepost index`")
    if text == "-":
        text = _stdin(paths)
    _refuse_swapped(paths, text)
    prepared(text)  # before anything is read
    chosen = Chosen(names, given(where))
    if paths:
        options = READ_DEFAULTS.changed(ocr=ocr)
        sources = expand(paths, options)
        folder = model_folder(settings, model, paths, options, sources)
        found, report = _in_files(paths, text, chosen, folder, options, cache=not no_cache)
        if found is None:
            index, report = _indexed(
                settings, paths, folder, options, as_json, cache=not no_cache, sources=sources
            )
            with index:
                found = _in_index(index, text, chosen, report, min_score)
    else:
        from milepost.index import open as open_index

        place = required_db(db, _USAGE)
        with open_index(
            place, model=model, create=False, read_only=True, precision=settings.precision
        ) as index:
            found, report = _in_index(index, text, chosen, None, min_score), None
    return _show(settings, found, report, min_score, as_json)


def _stdin(paths: tuple[str, ...]) -> str:
    """Read the text to check from stdin."""
    from milepost.text.encoding import decode

    if "-" in paths:
        raise click.UsageError("stdin cannot be both a PATH and TEXT")
    return decode(sys.stdin.buffer.read(), "stdin")[0]


def _refuse_swapped(paths: tuple[str, ...], text: str) -> None:
    """Raise an error if TEXT was given before the PATHs."""
    try:
        there = any(
            path == "-" or is_address(path) or Path(path).expanduser().exists() for path in paths
        )
        swapped = bool(paths) and not there and len(text) < 1000 and Path(text).exists()
    except (OSError, RuntimeError, ValueError):  # a name too long, "~name", a null character
        return
    if swapped:
        raise InputError(f"{paths[0]!r} is not a file; TEXT comes last", f"milepost {_USAGE}")


def _in_files(
    paths: tuple[str, ...],
    text: str,
    chosen: Chosen,
    folder: ModelFolder,
    options: ReadOptions,
    *,
    cache: bool,
) -> tuple[Check | None, Report | None]:
    """Look for the text in files that are not indexed yet: reading is far faster than encoding.

    Nothing where it is not in them word for word or nearly, or where an index of them exists.
    """
    from milepost.checking import check_documents, prepared
    from milepost.cli.sources import cache_place
    from milepost.search.where import no_match
    from milepost.types import Check, Report

    place = cache_place(paths, folder.manifest.fingerprint, options)
    # Objects are downloaded once, and text is recognised once: for the index, which keeps it.
    once = any(map(is_address, paths)) or options.ocr != "never"
    if "-" in paths or once or (cache and place.exists()):
        return None, None
    failed: dict[str, str] = {}
    seen = _Seen()
    given = prepared(text)
    found = check_documents(given, _documents(paths, chosen, failed, seen))
    if chosen.where is not None and seen.documents and not seen.matching and not failed:
        chosen.where.check_keys(seen.keys)
        found = Check(given.text, "not found", notes=(no_match(chosen.where),))
    return found, Report(failed=failed) if found is not None else None


def _documents(
    paths: tuple[str, ...], chosen: Chosen, failed: dict[str, str], seen: _Seen
) -> Iterator[Document]:
    """Read the files one at a time; ``failed`` gets those that cannot be read."""
    from milepost.cli.sources import select
    from milepost.errors import MilepostError
    from milepost.filters import facts
    from milepost.intake import absolute
    from milepost.intake import found as found_files
    from milepost.text import read

    files = [str(file) for file in found_files([absolute(path) for path in paths], failed)[0]]
    for file in select(files, chosen.names) if chosen.names else files:
        try:
            document = read(file)
        except (MilepostError, OSError, MemoryError, RecursionError) as error:
            failed[file] = str(error)
            continue
        seen.documents += 1
        seen.keys.update(document.properties.keys())
        if chosen.where is None or chosen.where.matches(facts(document, chosen.where.keys)):
            seen.matching += 1
            yield document


def _indexed(
    settings: Settings,
    paths: tuple[str, ...],
    folder: ModelFolder,
    options: ReadOptions,
    as_json: bool,
    *,
    cache: bool,
    sources: list[str | Document],
) -> tuple[Index, Report]:
    from milepost.cli.sources import indexed
    from milepost.console.progress import Bar

    try:
        with Bar(settings, as_json=as_json) as bar:
            return indexed(paths, folder, settings, bar, options, cache=cache, sources=sources)
    except KeyboardInterrupt:
        kept = "what was read is kept; run the same command to continue" if cache else ""
        raise Interrupted(kept) from None


def _in_index(
    index: Index, text: str, chosen: Chosen, report: Report | None, min_score: float
) -> Check:
    from milepost.cli.sources import chosen_documents

    documents = chosen_documents(index, chosen.names, report)
    return index.check(text, documents, min_score=min_score, where=chosen.where)


def _show(
    settings: Settings, found: Check, report: Report | None, min_score: float, as_json: bool
) -> int:
    """Print the result; returns the exit code."""
    from milepost.cli.sources import complain, read_names

    if as_json:
        from milepost.console.records import check_record, print_json

        print_json(check_record(found, report))
    else:
        from milepost.cli.verdict import print_check

        print_check(found, settings.colour)
    if report is not None:
        complain(report.failed)
    if not settings.quiet:
        for note in found.notes:
            say(note)
    if found.verdict == "not found":
        if report is not None and report.failed and not read_names(report):
            return 2
        if not settings.quiet and found.best > 0.0:
            say(
                f"no passage supports it at {100 * min_score:g}% or more; the best has "
                f"{100 * found.best:.3g}%"
            )
    return CODES[found.verdict]
