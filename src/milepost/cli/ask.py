"""``milepost ask``: a question in, an answer of a language model out, its citations checked."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from milepost.cli.console.options import db_option, json_option, say, say_all
from milepost.cli.console.screen import Colour, page, print_line, shown_path, visible
from milepost.cli.language_model import ENVIRONMENT, chosen_endpoint, language_model_options
from milepost.cli.question import (
    Detail,
    PreparedQuery,
    SearchOptions,
    detail_options,
    limit_options,
    reading_options,
    takes_detail,
    takes_search_options,
)
from milepost.cli.sources import complaints, unreadable
from milepost.errors import MilepostError
from milepost.exports.records import answer_record, print_json, shared_record
from milepost.wording import percentage

if TYPE_CHECKING:
    from milepost.answers import Answer, Citation
    from milepost.chat import Endpoint
    from milepost.search import SearchResult
    from milepost.types import Passage

FOUND, NOTHING, ERROR = 0, 1, 2

_NO_ENDPOINT = (
    "no language model is set, so these are the passages; for an answer: "
    "--endpoint http://localhost:11434/v1 --model-name NAME, "
    "or MILEPOST_ENDPOINT and MILEPOST_MODEL_NAME"
)

_WRONG = {"unsupported": "not supported", "contradicted": "contradicted"}


@dataclass(slots=True)
class _Outcome:
    """What came of asking the language model: the text so far, the whole answer, or why not."""

    text: str = ""
    answer: Answer | None = None
    error: MilepostError | None = None


@click.command(
    epilog=f"""\b
Examples:
  milepost ask "who signed the contract?" contracts/ \\
      --endpoint http://localhost:11434/v1 --model-name qwen3
  MILEPOST_ENDPOINT=https://api.example.org/v1 MILEPOST_MODEL_NAME=large \\
      milepost ask "which samples were used" --db papers.milepost --json

\b
Environment:
  {ENVIRONMENT}""",
)
@click.argument("question")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@language_model_options("Without one, the passages are shown.")
@db_option("Search this index. Without PATH and --db: MILEPOST_DB, else ./.milepost.")
@limit_options
@json_option
@detail_options
@reading_options
@takes_search_options
@takes_detail
def ask(
    options: SearchOptions,
    detail: Detail,
    question: str,
    endpoint: str | None,
    model_name: str | None,
) -> int:
    """Answer QUESTION from the passages that a search finds.

    A language model of your choice writes the answer and cites the passages: [1]. Every citation is
    checked: whether the sentence, or what it quotes, is in the passage word for word, and whether
    the passage supports or contradicts what it does not quote, and with what probability. Exit code
    1: no passage was found, or no sentence is backed by one.
    """
    remote = chosen_endpoint(endpoint, model_name)
    asked = options.ask(question)
    with asked.index:
        return _answer(options, asked, asked.search(), remote, detail)


def _answer(
    options: SearchOptions,
    asked: PreparedQuery,
    result: SearchResult,
    remote: Endpoint | None,
    detail: Detail,
) -> int:
    from milepost.cli.answer import print_passages

    settings, as_json, passages = options.settings, options.as_json, result.passages
    messages = complaints(asked.report)
    if not settings.quiet:
        messages += result.notes
    outcome = _Outcome()
    if passages and remote is not None:
        outcome = _ask(asked, passages, remote, aloud=not as_json)
    elif passages and not settings.quiet:
        messages.append(_NO_ENDPOINT)
    if as_json:
        print_json(_record(asked, passages, outcome), asked.report)
    elif outcome.answer is not None:
        print_sources(passages, outcome.answer, settings.colour)
    if passages and outcome.answer is None and not as_json:
        print_passages(asked, result, detail, settings, messages)
    else:
        say_all(messages)
    if outcome.error is not None:
        sys.stdout.flush()
        raise outcome.error
    if not passages:
        if unreadable(asked.report):
            return ERROR
        if not settings.quiet:
            say(f"{asked.nothing_found(result)}; the language model was not asked")
        return NOTHING
    if outcome.answer is None:
        return FOUND
    return _judged(outcome.answer, len(passages), quiet=settings.quiet)


def _ask(
    asked: PreparedQuery, passages: tuple[Passage, ...], remote: Endpoint, *, aloud: bool
) -> _Outcome:
    """Ask the language model; ``aloud``: print what it writes as it comes."""
    from milepost.answers import Answer, Piece, Thinking, answer

    outcome = _Outcome()
    with closing(answer(asked.query.text, passages, remote, asked.index.check)) as events:
        try:
            for event in events:
                if isinstance(event, Piece):
                    outcome.text += event.text
                    if aloud:
                        sys.stdout.write(visible(event.text))
                        sys.stdout.flush()
                elif isinstance(event, Thinking) and event.restart:
                    outcome.text = ""
                    if aloud:
                        sys.stdout.write("\n</think>\n\n")  # as the model set it apart
                elif isinstance(event, Answer):
                    outcome.answer = event
        except MilepostError as error:
            outcome.error = error
    if aloud and outcome.text:
        sys.stdout.write("\n\n")
    return outcome


def _judged(answer: Answer, passages: int, *, quiet: bool) -> int:
    """Say what is wrong with an answer; 1 where nothing of it rests on a passage."""
    missing = sorted({each.number for each in answer.citations if each.verdict == "missing"})
    lines = [
        f"the answer cites [{number}], but there are {passages} passages" for number in missing
    ]
    for each in answer.citations:
        if each.verdict == "misquoted":
            lines += [f"not in the passages that it cites: {quote!r}" for quote in each.quotes]
        elif each.verdict in _WRONG:
            lines.append(f"{_WRONG[each.verdict]} by [{each.number}]: {each.sentence!r}")
    if answer.cut:
        lines.append("the language model was stopped, so the answer is cut")
    held = any(
        each.verdict in ("verbatim", "near", "supported", "related") for each in answer.citations
    )
    if not held:
        lines.append("no sentence of the answer rests on a passage")
    if not quiet:
        for line in dict.fromkeys(lines):
            say(line)
    return FOUND if held else NOTHING


def _record(
    asked: PreparedQuery, passages: tuple[Passage, ...], outcome: _Outcome
) -> dict[str, Any]:
    from milepost.answers import Answer

    answer = outcome.answer or (Answer(outcome.text, (), ()) if outcome.text else None)
    return {
        "question": asked.query.text,
        "answer": answer and answer_record(answer),
        "citations": [asdict(each) for each in (answer.citations if answer else ())],
        "error": str(outcome.error) if outcome.error else None,
        "passages": [shared_record(passage) for passage in passages],
    }


_WORDS = {
    "missing": ("no such passage", "wrong"),
    "misquoted": ("quoted wrongly", "wrong"),
    "contradicted": ("probably contradicted", "wrong"),
    "unsupported": ("not supported", "doubtful"),
    "unquoted": ("in other words: check it", "doubtful"),
    "related": ("about this: read it", "doubtful"),
    "supported": ("probably supported", "right"),
    "near": ("nearly word for word", "right"),
    "verbatim": ("word for word", "right"),
}
"""Verdict, from the worst on → how it is said, and its style."""


def print_sources(passages: Sequence[Passage], answer: Answer, colour: Colour) -> None:
    """Print the cited passages on stdout, by number, each with the worst of its verdicts."""
    from rich.text import Text

    from milepost.cli.answer import head

    cited: dict[int, list[Citation]] = {}
    for citation in answer.citations:
        cited.setdefault(citation.number, []).append(citation)
    with page(colour) as out:
        for number in sorted(cited):
            verdict = min((each.verdict for each in cited[number]), key=list(_WORDS).index)
            worst = [each for each in cited[number] if each.verdict == verdict]
            words, style = _WORDS[verdict]
            label, said = f"[{number}] ", Text(words, style=style)
            if 1 <= number <= len(passages):
                passage = passages[number - 1]
                said = Text.assemble(f"{percentage(passage.score)} · ", said)
                for line in head(label, passage, out, said):
                    print_line(out, line)
            else:
                print_line(out, Text.assemble((label, "name"), said))
            for shown in dict.fromkeys(line for each in worst for line in _lines(each)):
                print_line(out, Text(f"    {visible(shown)}", style="aside"))


def _lines(citation: Citation) -> Iterator[str]:
    """The quotes that a verdict rests on, or the sentence that the passage may not support."""
    for quote in citation.quotes:
        yield f"“{' '.join(quote.split())}”"
    if not citation.quotes and _WORDS[citation.verdict][1] != "right":
        elsewhere = _elsewhere(citation) if citation.verdict == "unsupported" else ""
        yield f"“{' '.join(citation.sentence.split())}”{elsewhere}"


def _elsewhere(citation: Citation) -> str:
    """Where else a sentence is supported, in words; nothing where it is not."""
    support = citation.support
    if support is None:
        return ""
    where = f"[{support.number}]"
    if support.number is None:
        page = "" if support.page is None else f" · page {support.page}"
        where = shown_path(support.document) + page
    return f", but by {where}: " + (
        "its words" if support.score is None else percentage(support.score)
    )
