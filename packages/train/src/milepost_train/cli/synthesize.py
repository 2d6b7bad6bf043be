"""``milepost synthesize``: generate questions from documents, with a language model or by rules."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milepost.cli.console.options import Interrupted, Settings, common, count_option, say
from milepost.wording import counted
from milepost_eval.cli.terminal import FILE, Counter
from milepost_train.cli import allow_nc_option, split_option
from milepost_train.cli.mine import report

if TYPE_CHECKING:
    from milepost_eval.types import Split

NOTHING = 1
"""The exit code if no question was made."""

_ENDPOINT_ONLY = (
    "llm", "per_document", "top", "temperature", "timeout", "tries", "per_minute", "landmarks",
    "seed",
)  # fmt: skip


@click.command(
    short_help="Generate questions from documents, with a language model or by rules.",
    epilog="""\b
Examples:
  milepost synthesize handbook/ --out made.jsonl --rules --dev 0.1
  milepost synthesize papers/ --out made.jsonl --endpoint http://localhost:8080/v1 --model qwen3
  milepost synthesize corpus/ --out made.jsonl --endpoint https://api.example.org/v1 \\
      --model large --kind plain,context --per-document 6 --per-minute 60

\b
The file is a task, which training and `milepost eval run --tasks made.jsonl --split train` read.
Run the same command again to resume after an interruption. See docs/training-data.md.

\b
Environment:
  OPENAI_API_KEY    API key of the endpoint, if it needs one""",
)
@click.argument("documents", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=FILE, required=True, help="Write JSON lines here.")
@click.option(
    "--endpoint", metavar="URL", help="An OpenAI-compatible endpoint: http://HOST:PORT/v1."
)
@click.option("--model", "llm", metavar="NAME", help="Name of the language model at the endpoint.")
@click.option("--rules", is_flag=True, help="Generate questions by rules, without a model.")
@click.option(
    "--kind",
    "kinds",
    metavar="NAMES",
    help="Kinds of question, separated by commas. [default: all]",
)
@count_option("--per-document", 4, "Questions to ask for about each document.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=20,
    metavar="K",
    help="Keep a question if its evidence is among the best K landmarks; 0: keep all.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0, 2),
    metavar="T",
    help="Sampling temperature. [default: the endpoint's]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=120.0,
    metavar="S",
    help="Timeout of one request in seconds.",
)
@count_option("--tries", 6, "Attempts for one answer, with growing pauses.")
@click.option(
    "--per-minute",
    type=click.FloatRange(0),
    default=0.0,
    show_default=False,
    metavar="N",
    help="Maximum requests per minute. [default: no limit]",
)
@click.option("--seed", type=int, default=0, help="Seed of the choice of excerpts.")
@split_option("Use documents of this split, or without a split; questions get the same split.")
@click.option(
    "--dev",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    metavar="X",
    help="Put the questions of this fraction of the documents into the split dev.",
)
@allow_nc_option
@click.option(
    "--landmarks",
    metavar="NAME|FOLDER",
    help="Milepost model that checks the questions. [default: the shipped one]",
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
    dev: float,
    allow_nc: bool,
    landmarks: str | None,
) -> int:
    """Generate questions with marked evidence from DOCUMENTS (JSON lines, other files, folders).

    Kinds of question with a language model: plain, keywords, why, context, scattered. Kinds with
    --rules: question, heading, definition, term.
    """
    settings: Settings = context.obj
    _check(context, endpoint, llm, rules=rules)
    from milepost.chat import Endpoint
    from milepost_train.rules import RULES
    from milepost_train.synthesis import KINDS, Asking, by_rules
    from milepost_train.synthesis import synthesize as synthesized

    chosen = [name.strip() for name in kinds.split(",") if name.strip()] if kinds else None
    with Counter(settings) as counter:

        def warn(line: str) -> None:
            counter.clear()
            if not settings.quiet:
                say(line)

        def on_progress(name: str, done: int, written: int) -> None:
            counter(counted(written, "question"), name, done, 0)

        shared: dict[str, Any] = {
            "split": split,
            "dev": dev,
            "allow_nc": allow_nc,
            "progress": on_progress,
        }
        try:
            if rules:
                found = by_rules(documents, out, RULES if chosen is None else chosen, **shared)
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
                    report=warn,
                )
                found = synthesized(documents, out, model, load(landmarks), asking, **shared)
        except KeyboardInterrupt:
            raise Interrupted("rows are kept; run the same command to continue") from None
    asked = any(what.startswith("questions: ") for what in found.counts)
    if not asked:
        instead = "documents with headings that ask, or --endpoint URL --model NAME"
        say(f"no question was made; try: {instead if rules else 'another --model, or --top 0'}")
    elif dev and not found.counts["documents of dev"]:
        say("only one document has questions, so that none is in dev; try: more documents")
    code = report(settings, out, found.counts, found.bad)
    return code if asked else NOTHING


def _check(context: click.Context, endpoint: str | None, llm: str | None, *, rules: bool) -> None:
    from click.core import ParameterSource

    if rules:
        for parameter in context.command.params:
            name = parameter.name or ""
            given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
            if given and name in ("endpoint", *_ENDPOINT_ONLY):
                raise click.UsageError(f"{parameter.opts[0]} has no effect with --rules")
    elif not endpoint or not llm:
        raise click.UsageError("missing --endpoint URL and --model NAME, or --rules")
