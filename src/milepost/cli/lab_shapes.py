"""``milepost lab shapes``: P2AT on images of shapes, as published and mended, beside rivals."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

import click

from milepost.cli.options import Interrupted, Settings, common, count_option, json_option
from milepost.cli.progress import Counter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from milepost.lab.segmentation import Outcome


@click.command(
    short_help="P2AT on images of shapes: published, mended, rivals.",
    epilog="""\b
Examples:
  milepost lab shapes
  milepost lab shapes --arm corrected --arm full --seeds 3 --json
""",
)
@click.option(
    "--arm",
    "arms",
    multiple=True,
    metavar="NAME",
    help="What mixes the coarse map; may be given several times. [default: all]",
)
@count_option("--seeds", 1, "Runs of each.")
@count_option("--steps", 200, "Of training.")
@json_option
@common
@click.pass_obj
def shapes(settings: Settings, arms: tuple[str, ...], seeds: int, steps: int, as_json: bool) -> int:
    """Segment discs, squares and bars whose class is decided at one end, far from the other."""
    from milepost._optional import require

    require("torch", extra="train")
    from milepost.lab.segmentation import study
    from milepost.lab.shapes import CLASSES
    from milepost.model.images.segmenter import ARMS

    with Counter(settings) as counter:
        try:
            outcomes = study(
                arms or tuple(ARMS),
                seeds,
                steps,
                progress=lambda arm, done, of: counter(arm, "runs", done, of),
            )
        except KeyboardInterrupt:
            raise Interrupted("nothing is kept") from None
    if as_json:
        rows = [
            {
                "arm": each.arm,
                "seed": each.seed,
                "weights": each.weights,
                "seconds": each.seconds,
                "milliseconds": each.milliseconds,
                "mean": each.mean,
                # JSON knows no NaN: a class that is neither there nor guessed has no number.
                "overlap": {
                    name: value if value == value else None
                    for name, value in zip(CLASSES, each.overlap, strict=True)
                },
            }
            for each in outcomes
        ]
        click.echo(json.dumps(rows, indent=2))
    else:
        _show(outcomes, CLASSES)
    return 0


def _show(outcomes: Sequence[Outcome], classes: Sequence[str]) -> None:
    """One line an arm: means over seeds, and the least and greatest mean overlap."""
    of: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        of[outcome.arm].append(outcome)
    heads = "".join(f"{name:>12}" for name in classes)
    click.echo(f"arm         mIoU  (least … most){heads}   weights  seconds  ms/image")
    for arm, runs in of.items():
        means = [run.mean for run in runs]
        each = (sum(run.overlap[at] for run in runs) / len(runs) for at in range(len(classes)))
        click.echo(
            f"{arm:<10}{sum(means) / len(means):6.3f}  ({min(means):.3f} … {max(means):.3f})"
            + "".join(f"{value:>12.3f}" for value in each)
            + f"{runs[0].weights:>10,}{sum(run.seconds for run in runs) / len(runs):>9.1f}"
            + f"{sum(run.milliseconds for run in runs) / len(runs):>10.2f}"
        )
