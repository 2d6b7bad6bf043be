"""``milepost search``: a question in, passages out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.options import (
    Interrupted,
    Settings,
    common,
    db_option,
    json_option,
    model_option,
    required_db,
    say,
)

if TYPE_CHECKING:
    from milepost.index import Index
    from milepost.search import SearchResult
    from milepost.types import Report

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
  milepost search "is there a fee?" terms.html --least 0.2 || echo "not told"
  milepost search "was it random?" trial.pdf --explain""",
)
@click.argument("question")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@db_option("Search this index. Without PATH and --db: MILEPOST_DB, else ./.milepost.")
@click.option(
    "-k",
    type=click.IntRange(min=1),
    help="Most passages. [default: 5; with --budget, as many as it holds]",
)
@click.option("--budget", metavar="1600c|400t", help="Most text in all, in characters or tokens.")
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    metavar="CHANCE",
    default=0.0,
    help="Only passages that hold evidence with this chance or more, 0 to 1; exit code 1 if none.",
)
@click.option(
    "--in",
    "names",
    metavar="NAME",
    multiple=True,
    help="Look only in this document: a name, path, folder or pattern. May be repeated.",
)
@json_option
@click.option("--explain", is_flag=True, help="Show what every score is made of.")
@model_option
@click.option(
    "--rerank/--no-rerank",
    default=True,
    help="Read the best places again, the question in mind, where the model has a reranker.",
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
    least: float,
    names: tuple[str, ...],
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
    from milepost.search.passages import parse_budget

    parse_budget(budget)  # before anything slow begins
    if k is None and budget is None:
        k = 5
    if paths and db is not None:
        raise click.UsageError("give PATHs or --db, not both")
    if not paths:
        from milepost.index import open as open_index

        place = required_db(db)
        with open_index(place, model=model, create=False, read_only=True) as index:
            answer = _ask(index, question, k, budget, names, None, rerank=rerank, least=least)
            return _show(settings, question, answer, None, index, as_json, explain, least)
    index, report = _read(settings, question, paths, model, as_json, cache=not no_cache)
    with index:
        answer = _ask(index, question, k, budget, names, report, rerank=rerank, least=least)
        return _show(settings, question, answer, report, index, as_json, explain, least)


def _read(
    settings: Settings,
    question: str,
    paths: tuple[str, ...],
    model: str | None,
    as_json: bool,
    *,
    cache: bool,
) -> tuple[Index, Report]:
    """Read the PATHs; a question that cannot be asked is refused before."""
    from milepost.cli.sources import indexed
    from milepost.console.progress import Bar
    from milepost.encoder import load

    try:
        encoder = load(model)
        encoder.encode_query(question)  # costs some milliseconds; reading may cost minutes
        with Bar(settings, as_json=as_json) as bar:
            return indexed(paths, encoder, settings, bar, cache=cache)
    except KeyboardInterrupt:
        kept = "what was read is kept; run the same command to go on" if cache else ""
        raise Interrupted(kept) from None


def _ask(
    index: Index,
    question: str,
    k: int | None,
    budget: str | None,
    names: tuple[str, ...],
    report: Report | None,
    *,
    rerank: bool,
    least: float,
) -> SearchResult:
    """Ask the index, in the documents that the PATHs and ``--in`` leave."""
    documents = None
    if names or report is not None:
        from milepost.cli.sources import read_names, select

        infos = index.documents()
        given = {info.name for info in infos} if report is None else read_names(report)
        inside = [info for info in infos if info.name in given]
        if names:
            documents = select(inside, names)
        elif len(inside) < len(infos):
            documents = [info.name for info in inside]
    return index.search_detailed(question, k, budget, documents, rerank=rerank, least=least)


def _show(
    settings: Settings,
    question: str,
    answer: SearchResult,
    report: Report | None,
    index: Index,
    as_json: bool,
    explain: bool,
    least: float,
) -> int:
    """Print the answer; returns the exit code."""
    from milepost.cli.sources import complain, read_names

    if as_json:
        from milepost.console.records import answer_record, print_json

        print_json(answer_record(question, answer, report, explain=explain))
    elif answer.passages:
        from milepost.cli.answer import print_answer

        sizes = {info.name: info.characters for info in index.documents()}
        print_answer(answer, sizes, settings.colour)
        if explain:
            from milepost.cli.explain import print_reasons

            print_reasons(answer, settings.colour)
    if report is not None:
        complain(report.failed)
    if not settings.quiet:
        for name, notes in report.notes.items() if report is not None else ():
            for note in notes:
                say(f"{name}: {note}")
        if not explain:
            for note in answer.notes if answer.passages else ():
                say(note)
        if answer.passages and not any(answer.terms.values()) and _flat(answer):
            say("no word of the question stands in the text and no sentence stands out: a guess")
    if answer.passages:
        return FOUND
    if report is not None and report.failed and not read_names(report):
        return ERROR
    if not settings.quiet:
        say(_nothing(index, answer, least))
    return NOTHING


def _nothing(index: Index, answer: SearchResult, least: float) -> str:
    """Why there is no passage."""
    if not index.documents():
        return "nothing found: there is no text to search"
    if answer.best <= 0.0:
        return "nothing found"
    best = math.floor(1000 * answer.best) / 10  # rounded up it could reach what it is short of
    return f"nothing found at {100 * least:g}% or more; the best passage has {best:g}%"


def _flat(answer: SearchResult) -> bool:
    return answer.signals.get("landmark peak", 0.0) < _FLAT
