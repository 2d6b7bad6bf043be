"""``milepost lab cet``: hard negatives that are unmarked answers, and what they do to a ranker."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.columns import columns
from milepost.console.options import Settings, common, count_option, json_option, model_option
from milepost.console.progress import Counter
from milepost.console.records import as_plain, print_json
from milepost.errors import InputError
from milepost_lab.options import (
    controls_option,
    kept_vectors,
    needs_torch,
    seed_option,
    vectors_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from milepost_eval.types import Split, Task
    from milepost_lab.cet.case import Hide
    from milepost_lab.cet.reading import Progress
    from milepost_lab.cet.simulation import Arm
    from milepost_lab.cet.study import Audit
    from milepost_lab.cet.trained import Trained, TrainedArm


@click.command(
    "cet",
    short_help="How many hard negatives are unmarked answers.",
    epilog="""\b
Examples:
  milepost lab cet --data ../shared/data
  milepost lab cet meetings --hide pooled --rankers words,landmarks,minilm
  milepost lab cet --generated
  milepost lab cet --train --split test --hide pooled

See docs/pooling/coupled.md.""",
)
@click.argument("tasks", nargs=-1)
@click.option(
    "--data", metavar="FOLDER", type=click.Path(path_type=Path), help="The folder of the tasks."
)
@click.option(
    "--split",
    type=click.Choice(["train", "dev", "test"]),
    default="dev",
    help="Split of the questions.",
)
@click.option(
    "--documents",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of documents of each task. [default: 6; all with --train]",
)
@click.option(
    "--hide",
    type=click.Choice(["random", "pooled"]),
    default="random",
    help="How the marked sentence of the evidence is chosen: at random, or by shared words.",
)
@click.option(
    "--rankers", default="words,landmarks,search", help="Rankers: words, landmarks, search, minilm."
)
@click.option(
    "--selected",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    help="Probability that an answering sentence was marked, for the weights of mined negatives.",
)
@seed_option("Seed of the choice of marked sentences.")
@click.option("--generated", is_flag=True, help="Use generated data, where the truth is known.")
@click.option(
    "--train",
    is_flag=True,
    help="Train rankers under each kind of weights, and test them on the questions of --split.",
)
@click.option(
    "--miner",
    type=click.Choice(["minilm", "words"]),
    default="minilm",
    help="Retriever whose best sentences are the negatives and the candidates (--train).",
)
@count_option("--seeds", 10, "Generated data sets, or trainings of each ranker.")
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
    documents: int | None,
    hide: Hide,
    rankers: str,
    selected: float,
    seed: int,
    generated: bool,
    train: bool,
    miner: str,
    seeds: int,
    cache: Path | None,
    controls: bool,
    as_json: bool,
    model: str | None,
) -> int:
    """Hide marked evidence of TASKS, and count how often it is mined as a hard negative.

    TASKS are those of milepost eval, by default squad_articles. The share of hidden answers at a
    rank is a lower bound of the share of false hard negatives from that rank.

    With --train, rankers learn from the training questions of TASKS (by default squad_articles,
    written and policies), and are tested on other documents.
    """
    if generated:
        from milepost_lab.cet.simulation import compare

        arms = list(compare(seeds=seeds))
        if as_json:
            print_json({"arms": [asdict(arm) for arm in arms]})
        else:
            click.echo("\n".join(_arms(arms)))
        return 0
    if train:
        with Counter(settings) as counter:
            result = _trained(
                tasks or ("squad_articles", "written", "policies"),
                data,
                split,
                documents,
                miner,
                hide,
                selected,
                range(seed, seed + seeds),
                cache,
                lambda doing, done, of: counter("", doing, done, of),
            )
        if as_json:
            print_json({"trained": as_plain(asdict(result))})
        else:
            click.echo("\n".join(_trained_rows(result)))
        return 0
    from milepost_eval.factory import SystemFactory
    from milepost_eval.session import data_folder
    from milepost_eval.tasks.names import load
    from milepost_eval.tasks.protocol import take
    from milepost_lab.cet.study import audit as audited
    from milepost_lab.controls.readers import control_readers

    names = [name.strip() for name in rankers.split(",") if name.strip()]
    factory = SystemFactory(kept_vectors(cache), model=model)
    readers = control_readers(controls)
    found = []
    with Counter(settings) as counter:
        for name in tasks or ("squad_articles",):
            task = take(load(name, split, data_folder(data)), documents=documents or 6)
            found.append(
                audited(
                    task,
                    factory.encoder(),
                    names,
                    hide=hide,
                    selected=selected,
                    minilm=factory.embedder("minilm") if "minilm" in names else None,
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


def _trained(
    tasks: Sequence[str],
    data: Path | None,
    split: Split,
    documents: int | None,
    miner: str,
    hide: Hide,
    selected: float,
    seeds: Sequence[int],
    cache: Path | None,
    progress: Progress,
) -> Trained:
    """Read both splits, and train.

    Raises:
        InputError: the questions to test on are those of the training split.
    """
    from milepost_eval.embedders import embedder
    from milepost_eval.session import data_folder
    from milepost_eval.tasks.names import load
    from milepost_eval.tasks.protocol import take
    from milepost_lab.cet.material import asked, taught
    from milepost_lab.cet.reading import AloneReader
    from milepost_lab.cet.trained import study

    if split == "train":
        raise InputError("rankers are trained on the split train", "--split dev, or test")
    reader = AloneReader(embedder("minilm"), kept_vectors(cache))

    def of(name: Split) -> Iterator[Task]:
        return (take(load(task, name, data_folder(data)), documents=documents) for task in tasks)

    teaching = taught(
        of("train"),
        reader,
        miner=miner,
        hide=hide,
        selected=selected,
        seed=seeds[0],
        progress=progress,
    )
    tests = asked(of(split), reader, miner=miner, progress=progress)
    return study(teaching, tests, seeds=seeds, progress=progress)


def _trained_rows(found: Trained) -> Iterator[str]:
    """The rankers as a table."""
    yield (
        f"trained on {found.trained} questions about {found.trained_documents} documents, "
        f"{found.pairs} pairs, {found.seeds} seeds"
    )
    yield (
        f"tested on {found.tested} questions about {found.tested_documents} documents of "
        f"{', '.join(found.tasks)}"
    )
    yield f"nDCG@10 of the retriever {found.retriever:.4f}, at best {found.ceiling:.4f}"
    yield from columns(
        ("weights", "nDCG@10", "95 %", "sd of seeds", "MRR@10", "less none", "95 %", "p", "MDE"),
        [
            (
                arm.name,
                f"{arm.ndcg:.4f}",
                f"{arm.low:.4f}–{arm.high:.4f}",
                f"{arm.spread:.4f}",
                f"{arm.mrr:.4f}",
                *_gain(arm),
            )
            for arm in found.arms
        ],
    )
    yield ""
    yield from columns(
        ("weights", "hidden", "weight", "of others", "effective", "area", "models alike"),
        [
            (
                arm.name,
                f"{arm.false:.3f}",
                _or_dash(arm.weights[0]),
                _or_dash(arm.weights[1]),
                _or_dash(arm.effective),
                _or_dash(arm.area),
                _or_dash(arm.alike),
            )
            for arm in found.arms
        ],
    )
    yield "p: corrected for all rows; MDE: minimum detectable effect, 2.80 standard errors"
    yield "hidden: share of the negatives that are hidden answers; weight: their mean weight, and"
    yield "that of others, over the mean of all; effective: effective sample size over the pairs;"
    yield "area: probability that a hidden answer weighs less than another negative"


def _gain(arm: TrainedArm) -> tuple[str, str, str, str]:
    if arm.gain is None:
        return "", "", "", ""
    gain = arm.gain
    return (
        f"{gain.mean:+.4f}",
        f"{gain.low:+.4f} to {gain.high:+.4f}",
        f"{gain.adjusted:.4f}",
        _or_dash(arm.detectable, 4),
    )


def _or_dash(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


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
