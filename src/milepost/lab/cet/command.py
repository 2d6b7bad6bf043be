"""``milepost lab cet``: the share of hard negatives that are unmarked answers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.columns import columns
from milepost.console.options import Settings, common, count_option, json_option, model_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost.lab.options import (
    controls_option,
    kept_vectors,
    needs_torch,
    seed_option,
    vectors_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from milepost.evaluate.types import Split
    from milepost.lab.cet.simulation import Arm
    from milepost.lab.cet.study import Audit, Hide


@click.command(
    "cet",
    short_help="How many hard negatives are unmarked answers.",
    epilog="""\b
Examples:
  milepost lab cet --data ../shared/data
  milepost lab cet meetings --hide pooled --rankers words,landmarks,minilm
  milepost lab cet --generated

See docs/pooling/coupled.md.""",
)
@click.argument("tasks", nargs=-1)
@click.option(
    "--data", metavar="FOLDER", type=click.Path(path_type=Path), help="The folder of the tasks."
)
@click.option(
    "--split", type=click.Choice(["train", "dev", "test"]), default="dev", show_default=True
)
@count_option("--documents", 6, "Maximum number of documents of each task.")
@click.option(
    "--hide",
    type=click.Choice(["random", "pooled"]),
    default="random",
    show_default=True,
    help="How the marked sentence of the evidence is chosen: at random, or by shared words.",
)
@click.option(
    "--rankers",
    default="words,landmarks,search",
    show_default=True,
    help="Rankers: words, landmarks, search, minilm.",
)
@click.option(
    "--selected",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    help="Probability that an answering sentence was marked, as in milepost mine.",
)
@seed_option("Seed of the choice of marked sentences.")
@click.option("--generated", is_flag=True, help="Use generated data, where the truth is known.")
@count_option("--seeds", 10, "Generated data sets.")
@vectors_option
@controls_option
@json_option
@model_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings,
    tasks: tuple[str, ...],
    data: Path | None,
    split: Split,
    documents: int,
    hide: Hide,
    rankers: str,
    selected: float,
    seed: int,
    generated: bool,
    seeds: int,
    cache: Path | None,
    controls: bool,
    as_json: bool,
    model: str | None,
) -> int:
    """Hide marked evidence of TASKS, and count how often it is mined as a hard negative.

    TASKS are those of milepost eval, by default squad_articles. The share of hidden answers at a
    rank is a lower bound of the share of false hard negatives from that rank.
    """
    if generated:
        from milepost.lab.cet.simulation import compare

        arms = list(compare(seeds=seeds))
        if as_json:
            print_json({"arms": [asdict(arm) for arm in arms]})
        else:
            click.echo("\n".join(_arms(arms)))
        return 0
    from milepost.evaluate.names import Workshop
    from milepost.evaluate.session import data_folder
    from milepost.evaluate.tasks.names import load
    from milepost.evaluate.tasks.protocol import take
    from milepost.lab.cet.study import audit as audited
    from milepost.lab.controls.readers import control_readers
    from milepost.train.negatives import Limits

    names = [name.strip() for name in rankers.split(",") if name.strip()]
    workshop = Workshop(kept_vectors(cache), model=model)
    readers = control_readers(controls)
    found = []
    with Counter(settings) as counter:
        for name in tasks or ("squad_articles",):
            task = take(load(name, split, data_folder(data)), documents=documents)
            found.append(
                audited(
                    task,
                    workshop.encoder(),
                    names,
                    hide=hide,
                    limits=Limits(selected=selected),
                    minilm=workshop.embedder("minilm") if "minilm" in names else None,
                    controls=readers,
                    seed=seed,
                    progress=lambda doing, done, of: counter("", doing, done, of),
                )
            )
    if as_json:
        print_json({"audits": [asdict(each) for each in found]})
    else:
        for each in found:
            click.echo("\n".join(_rows(each)))
    return 0


def _rows(found: Audit) -> Iterator[str]:
    """An audit as a table."""
    yield (
        f"{found.task}: {found.questions} questions about {found.documents} documents, "
        f"{found.hidden} sentences of their evidence hidden"
    )
    yield from columns(
        ("ranked by", "rank", "count", "all", "95 %", "mined", "by mine", "by product model"),
        [
            (
                row.ranker,
                str(row.first) if row.first == row.last else f"{row.first}–{row.last}",
                str(row.count),
                f"{row.share:.3f}",
                f"{row.low:.3f}–{row.high:.3f}",
                f"{row.share_passed:.3f}",
                _pair(row.mined),
                _pair(row.coupled),
            )
            for row in found.rows
        ],
    )
    yield "all, mined: share of hidden answers before and after the filter of mining;"
    yield "by mine, by product model: weight of hidden answers / of others"
    told: dict[str, list[str]] = {}
    for name, value in found.areas.items():
        weights, _, control = name.partition("@")
        shown = f"{weights} {'–' if value is None else f'{value:.3f}'}"
        told.setdefault(f" ({control})" if control else "", []).append(shown)
    for control, areas in told.items():
        yield (
            f"probability that a hidden answer weighs less than another sentence{control}: "
            f"{', '.join(areas)}"
        )
    yield "coupled, constant: product model with selection by rank, place and length, and without"
    yield from columns(
        ("rank by words", "answers", "marked", "by product model"),
        [
            (
                f"{each.first}–{each.last or ''}" if each.first != each.last else str(each.first),
                str(each.answers),
                f"{each.marked:.3f}",
                f"{each.fitted:.3f}",
            )
            for each in found.selected
        ],
    )


def _pair(weights: tuple[float | None, float | None]) -> str:
    return " / ".join("–" if weight is None else f"{weight:.2f}" for weight in weights)


def _arms(arms: Iterable[Arm]) -> Iterator[str]:
    """The generated data sets as a table."""
    yield from columns(
        ("relevance model", "rho", "AUC", "sd", "bias", "both models apart"),
        [
            (
                arm.name,
                f"{arm.rho:.1f}",
                f"{arm.area:.3f}",
                f"{arm.spread:.3f}",
                f"{arm.bias:+.3f}",
                "" if arm.apart is None else f"{arm.apart:.4f}",
            )
            for arm in arms
        ],
    )
