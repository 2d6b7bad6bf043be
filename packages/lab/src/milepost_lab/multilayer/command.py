"""``milepost lab multilayer``: pooling over layers and kind of attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import click

from milepost.console.columns import columns
from milepost.console.options import FOLDER, Settings, common, count_option, json_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost_lab.options import controls_option, needs_torch, resumable, seed_option

if TYPE_CHECKING:
    from milepost_lab.multilayer.study import Comparison, Trial

_STUDIES = ("paper", "crossed", "parts")
_PLACES = ("early", "last", "spread", "nowhere")


@click.command(
    "multilayer",
    short_help="Train poolings over layers.",
    epilog="""\b
Examples:
  milepost lab multilayer
  milepost lab multilayer --study parts --place early --place spread
  milepost lab multilayer --datasets 10 --json
  milepost lab multilayer --model minilm --out layers/

\b
With --model the five designs read the token states of a pre-trained encoder, frozen, and are
trained and tested on real questions; --study, --place, --datasets, --steps, --rank, --seed and
--no-controls are for planted topics only.

\b
A few datasets cannot show significance: with n datasets p is at least 2/2^n before it is corrected
for the number of comparisons. See docs/pooling/multilayer.md.""",
)
@click.option(
    "--study",
    type=click.Choice(_STUDIES),
    default="paper",
    help="The paper's five designs; layers × attention; or M5 without each of its parts.",
)
@click.option(
    "--place",
    "places",
    type=click.Choice(_PLACES),
    multiple=True,
    help="Where the topic can be read; repeat for several. [default: all]",
)
@count_option("--datasets", 2, "Networks with topics and texts, for each place.")
@count_option("--steps", 60, "Training steps.")
@count_option("--rank", 4, "Rank of LoRA; 0 freezes the network.", minimum=0)
@click.option(
    "--model",
    metavar="minilm|FOLDER",
    help="Read this encoder of transformers: all-MiniLM-L6-v2, or a folder.",
)
@click.option(
    "--size",
    type=click.Choice(["quick", "full"]),
    default="full",
    help="With --model. quick: a check of seconds. full: about an hour on two cores.",
)
@click.option(
    "--data", type=FOLDER, default=Path("../shared/data"), help="With --model: folder with tasks/."
)
@click.option(
    "--out",
    type=FOLDER,
    help="With --model: keep states and finished trainings here, so that a run can continue. "
    "[default: lab/multilayer in Milepost's cache]",
)
@controls_option
@seed_option("Seed of the first dataset.")
@json_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings,
    study: str,
    places: tuple[str, ...],
    datasets: int,
    steps: int,
    rank: int,
    model: str | None,
    size: str,
    data: Path,
    out: Path | None,
    controls: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Train five designs of pooling and attention, and compare them.

    They read a small causal model with planted topics, or a pre-trained encoder (--model).

    Below them are untrained baselines, which are not compared: M5 over frozen networks that are
    random or pre-trained on meaningless sentences or on nested pairs of words.
    """
    from milepost._optional import require

    if model is not None:
        _pretrained(settings, model, size, data, out, as_json=as_json)
        return 0
    require("scipy.stats", extra="lab")  # checked before training, not after
    from milepost_lab.multilayer.planted import PLACES
    from milepost_lab.multilayer.study import CHANCE, Training, compare, pairs_of, run

    with Counter(settings) as counter:
        trials = run(
            study,
            places=[place for place in PLACES if not places or place in places],
            datasets=datasets,
            training=Training(steps=steps, rank=rank),
            seed=seed,
            controls=controls,
            progress=counter.steps_of(study),
        )
    found = compare(trials, pairs_of(study))
    if as_json:
        print_json(
            {
                "chance": CHANCE,
                "trials": [asdict(one) for one in trials],
                "comparisons": [asdict(one) for one in found],
            }
        )
    else:
        for line in (*_scores(trials), "", *_comparisons(found)):
            click.echo(line)
        if not settings.quiet:
            click.echo(f"\nMean reciprocal rank of 64; chance is {CHANCE:.3f}.")
    return 0


def _pretrained(
    settings: Settings, model: str, size: str, data: Path, out: Path | None, *, as_json: bool
) -> None:
    """Run the study on an encoder and print its result."""
    from milepost.engine.folder import cache_folder
    from milepost_eval.embedders.choose import minilm_folder
    from milepost_lab.multilayer.layer_states import LayerReader
    from milepost_lab.multilayer.pretrained import SIZES, PretrainedStudy
    from milepost_lab.multilayer.pretrained_table import lines, record

    folder = (out or cache_folder() / "lab" / "multilayer") / size
    place = minilm_folder() if model == "minilm" else Path(model)
    with Counter(settings) as counter:
        told = counter.steps_of(model)
        reader = LayerReader(place, folder / "states", told)
        with resumable(folder):
            found = PretrainedStudy(reader, data, SIZES[size], folder, told).result()
    if as_json:
        print_json(record(found))
    else:
        for line in lines(found):
            click.echo(line)


def _scores(trials: list[Trial]) -> Iterator[str]:
    """One row for each design with its score at each place and its cost."""
    places = list(dict.fromkeys(one.place for one in trials))
    designs = list(dict.fromkeys(one.design for one in trials))
    rows = []
    for design in designs:
        own = [one for one in trials if one.design == design]
        means = [fmean(one.score for one in own if one.place == place) for place in places]
        rows.append(
            (
                design,
                *(f"{mean:.3f}" for mean in means),
                f"{fmean(one.cosine for one in own):.2f}",
                f"{own[0].parameters:,}",
                f"{fmean(one.milliseconds for one in own):.2f}",
            )
        )
    yield from columns(("design", *places, "cosine", "trained", "ms/text"), rows)


def _comparisons(found: list[Comparison]) -> Iterator[str]:
    rows = [
        (
            f"{one.place}: {one.design} - {one.against}",
            f"{one.mean:+.3f}",
            f"({one.low:+.3f} to {one.high:+.3f})",
            f"{one.p:.4f}",
            f"{one.adjusted:.4f}",
        )
        for one in found
    ]
    yield from columns(("difference", "mean", "95 %", "p", "p, Holm"), rows)
