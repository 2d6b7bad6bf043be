"""``milepost synthesize``: questions made from documents, by a language model or by rule."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.mine import report
from milepost.console.options import Interrupted, Settings, common, count_option, say
from milepost.console.progress import Counter

if TYPE_CHECKING:
    from milepost.evaluate.types import Split

_ENDPOINT_ONLY = (
    "llm", "per_document", "top", "temperature", "timeout", "tries", "per_minute", "landmarks",
    "seed",
)  # fmt: skip


@click.command(
    short_help="Make questions from documents, with a language model or by rule.",
    epilog="""\b
Examples:
  milepost synthesize corpus.jsonl.gz --out made.jsonl --rules
  milepost synthesize papers/ --out made.jsonl --endpoint http://localhost:8080/v1 --model qwen3
  milepost synthesize corpus/ --out made.jsonl --endpoint https://api.example.org/v1 \\
      --model large --kind plain,context --per-document 6 --per-minute 60

\b
The file is a task: `milepost eval --tasks made.jsonl --split train` and training read it. What
is written stays: the same command goes on where it was stopped. See docs/training-data.md.

\b
Environment:
  OPENAI_API_KEY    the key of the endpoint, where it asks for one""",
)
@click.argument("documents", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    required=True,
    help="Write JSON lines here.",
)
@click.option(
    "--endpoint", metavar="URL", help="Any that speaks OpenAI's protocol: http://HOST:PORT/v1."
)
@click.option("--model", "llm", metavar="NAME", help="The language model's name there.")
@click.option("--rules", is_flag=True, help="Make questions by rule; no model is asked.")
@click.option(
    "--kind",
    "kinds",
    metavar="NAMES",
    help="Kinds of question, separated by commas. [default: all]",
)
@count_option("--per-document", 4, "Questions to ask for, of each document.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="K",
    help="Keep a question if its evidence is among so many best landmarks; 0: keep all.",
)
@click.option(
    "--temperature", type=click.FloatRange(0, 2), metavar="T", help="[default: the endpoint's]"
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="S",
    help="Seconds for one answer.",
)
@count_option("--tries", 6, "For one answer, waiting longer each time.")
@click.option(
    "--per-minute",
    type=click.FloatRange(0),
    default=0.0,
    metavar="N",
    help="Requests at most. [default: no limit]",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of excerpts.")
@click.option(
    "--split",
    type=click.Choice(["train", "dev", "test"]),
    default="train",
    show_default=True,
    help="Which documents, where they name a split; the questions are of it.",
)
@click.option(
    "--allow-nc",
    is_flag=True,
    help="Keep documents whose licence forbids commercial use.",
)
@click.option(
    "--landmarks",
    metavar="NAME|FOLDER",
    help="The Milepost model that checks the questions. [default: the shipped one]",
)
@common
@click.pass_context
def synthesize(
    context: click.Context,
    documents: tuple[Path, ...],
    out: Path,
    endpoint: str | None,
    llm: str | None,
    rules: bool,
    kinds: str | None,
    per_document: int,
    top: int,
    temperature: float | None,
    timeout: float,
    tries: int,
    per_minute: float,
    seed: int,
    split: Split,
    allow_nc: bool,
    landmarks: str | None,
) -> int:
    """Ask questions of DOCUMENTS (JSON lines, files of any format, folders), evidence marked.

    Kinds of a language model: plain, keywords, why, context, scattered. Kinds by rule: question,
    heading, definition, term.
    """
    settings: Settings = context.obj
    _check(context, endpoint, llm, rules=rules)
    from milepost.train.chat import Endpoint
    from milepost.train.prompts import KINDS
    from milepost.train.rules import RULES
    from milepost.train.synthesis import Asking, by_rules
    from milepost.train.synthesis import synthesize as synthesized

    chosen = [name.strip() for name in kinds.split(",") if name.strip()] if kinds else None
    with Counter(settings) as counter:

        def told(line: str) -> None:
            counter.clear()
            if not settings.quiet:
                say(line)

        def progress(name: str, done: int, kept: int) -> None:
            counter(f"{kept} questions", name, done, 0)

        try:
            if rules:
                found = by_rules(
                    documents,
                    out,
                    RULES if chosen is None else chosen,
                    split=split,
                    allow_nc=allow_nc,
                    progress=progress,
                )
            else:
                from milepost.encoder import load

                asking = Asking(
                    per_document,
                    tuple(KINDS if chosen is None else chosen),
                    top,
                    temperature=temperature,
                    seed=seed,
                )
                model = Endpoint(
                    endpoint or "",
                    llm or "",
                    os.environ.get("OPENAI_API_KEY", ""),
                    timeout_s=timeout,
                    tries=tries,
                    per_minute=per_minute,
                    told=told,
                )
                found = synthesized(
                    documents,
                    out,
                    model,
                    load(landmarks),
                    asking,
                    split=split,
                    allow_nc=allow_nc,
                    progress=progress,
                )
        except KeyboardInterrupt:
            raise Interrupted("what is written stays: the same command goes on from here") from None
    return report(settings, out, found.counts, found.bad)


def _check(context: click.Context, endpoint: str | None, llm: str | None, *, rules: bool) -> None:
    """Refuse what says nothing, or too little."""
    from click.core import ParameterSource

    if rules:
        for parameter in context.command.params:
            name = parameter.name or ""
            given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
            if given and name in ("endpoint", *_ENDPOINT_ONLY):
                raise click.UsageError(f"--rules takes no {parameter.opts[0]}")
    elif not endpoint or not llm:
        raise click.UsageError("give --endpoint URL and --model NAME, or --rules")
