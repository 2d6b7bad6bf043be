"""``milepost lab p2at``: P2AT on images of shapes: as published, corrected, and rivals."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import click

from milepost.console.columns import columns
from milepost.console.options import Settings, common, count_option, json_option
from milepost.console.progress import Counter
from milepost.console.records import as_plain, print_json
from milepost_lab.differences import difference_lines
from milepost_lab.options import controls_option, needs_torch, out_option, resumable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from milepost_lab.p2at.study import Outcome


@click.command(
    "p2at",
    short_help="P2AT on images: published, corrected, rivals.",
    epilog="""\b
Examples:
  milepost lab p2at
  milepost lab p2at --arm published --arm identity --arm flat --arm corrected --out p2at/
  milepost lab p2at --arm corrected --arm full --seeds 1 --steps 20 --images 50 --json
""",
)
@click.option(
    "--arm",
    "arms",
    multiple=True,
    metavar="NAME",
    help="Mixer of the coarse map; repeat for several. [default: all]",
)
@count_option("--seeds", 8, "Runs of each arm, each on its own images.")
@count_option("--steps", 600, "Training steps.")
@count_option("--images", 2000, "Images to learn from.")
@out_option
@controls_option
@json_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings,
    arms: tuple[str, ...],
    seeds: int,
    steps: int,
    images: int,
    out: Path | None,
    controls: bool,
    as_json: bool,
) -> int:
    """Segment discs, squares and bars whose class is visible at one end only.

    The last row is an untrained baseline: the corrected block in a random network, of which only
    the last layer is trained.
    """
    from milepost_lab.p2at.network.segmenter import ARMS
    from milepost_lab.p2at.shapes import CLASSES
    from milepost_lab.p2at.study import CONTROL, gains, study

    with Counter(settings) as counter, resumable(out):
        outcomes = study(
            list(dict.fromkeys((*(arms or ARMS), *((CONTROL,) if controls else ())))),
            seeds,
            steps,
            progress=counter.steps_of("runs"),
            images=images,
            folder=out,
        )
    differences = gains(outcomes)
    if as_json:
        rows = [
            {
                "arm": each.arm,
                "seed": each.seed,
                "weights": each.weights,
                "seconds": each.seconds,
                "milliseconds": each.milliseconds,
                "mean": each.mean,
                # NaN for a class that is neither present nor predicted
                "overlap": as_plain(dict(zip(CLASSES, each.overlap, strict=True))),
            }
            for each in outcomes
        ]
        gained = {name: one.record() for name, one in differences.items()}
        print_json({"rows": rows, "gains": gained})
    else:
        for line in _shown(outcomes, CLASSES):
            click.echo(line)
        if differences:
            click.echo("")
            for line in difference_lines(differences, scale=1, digits=3):
                click.echo(line)
    return 0


def _shown(outcomes: Sequence[Outcome], classes: Sequence[str]) -> Iterator[str]:
    """One line an arm: means over seeds, and the least and greatest mean overlap."""
    of: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        of[outcome.arm].append(outcome)
    rows = []
    for arm, runs in of.items():
        means = [run.mean for run in runs]
        rows.append(
            (
                arm,
                f"{fmean(means):.3f}",
                f"({min(means):.3f} … {max(means):.3f})",
                *(f"{fmean(run.overlap[at] for run in runs):.3f}" for at in range(len(classes))),
                f"{runs[0].weights:,}",
                f"{fmean(run.seconds for run in runs):.1f}",
                f"{fmean(run.milliseconds for run in runs):.2f}",
            )
        )
    head = ("arm", "mIoU", "(least … most)", *classes, "weights", "seconds", "ms/image")
    yield from columns(head, rows)
