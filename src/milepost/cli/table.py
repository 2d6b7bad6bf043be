"""``milepost table``: many questions and documents in, a table of passages out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost._paths import expanded
from milepost.cli.console.options import Interrupted, db_option, json_option, say, say_all
from milepost.cli.console.progress import Gauge
from milepost.cli.question import (
    SearchOptions,
    in_option,
    min_score_option,
    reading_options,
    takes_search_options,
    where_option,
)
from milepost.cli.sources import chosen_documents, complain, unreadable, unsure
from milepost.exports.records import print_json
from milepost.wording import counted

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from milepost.exports.tables import Row
    from milepost.exports.tables.rows import Per
    from milepost.types import IndexReport

FOUND, NOTHING, ERROR = 0, 1, 2


class _Rows(Gauge):
    def columns(self) -> Sequence[ProgressColumn]:
        from rich.progress import MofNCompleteColumn, TimeRemainingColumn

        return [MofNCompleteColumn(), TimeRemainingColumn()]


@click.command(
    epilog="""\b
Examples:
  milepost table questions.txt papers/ -o answers.csv
  milepost table questions.txt --db papers.milepost -o answers.html --min-score 0.5
  milepost table questions.txt papers/ -o best.jsonl --per collection""",
)
@click.argument("questions", metavar="QUESTIONS", type=click.Path(path_type=Path))
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="File to write: .csv, .jsonl or .html.",
)
@click.option(
    "--per",
    type=click.Choice(["document", "collection"]),
    default="document",
    help="One row per document and question, or one per question, asked of all documents at once.",
)
@min_score_option("Leave the cells empty if an answer is less probable than this, 0 to 1.", 0.2)
@in_option("Ask only")
@where_option
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
@db_option("Ask this index. Without PATH and --db: MILEPOST_DB, else ./.milepost.")
@json_option
@reading_options
@takes_search_options
def table(options: SearchOptions, questions: Path, out: Path, per: Per, overwrite: bool) -> int:
    """Ask each document every question in QUESTIONS, and write the best passages to FILE.

    QUESTIONS is a text file with one question per line. PATHs are files and folders (- is stdin).
    Without PATH, an index made by `milepost index` is asked.

    A row has the document, question, score (its probability), text, place, page, heading and
    offsets of the best passage. Finished rows are kept in a hidden file beside FILE until FILE is
    complete: after Ctrl-C or a kill, the same command continues. Exit code 1: no row has a passage.
    """
    from milepost.exports.tables import read_questions, write_table
    from milepost.exports.tables.writing import check_table

    out = expanded(out)
    check_table(out, overwrite=overwrite)
    asked = read_questions(expanded(questions))
    opened = replace(options, k=1).ask(asked[0])
    done = 0

    with opened.index as index, _Rows(options.settings, wanted=not options.as_json) as gauge:

        def on_row(number: int, of: int) -> None:
            nonlocal done
            done = number
            gauge.show("asking", number, of)

        names = chosen_documents(index, options.names, opened.report)
        if options.where is not None:
            names = [info.name for info in index.documents(names, where=options.where)]
        try:
            rows = write_table(
                index,
                asked,
                out,
                per=per,
                documents=names,
                min_score=options.min_score,
                rerank=options.rerank,
                overwrite=overwrite,
                on_row=on_row,
            )
        except KeyboardInterrupt:
            kept = f"{counted(done, 'row')} kept; run the same command to continue" if done else ""
            raise Interrupted(kept) from None
        if not options.settings.quiet:
            say_all(unsure(index))
    _show(options, out, rows, opened.report)
    complain(opened.report)
    if unreadable(opened.report):
        return ERROR
    return FOUND if any(row.text is not None for row in rows) else NOTHING


def _show(options: SearchOptions, out: Path, rows: list[Row], report: IndexReport | None) -> None:
    answered = sum(row.text is not None for row in rows)
    if options.as_json:
        record = {"path": str(out.absolute()), "rows": len(rows), "answered": answered}
        print_json(record, report)
    elif not options.settings.quiet:
        rest = (
            "; --min-score 0 fills the others" if options.min_score and answered < len(rows) else ""
        )
        say(f"{out}: {counted(len(rows), 'row')}, {answered:,} with a passage{rest}")
