"""``milepost lab ggem``: exponents for groups of channels against one, on digits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import click

from milepost.console.columns import columns
from milepost.console.options import Settings, common, count_option, json_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost_lab.differences import difference_lines
from milepost_lab.options import needs_torch, out_option, resumable

if TYPE_CHECKING:
    from milepost_lab.ggem.study import GgemResult


@click.command(
    "ggem",
    short_help="GGeM, GeM, mean and maximum on digits.",
    epilog="""\b
Examples:
  milepost lab ggem --out ggem/
  milepost lab ggem --seeds 1 --rounds 1 --folds 1 --json

\b
See docs/pooling/ggem.md.""",
)
@count_option("--seeds", 10, "Trainings of each pooling on each fold.")
@count_option("--rounds", 20, "How many times each image is seen.")
@click.option(
    "--folds",
    type=click.IntRange(1, 3),
    default=3,
    help="Folds of the digits to test on; the others are for training.",
)
@out_option
@json_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings, seeds: int, rounds: int, folds: int, out: Path | None, as_json: bool
) -> int:
    """Train a small digit reader with each pooling, and compare their accuracy."""
    from milepost_lab.ggem.study import study

    with Counter(settings) as counter, resumable(out):
        found = study(seeds, rounds, folds=folds, folder=out, progress=counter.steps_of("digits"))
    if as_json:
        gains = {name: one.record() for name, one in found.gains.items()}
        arms = {arm: found.accuracies(arm) for arm in found.right}
        print_json({"accuracies": arms, "gains": gains})
    else:
        for line in _shown(found):
            click.echo(line)
    return 0


def _shown(found: GgemResult) -> Iterator[str]:
    """One line a pooling, then one a difference with the smallest that could be seen."""
    rows = []
    for arm in found.right:
        shares = [100 * share for share in found.accuracies(arm)]
        rows.append((arm, f"{fmean(shares):.2f}", f"({min(shares):.2f} … {max(shares):.2f})"))
    yield from columns(("pooling", "right, %", "(least … most)"), rows)
    yield ""
    yield from difference_lines(found.gains, scale=100, digits=2)
