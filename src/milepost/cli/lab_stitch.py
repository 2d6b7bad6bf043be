"""``milepost lab stitch``: encoders of many sizes out of two, and what each is worth."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.options import Settings, common, json_option
from milepost.cli.progress import Counter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from milepost.lab.stitch_maps import MapError
    from milepost.lab.stitch_outcome import Outcome


@click.command(
    short_help="Encoders of many sizes out of two.",
    epilog="""\b
Examples:
  milepost lab stitch --tiny
  milepost lab stitch --seeds 3 --report stitch.svg
  milepost lab stitch --ancestor my-checkpoint/ --text book.txt --sampling balanced
  milepost lab stitch --maps

See docs/pooling/stitch.md.""",
)
@click.option("--tiny", is_flag=True, help="Seconds: to see that everything runs.")
@click.option("--maps", "only_maps", is_flag=True, help="Only the maps whose errors are known.")
@click.option(
    "--ancestor",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    default=Path("checkpoint"),
    show_default=True,
    help="The landmark checkpoint to distil.",
)
@click.option(
    "--text",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=Path("examples/origin-of-species.txt"),
    show_default=True,
    help="What it reads.",
)
@click.option("--seeds", type=click.IntRange(min=1), default=1, show_default=True, metavar="N")
@click.option(
    "--kernel",
    type=click.IntRange(1, 3),
    default=2,
    show_default=True,
    help="Blocks of the window of paths.",
)
@click.option(
    "--sampling",
    type=click.Choice(["uniform", "balanced"]),
    default="uniform",
    show_default=True,
    help="How paths are drawn in training.",
)
@click.option(
    "--out",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the pool of the first seed here.",
)
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw recall against cost: .svg or .png.",
)
@json_option
@common
@click.pass_obj
def stitch(
    settings: Settings,
    tiny: bool,
    only_maps: bool,
    ancestor: Path,
    text: Path,
    seeds: int,
    kernel: int,
    sampling: str,
    out: Path | None,
    report: Path | None,
    as_json: bool,
) -> int:
    """Distil a narrow and a wide encoder, stitch them, and compare every descendant.

    Agreement and recall are against the ancestor, on held-out sentences of TEXT.
    """
    from dataclasses import replace

    from milepost.lab.stitch import run
    from milepost.lab.stitch_maps import compare, problem
    from milepost.lab.stitch_material import TINY, Plan

    if report:
        from milepost.lab.stitch_plot import check

        check(report)
    errors = list(compare(problem()))
    if only_maps:
        click.echo(json.dumps([asdict(e) for e in errors], indent=1) if as_json else _maps(errors))
        return 0
    plan = replace(TINY if tiny else Plan(), kernel=kernel, sampling=sampling)
    with Counter(settings) as counter:
        outcome = run(
            ancestor,
            text,
            plan,
            seeds=seeds,
            out=out,
            progress=lambda doing, done, of: counter(doing, "", done, of),
        )
    if report:
        from milepost.lab.stitch_plot import draw

        draw(outcome, report)
    if as_json:
        both = {"maps": [asdict(each) for each in errors], **asdict(outcome)}
        click.echo(json.dumps(both, indent=1))
    else:
        click.echo("\n\n".join((_maps(errors), *_tables(outcome))))
    return 0


def _maps(errors: Iterable[MapError]) -> str:
    lines = ["a known map undone: squared error, exact and measured"]
    lines += [
        f"  {each.start:<24}{each.expected:>9.3f}{each.measured:>9.3f} ± {each.error:.3f}"
        for each in errors
    ]
    return "\n".join(lines)


def _tables(outcome: Outcome) -> Iterable[str]:
    """The descendants, the starts, the matrix, the costs and the updates."""
    from milepost.lab.stitch_outcome import mean_over_seeds, starts_of

    lines = [
        f"against the ancestor, {outcome.sentences} held-out sentences",
        f"  {'arm':<12}{'blocks':<8}{'parameters':>11}{'MFLOP':>8}{'ms':>7}{'cosine':>8}"
        f"{'recall@10':>11}{'sd':>7}",
    ]
    for row, spread in mean_over_seeds(outcome, ("pool", "alone", "early exit")):
        lines.append(
            f"  {row.arm:<12}{row.name:<8}{row.parameters:>11,}{row.operations / 1e6:>8.1f}"
            f"{row.milliseconds:>7.2f}{row.agreement:>8.3f}{row.recall:>11.3f}{spread:>7.3f}"
        )
    yield "\n".join(lines)
    lines = [
        "stitched paths by what the stitches begin with: recall@10 (cosine), before and after",
        *(
            f"  {each.start:<15}{each.before[1]:>7.3f} ({each.before[0]:+.3f})"
            f"{each.after[1]:>9.3f} ({each.after[0]:+.3f})"
            for each in starts_of(outcome)
        ),
    ]
    yield "\n".join(lines)
    names, matrix = outcome.matrix
    lines = ["recall@10 with documents by the row and questions by the column"]
    lines.append(f"  {'':<8}" + "".join(f"{name:>8}" for name in names))
    for name, values in zip(names, matrix, strict=True):
        lines.append(f"  {name:<8}" + "".join(f"{value:>8.3f}" for value in values))
    yield "\n".join(lines)
    lines = ["training, in GFLOP a seed (the ancestor's reading once)"]
    lines += [f"  {name:<28}{cost / 1e9:>9.1f}" for name, cost in outcome.costs.items()]
    yield "\n".join(lines)
    lines = ["steps that trained each part of the pool, a seed"]
    lines += [f"  {name:<20}{count:>7.1f}" for name, count in sorted(outcome.updates.items())]
    yield "\n".join(lines)
