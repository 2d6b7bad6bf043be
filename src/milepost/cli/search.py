"""``milepost search``: a question in, passages out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from milepost.cli.question import (
    PreparedQuery,
    SearchOptions,
    limit_options,
    reading_options,
    takes_search_options,
)
from milepost.console.options import Settings, common, db_option, json_option, say

if TYPE_CHECKING:
    from milepost.index import Index
    from milepost.search import SearchResult

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
  milepost search "was it random?" trial.pdf --explain
  milepost search 'how is "natural selection" tested -pigeons' book.txt
  milepost search "what did it cost?" --where 'kind = "pdf" and date >= 2023'""",
)
@click.argument("question")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@db_option("Search this index. Without PATH and --db: MILEPOST_DB, else ./.milepost.")
@limit_options
@json_option
@click.option("--explain", is_flag=True, help="Show what every score is made of.")
@reading_options
@common
@click.pass_obj
@takes_search_options
def search(
    settings: Settings, question: str, options: SearchOptions, as_json: bool, explain: bool
) -> int:
    """Find the passages that answer QUESTION, best first.

    PATHs are files and folders (- is stdin). The first search reads them and keeps them in the
    cache; later searches read only what has changed. Without PATH, an index made by `milepost
    index` is searched.

    Every passage contains, word for word, what QUESTION has in quotation marks ("…", “…”, „…“,
    «…»), and none contains a word, or a phrase in quotation marks, with a minus sign before it:
    'how is "natural selection" tested -pigeons'. White space, case and typography are ignored.
    -5 is a number; -"5" excludes it.
    """
    asked = options.ask(question, settings, as_json=as_json)
    with asked.index:
        return _answer(settings, asked, as_json=as_json, explain=explain)


def _answer(settings: Settings, asked: PreparedQuery, *, as_json: bool, explain: bool) -> int:
    """Search and print the result; returns the exit code."""
    from milepost.cli.sources import complain, read_names

    query, index, report = asked.query, asked.index, asked.report
    result = asked.search()
    if as_json:
        from milepost.cli.boxes import passage_boxes
        from milepost.console.records import print_json, result_record

        boxes, missing = passage_boxes(index, result.passages)
        print_json(result_record(query.text, result, report, explain=explain, boxes=boxes))
        for note in missing if not settings.quiet else ():
            say(note)
    elif result.passages:
        from milepost.cli.answer import print_result

        names = {passage.document for passage in result.passages}
        sizes = {info.name: info.characters for info in index.documents(names)}
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
            say("low confidence: no query term occurs in the text")
    if result.passages:
        return FOUND
    if report is not None and report.failed and not read_names(report):
        return ERROR
    if not settings.quiet:
        say(_nothing(index, result, query.limits.min_score))
    return NOTHING


def _nothing(index: Index, result: SearchResult, min_score: float) -> str:
    with index.snapshot() as state:
        empty = not state.statistics().documents
    if empty:
        return "nothing found: there is no text to search"
    if result.best <= 0.0:
        return f"nothing found: {result.notes[0]}" if result.notes else "nothing found"
    best = math.floor(1000 * result.best) / 10  # rounded up it could reach what it is short of
    return f"nothing found at {100 * min_score:g}% or more; the best passage has {best:g}%"


def _flat(result: SearchResult) -> bool:
    return result.signals.get("landmark peak", 0.0) < _FLAT
