"""``milepost eval answers``: how well a language model answers from what systems find."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.language_model import ENVIRONMENT, chosen_endpoint, language_model_options
from milepost.console.columns import columns
from milepost.console.options import (
    FILE,
    FOLDER,
    Interrupted,
    Settings,
    common,
    count_option,
    model_option,
    say,
)
from milepost.console.progress import Counter
from milepost.console.screen import visible
from milepost.errors import InputError
from milepost_eval.cli.task_options import noting, split_names, split_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from milepost.chat import Endpoint
    from milepost_eval.answers.asking import Asker
    from milepost_eval.answers.contexts import ContextSource
    from milepost_eval.answers.questions import Exam
    from milepost_eval.answers.run import Answered
    from milepost_eval.answers.summary import Row, Table

_TRIES = 6
"""Attempts for one answer, with pauses of half a minute in all: nobody waits beside a long run."""


@click.command(
    "answers",
    short_help="Measure how well a language model answers from what systems find.",
    epilog=f"""\b
Examples:
  milepost eval answers qasper.jsonl hotpotqa.jsonl \\
      --endpoint http://localhost:11434/v1 --model-name qwen3
  milepost eval answers qasper.jsonl --systems landmark,chunk:tuned@minilm,none \\
      --tokens 1024 --questions 50 --json > answers.jsonl

\b
Answers are kept in the cache: after an interruption the same command continues.

\b
Environment:
  {ENVIRONMENT}""",
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@language_model_options("Required, here or as MILEPOST_ENDPOINT.")
@click.option(
    "--systems",
    metavar="NAMES",
    default="landmark,bm25:400,whole,none",
    help="Systems by name, separated by commas, as in `milepost eval run`; also whole (the "
    "context, cut in the middle) and none (no context). Differences are relative to the first.",
)
@click.option(
    "--tokens",
    metavar="N,N",
    default="512,1024,2048",
    help="Budgets of context, the same for every system, in tokens of Milepost's model.",
)
@click.option(
    "--questions",
    metavar="N",
    type=click.IntRange(min=1),
    help="Maximum number of questions per file, spread over its contexts.",
)
@count_option(
    "--answer-tokens", 128, "Maximum length of an answer, in the language model's tokens."
)
@click.option(
    "--model-defaults",
    is_flag=True,
    help="Send neither temperature 0 nor --answer-tokens, for language models that reject them.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=120.0,
    metavar="S",
    help="Timeout of one request in seconds.",
)
@click.option(
    "--per-minute",
    type=click.FloatRange(0),
    default=0.0,
    show_default=False,
    metavar="N",
    help="Maximum requests per minute. [default: no limit]",
)
@click.option(
    "--cache",
    type=FOLDER,
    help="Folder to keep answers and vectors in. [default: eval in Milepost's cache]",
)
@model_option
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON line per question, system and budget, as soon as it is answered.",
)
@common
@click.pass_obj
def answers(
    settings: Settings,
    files: tuple[Path, ...],
    endpoint: str | None,
    model_name: str | None,
    systems: str,
    tokens: str,
    questions: int | None,
    answer_tokens: int,
    model_defaults: bool,
    timeout: float,
    per_minute: float,
    cache: Path | None,
    model: str | None,
    as_json: bool,
) -> int:
    """Measure how well a language model answers the questions in FILEs of LongBench.

    Each system finds passages in the question's own context, up to the same number of tokens; the
    language model answers from them, and its answer is compared with the reference answers by token
    F1. Contexts and questions are sent to the endpoint.
    """
    from milepost.engine.folder import find_model
    from milepost_eval.answers.asking import Asker
    from milepost_eval.answers.contexts import sources
    from milepost_eval.answers.kept import KeptAnswers, Sampling
    from milepost_eval.answers.questions import read_exams
    from milepost_eval.answers.summary import tables
    from milepost_eval.answers.tokens import TokenCounter
    from milepost_eval.session import Session

    with Counter(settings) as counter:
        note = noting(settings, counter)
        remote = chosen_endpoint(
            endpoint,
            model_name,
            timeout_s=timeout,
            tries=_TRIES,
            per_minute=per_minute,
            report=note,
        )
        if remote is None:
            raise InputError(
                "no language model is set",
                "--endpoint http://localhost:11434/v1 --model-name NAME, "
                "or MILEPOST_ENDPOINT and MILEPOST_MODEL_NAME",
            )
        budgets = split_numbers(tokens, "--tokens", "numbers of tokens such as 512,1024")
        exams = read_exams(files, questions)
        session = Session(cache=cache, model=model)
        given = sources(split_names(systems), session.workshop, TokenCounter.of(find_model(model)))
        sampling = Sampling(None, None) if model_defaults else Sampling(0.0, answer_tokens)
        asker = Asker(remote, KeptAnswers(session.cache_folder / "answers.sqlite"), sampling)
        _announce(settings, remote, exams, given, budgets)
        found = _ask(exams, given, budgets, asker, counter, as_json=as_json)
    if not as_json:
        for table in tables(found):
            _print_table(table, given[0].name)
        click.echo(
            "F1 in percent. In brackets: 95 % interval, contexts resampled. p: of all rows of a "
            "table, Holm's correction. sent: mean tokens of context."
        )
    if not settings.quiet:
        _report(found, asker)
    return 0


def _announce(
    settings: Settings,
    remote: Endpoint,
    exams: Sequence[Exam],
    given: Sequence[ContextSource],
    budgets: Sequence[int],
) -> None:
    """Say how much is going to be asked of whom, which may cost money."""
    from milepost_eval.answers.contexts import NONE

    asked = sum(len(exam.task.questions) for exam in exams)
    each = sum(1 if source.name == NONE else len(budgets) for source in given)
    note = noting(settings)
    for exam in exams:
        for line in exam.task.notes:
            note(f"{exam.task.name}: {line}")
        if exam.left_out:
            note(f"{exam.task.name}: {exam.left_out:,} questions are not asked (--questions)")
    note(
        f"up to {asked * each:,} requests to {remote.model} at {remote.url}; "
        "answers in the cache are not asked for again"
    )


def _ask(
    exams: Sequence[Exam],
    given: Sequence[ContextSource],
    budgets: Sequence[int],
    asker: Asker,
    counter: Counter,
    *,
    as_json: bool,
) -> list[Answered]:
    """All answers; as JSON each is printed as soon as it is there."""
    from milepost_eval.answers.run import answered, to_line

    found = []
    try:
        for each in answered(exams, given, budgets, asker, counter.steps_of("answers")):
            found.append(each)
            if as_json:
                counter.clear()
                click.echo(to_line(each))
                sys.stdout.flush()
    except KeyboardInterrupt:
        raise Interrupted("answers are kept; run the same command to continue") from None
    return found


def _print_table(table: Table, first: str) -> None:
    from milepost_eval.report.table import FEW

    several = len(table.tasks) > 1
    what = f"mean of {len(table.tasks)} files" if several else table.tasks[0]
    click.echo(f"{visible(what)}: {table.questions:,} questions about {table.documents:,} contexts")
    if not several and table.documents < FEW:
        click.echo("So few contexts say little about others, whatever the intervals are.")
    click.echo()
    head = ("tokens", "system", "F1", f"- {first}", "p", "sent")
    for line in columns(head, [_cells(row) for row in table.rows], left=2):
        click.echo(line)
    click.echo()


def _cells(row: Row) -> tuple[str, ...]:
    from milepost_eval.report.table import MISSING, with_interval

    difference, p = MISSING, MISSING
    if row.difference is not None:
        mean, low, high = (
            100 * each for each in (row.difference.mean, row.difference.low, row.difference.high)
        )
        difference = f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"
        p = f"{row.difference.adjusted:.3f}"
    f1 = with_interval(row.mean, row.low, row.high)
    return f"{row.budget}", row.system, f1, difference, p, f"{row.sent:,.0f}"


def _report(found: Sequence[Answered], asker: Asker) -> None:
    """Say what was asked, and which answers are not what they seem."""
    say(f"{asker.received:,} answers asked for, {asker.answers - asker.received:,} kept before")
    cut = sum(each.cut for each in found)
    if cut:
        say(f"{cut:,} answers were cut at the limit of --answer-tokens")
    empty = [each for each in found if not each.answer and not each.refused]
    if empty:
        say(
            f"{_counted(empty, 'answer', 'empty')}; try: a larger --answer-tokens, if the language "
            "model thinks first"
        )
    refused = [each for each in found if each.refused]
    if refused:
        say(f"{_counted(refused, 'request', 'refused')}: {refused[0].refused}")


def _counted(some: Sequence[Answered], what: str, how: str) -> str:
    """How many count as 0, and which is the first."""
    number = f"{len(some):,} {what}{'s were' if len(some) > 1 else ' was'} {how}"
    return (
        f"{number} and counted as F1 0; the first: {some[0].task}, question {some[0].question} "
        f"({some[0].system}, {some[0].budget} tokens)"
    )
