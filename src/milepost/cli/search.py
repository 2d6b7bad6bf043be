"""``milepost search``: a question in, passages out."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.options import (
    Interrupted,
    Settings,
    common,
    db_option,
    hidden_option,
    json_option,
    model_option,
    ocr_option,
    required_db,
    say,
)
from milepost.types import READ_DEFAULTS, ReadOptions

if TYPE_CHECKING:
    from milepost.encoder import Encoder
    from milepost.index import Index
    from milepost.search import Query, SearchResult
    from milepost.types import Hidden, Ocr, Report

FOUND, NOTHING, ERROR = 0, 1, 2

_FLAT = -0.5
"""``landmark peak`` below which no sentence stands out: its best is less than 3 deviations up."""


@click.command(
    short_help="Find the passages that answer a question.",
    epilog="""\b
Examples:
  milepost search "how do bees build their cells" book.txt
  milepost search "who signed?" contracts/ --json | jq '.passages[0].text'
  milepost search "which samples were used" --db papers.milepost --budget 1600c
  milepost search "is there a fee?" terms.html --min-score 0.2 || echo "not found"
  milepost search "was it random?" trial.pdf --explain""",
)
@click.argument("question")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@db_option("Search this index. Without PATH and --db: MILEPOST_DB, else ./.milepost.")
@click.option(
    "-k",
    type=click.IntRange(min=1),
    help="Maximum number of passages. [default: 5; with --budget, as many as it holds]",
)
@click.option(
    "--budget", metavar="1600c|400t", help="Maximum total length, in characters or tokens."
)
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    metavar="PROBABILITY",
    default=0.0,
    help="Only passages that hold evidence with this probability or more, 0 to 1; exit code 1 "
    "if none.",
)
@click.option(
    "--in",
    "names",
    metavar="NAME",
    multiple=True,
    help="Search only this document: a name, path, folder or pattern. May be repeated.",
)
@hidden_option
@ocr_option
@json_option
@click.option("--explain", is_flag=True, help="Show what every score is made of.")
@model_option
@click.option(
    "--rerank/--no-rerank",
    default=True,
    help="Let the model's reranker, if it has one, score the best windows.",
    show_default=True,
)
@click.option("--no-cache", is_flag=True, help="Keep nothing of the PATHs for the next time.")
@common
@click.pass_obj
def search(
    settings: Settings,
    question: str,
    paths: tuple[str, ...],
    db: Path | None,
    k: int | None,
    budget: str | None,
    min_score: float,
    names: tuple[str, ...],
    hidden: Hidden | None,
    ocr: Ocr | None,
    as_json: bool,
    explain: bool,
    model: str | None,
    rerank: bool,
    no_cache: bool,
) -> int:
    """Find the passages that answer QUESTION, best first.

    PATHs are files and folders (- is stdin); they are read on the first search and kept in the
    cache, where the next one finds what has not changed. Without PATH an index is searched that
    `milepost index` has made.
    """
    from milepost.reranker import preload
    from milepost.search import Limits, Query

    Limits.parse(k, budget, min_score)  # before anything slow begins

    def parse(encoder: Encoder) -> Query:
        if rerank:
            preload(encoder)  # beside the question's encoding and the reading of documents
        return Query.parse(
            question, encoder, k=k, budget=budget, min_score=min_score, rerank=rerank
        )

    if paths and db is not None:
        raise click.UsageError("give PATHs or --db, not both")
    if (hidden or ocr) and not paths:
        raise click.UsageError(
            "--hidden and --ocr are for PATHs; for an index give them to `milepost index`"
        )
    if not paths:
        from milepost.index import open as open_index

        index = open_index(required_db(db), model=model, create=False, read_only=True)
        with index:
            query = parse(index.model)
            return _answer(settings, index, query, names, None, as_json, explain)
    options = READ_DEFAULTS.changed(hidden=hidden, ocr=ocr)
    query, index, report = _read(
        settings, parse, paths, options, model, as_json, cache=not no_cache
    )
    with index:
        return _answer(settings, index, query, names, report, as_json, explain)


def _read(
    settings: Settings,
    parse: Callable[[Encoder], Query],
    paths: tuple[str, ...],
    options: ReadOptions,
    model: str | None,
    as_json: bool,
    *,
    cache: bool,
) -> tuple[Query, Index, Report]:
    """Read the PATHs; a question that cannot be asked is refused before."""
    from milepost.cli.sources import indexed
    from milepost.console.progress import Bar
    from milepost.encoder import load

    try:
        encoder = load(model)
        query = parse(encoder)  # costs some milliseconds; reading may cost minutes
        with Bar(settings, as_json=as_json) as bar:
            return query, *indexed(paths, encoder, settings, bar, options, cache=cache)
    except KeyboardInterrupt:
        kept = "what was read is kept; run the same command to go on" if cache else ""
        raise Interrupted(kept) from None


def _documents(index: Index, names: tuple[str, ...], report: Report | None) -> list[str] | None:
    """Names of the documents that the PATHs and ``--in`` leave; None for all."""
    if not names and report is None:
        return None
    from milepost.cli.sources import read_names, select

    stored = index.documents()
    read = {info.name for info in stored} if report is None else read_names(report)
    inside = [info for info in stored if info.name in read]
    if names:
        return select(inside, names)
    return [info.name for info in inside] if len(inside) < len(stored) else None


def _answer(
    settings: Settings,
    index: Index,
    query: Query,
    names: tuple[str, ...],
    report: Report | None,
    as_json: bool,
    explain: bool,
) -> int:
    """Search and print the result; returns the exit code."""
    from milepost.cli.sources import complain, read_names

    result = index.search_detailed(query, documents=_documents(index, names, report))
    if as_json:
        from milepost.console.records import print_json, result_record

        print_json(result_record(query.text, result, report, explain=explain))
    elif result.passages:
        from milepost.cli.answer import print_result

        sizes = {info.name: info.characters for info in index.documents()}
        print_result(result, sizes, settings.colour)
        if explain:
            from milepost.cli.explain import print_reasons

            print_reasons(result, settings.colour)
    if report is not None:
        complain(report.failed)
    if not settings.quiet:
        for name, notes in report.notes.items() if report is not None else ():
            for note in notes:
                say(f"{name}: {note}")
        if not explain:
            for note in result.notes if result.passages else ():
                say(note)
        if result.passages and not any(result.terms.values()) and _flat(result):
            say("no word of the question is in the text and no sentence stands out: a guess")
    if result.passages:
        return FOUND
    if report is not None and report.failed and not read_names(report):
        return ERROR
    if not settings.quiet:
        say(_nothing(index, result, query.limits.min_score))
    return NOTHING


def _nothing(index: Index, result: SearchResult, min_score: float) -> str:
    """Why there is no passage."""
    if not index.documents():
        return "nothing found: there is no text to search"
    if result.best <= 0.0:
        return "nothing found"
    best = math.floor(1000 * result.best) / 10  # rounded up it could reach what it is short of
    return f"nothing found at {100 * min_score:g}% or more; the best passage has {best:g}%"


def _flat(result: SearchResult) -> bool:
    return result.signals.get("landmark peak", 0.0) < _FLAT
