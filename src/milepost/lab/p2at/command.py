"""``milepost lab p2at``: P2AT on images of shapes: as published, corrected, and rivals."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import click

from milepost.console.columns import columns
from milepost.console.options import Interrupted, Settings, common, count_option, json_option
from milepost.console.progress import Counter
from milepost.console.records import as_plain, print_json
from milepost.lab.options import FOLDER, controls_option, needs_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from milepost.evaluate.statistics import Difference
    from milepost.lab.p2at.study import Outcome


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
@count_option("--seeds", 8, "Runs of each arm, each on images of its own.")
@count_option("--steps", 600, "Training steps.")
@count_option("--images", 2000, "Images to learn from.")
@click.option(
    "--out",
    metavar="FOLDER",
    type=FOLDER,
    help="Keep finished trainings here; a run that was stopped goes on with them.",
)
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

    The last row is an untrained baseline: the corrected block in a random network, whose last layer
    alone is trained.
    """
    from milepost.lab.p2at.network.segmenter import ARMS
    from milepost.lab.p2at.shapes import CLASSES
    from milepost.lab.p2at.study import CONTROL, gains, study

    with Counter(settings) as counter:
        try:
            outcomes = study(
                list(dict.fromkeys((*(arms or ARMS), *((CONTROL,) if controls else ())))),
                seeds,
                steps,
                progress=counter.steps_of("runs"),
                images=images,
                folder=out,
            )
        except KeyboardInterrupt:
            raise Interrupted(
                "finished trainings are stored: repeat the command to continue"
                if out
                else "with --out FOLDER a run can be continued"
            ) from None
    differences = gains(outcomes) if seeds > 1 else {}
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
        told = {
            name: {**asdict(one), "verdict": one.verdict, "detectable": one.detectable}
            for name, one in differences.items()
        }
        print_json({"rows": rows, "gains": told})
    else:
        for line in _shown(outcomes, CLASSES):
            click.echo(line)
        if differences:
            click.echo("")
            for line in _compared(differences):
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


def _compared(found: Mapping[str, Difference]) -> Iterator[str]:
    """One line a difference, and the smallest that the seeds can show."""
    rows = [
        (
            name,
            f"{one.mean:+.3f}",
            f"({one.low:+.3f} to {one.high:+.3f})",
            f"{one.adjusted:.4f}",
            f"{one.detectable:.3f}",
        )
        for name, one in found.items()
    ]
    yield from columns(("difference", "mean", "95 %", "p, Holm", "detectable"), rows)
