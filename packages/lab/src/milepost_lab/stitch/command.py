"""``milepost lab stitch``: encoders of many sizes stitched from two, and their quality."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.columns import columns
from milepost.console.options import FILE, FOLDER, Settings, common, json_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost_lab.differences import difference_lines
from milepost_lab.options import controls_option, needs_torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from milepost_lab.stitch.maps import MapError
    from milepost_lab.stitch.outcome import Outcome


@click.command(
    "stitch",
    short_help="Stitch encoders of many sizes from two.",
    epilog="""\b
Examples:
  milepost lab stitch --tiny
  milepost lab stitch --seeds 3 --report stitch.svg
  milepost lab stitch --ancestor my-checkpoint/ --text book.txt --sampling balanced
  milepost lab stitch --maps

See docs/pooling/stitch.md.""",
)
@click.option("--tiny", is_flag=True, help="Run in seconds, as a check.")
@click.option(
    "--maps", "only_maps", is_flag=True, help="Show only the maps whose errors are known."
)
@click.option(
    "--ancestor",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    default=Path("checkpoint"),
    help="The landmark checkpoint to distil.",
)
@click.option(
    "--text",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=Path("examples/origin-of-species.txt"),
    help="Text to read.",
)
@click.option(
    "--seeds", type=click.IntRange(min=1), default=1, metavar="N", help="Number of seeds."
)
@click.option(
    "--kernel",
    type=click.IntRange(1, 3),
    default=2,
    help="Width of the window of paths, in blocks.",
)
@click.option(
    "--sampling",
    type=click.Choice(["uniform", "balanced"]),
    default="uniform",
    help="How training samples paths.",
)
@click.option("--out", type=FOLDER, help="Write the pool of the first seed here.")
@click.option("--report", type=FILE, help="Plot recall against cost, as .svg or .png.")
@controls_option
@json_option
@common
@click.pass_obj
@needs_torch
def command(
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
    controls: bool,
    as_json: bool,
) -> int:
    """Distil a narrow and a wide encoder, stitch them, and compare every descendant.

    The arm sn-net stitches encoders of the same sizes that were trained apart, for as many steps.
    Agreement and recall are relative to the ancestor, on held-out sentences of TEXT. With the
    defaults this takes two minutes a seed on two cores.
    """
    from dataclasses import replace

    from milepost_lab.controls.readers import control_readers
    from milepost_lab.stitch.maps import compare, problem
    from milepost_lab.stitch.material import TINY, Plan
    from milepost_lab.stitch.outcome import gains
    from milepost_lab.stitch.study import run

    if report:
        from milepost_lab.stitch.plot import check

        check(report)
    errors = list(compare(problem()))
    maps = [asdict(each) for each in errors]
    if only_maps:
        if as_json:
            print_json({"maps": maps})
        else:
            click.echo("\n".join(_maps(errors)))
        return 0
    plan = replace(TINY if tiny else Plan(), kernel=kernel, sampling=sampling)
    with Counter(settings) as counter:
        outcome = run(
            ancestor,
            text,
            plan,
            seeds=seeds,
            controls=control_readers(controls),
            out=out,
            progress=counter.steps_of(),
        )
    if report:
        from milepost_lab.stitch.plot import draw

        draw(outcome, report)
    if as_json:
        compared = {name: one.record() for name, one in gains(outcome).items()}
        print_json({"maps": maps, **asdict(outcome), "gains": compared})
    else:
        click.echo("\n".join((*_maps(errors), "", *_tables(outcome))))
    return 0


def _maps(errors: Iterable[MapError]) -> Iterator[str]:
    yield "inverting a known map: squared error, exact and measured"
    yield from columns(
        ("start", "exact", "measured"),
        [
            (each.start, f"{each.expected:.3f}", f"{each.measured:.3f} ± {each.error:.3f}")
            for each in errors
        ],
    )


def _tables(outcome: Outcome) -> Iterator[str]:
    """Tables of the descendants, the starts, the recall by pair, the costs and the updates."""
    from milepost_lab.stitch.outcome import ARMS, gains, mean_over_seeds, starts_of

    yield f"against the ancestor, {outcome.sentences} held-out sentences"
    yield from columns(
        ("arm", "blocks", "parameters", "MFLOP", "ms", "cosine", "recall@10", "sd"),
        [
            (
                row.arm,
                row.name,
                f"{row.parameters:,}",
                f"{row.operations / 1e6:.1f}",
                f"{row.milliseconds:.2f}",
                "–" if row.agreement is None else f"{row.agreement:.3f}",
                f"{row.recall:.3f}",
                f"{spread:.3f}",
            )
            for row, spread in mean_over_seeds(outcome, ARMS)
        ],
        left=2,
    )
    yield "\nstitched paths by initialization of the stitches: recall@10 (cosine)"
    yield from columns(
        ("start", "before", "after"),
        [
            (
                each.start,
                f"{each.before[1]:.3f} ({each.before[0]:+.3f})",
                f"{each.after[1]:.3f} ({each.after[0]:+.3f})",
            )
            for each in starts_of(outcome)
        ],
    )
    found = gains(outcome)
    if found:
        yield "\nless sn-net, recall@10, over trainings"
        yield from difference_lines(found, scale=1, digits=3)
    names, matrix = outcome.matrix
    yield "\nrecall@10 with documents by the row and questions by the column"
    yield from columns(
        ("", *names),
        [
            (name, *(f"{value:.3f}" for value in values))
            for name, values in zip(names, matrix, strict=True)
        ],
    )
    yield "\ntraining, in GFLOP a seed (the ancestor's reading once)"
    yield from columns(
        ("", "GFLOP"), [(name, f"{cost / 1e9:.1f}") for name, cost in outcome.costs.items()]
    )
    yield "\nsteps that trained each part of the pool, a seed"
    yield from columns(
        ("part", "steps"),
        [(name, f"{count:.1f}") for name, count in sorted(outcome.updates.items())],
    )
