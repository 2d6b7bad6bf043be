"""``milepost lab supernet``: where and how to halve, by supernets and by brute force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from milepost.console.columns import columns
from milepost.console.options import Interrupted, Settings, common, count_option, json_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost_lab.options import needs_torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from milepost_lab.supernet.architectures import Architecture
    from milepost_lab.supernet.study import ArchitectureRow, Method, Study


def _numbers(_: click.Context, __: click.Parameter, given: str) -> tuple[int, ...]:
    """Read whole numbers between commas."""
    try:
        return tuple(int(part) for part in given.split(","))
    except ValueError:
        raise click.BadParameter(f"{given!r} is not a list of numbers such as 1,2,4") from None


@click.command(
    "supernet",
    short_help="Where to halve: supernets against brute force.",
    epilog="""\b
Examples:
  milepost lab supernet
  milepost lab supernet --joins mean --joins max --seeds 3
  milepost lab supernet --task planted --seeds 3 --steps 300 --budget 2
  milepost lab supernet --task shapes --seeds 2 --json
  milepost lab supernet --supernets 1,2,4,8 --assign learnt --assign cost
""",
)
@click.option(
    "--task",
    type=click.Choice(["max-magnitude", "planted", "shapes"]),
    default="max-magnitude",
    help="Max-magnitude pairs, ordered motifs (both text) or textured discs (convolutions).",
)
@click.option(
    "--joins",
    type=click.Choice(["mean", "max", "attention"]),
    multiple=True,
    help="How a halving joins a pair; repeat for several. [default: all for max-magnitude, mean "
    "for planted, max for shapes]",
)
@click.option(
    "--supernets",
    default="1,2",
    callback=_numbers,
    metavar="N,…",
    help="Numbers of supernets to compare.",
)
@click.option(
    "--assign",
    "assignments",
    type=click.Choice(["learnt", "unbalanced", "fixed", "cost"]),
    multiple=True,
    default=("learnt", "fixed"),
    help="How architectures are assigned to nets; repeat for several.",
)
@count_option("--seeds", 2, "Runs of each method.")
@count_option("--steps", 250, "Training steps of one architecture alone.")
@count_option("--budget", 4, "Steps of a search, as a multiple of --steps.")
@json_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings,
    task: str,
    joins: tuple[str, ...],
    supernets: tuple[int, ...],
    assignments: tuple[str, ...],
    seeds: int,
    steps: int,
    budget: int,
    as_json: bool,
) -> int:
    """Rank placements of two halvings and their joins, and measure how correct each ranking is."""
    from milepost_lab.supernet.mixture import ASSIGNMENTS
    from milepost_lab.supernet.study import study

    with Counter(settings) as counter:
        try:
            made = study(
                task,
                supernets=tuple(dict.fromkeys(supernets)),  # each one once
                assignments=[each for each in ASSIGNMENTS if each in assignments],
                seeds=seeds,
                steps=steps,
                budget=budget,
                joins=tuple(dict.fromkeys(joins)),
                progress=counter.steps_of("steps"),
            )
        except KeyboardInterrupt:
            raise Interrupted("nothing is stored") from None
    if as_json:
        print_json(made.as_json())
    else:
        for line in _shown(made):
            click.echo(line)
    return 0


def _shown(made: Study) -> Iterator[str]:
    """Tables of architectures, of their parts, and of search methods."""
    yield from columns(
        ("architecture", "MACs", "accuracy", "Pareto"),
        [
            (
                _named(row),
                f"{row.macs:,}",
                f"{row.accuracy:.3f} ±{row.spread:.3f}",
                "yes" if row.worth else "",
            )
            for row in made.rows
        ],
    )
    yield ""
    if made.parts:
        yield from columns(
            ("all with", "mean", "best"),
            [(part.name, f"{part.mean:.3f}", f"{part.best:.3f}") for part in made.parts],
        )
        yield ""
    yield from columns(
        ("method", "steps", "tau", "95 %", "regret", "at cost", "picks"),
        [_cells(method) for method in made.methods],
    )
    if made.gaps:
        yield ""
        yield from columns(
            ("tau less that of 1 net", "mean", "95 %", "detectable"),
            [
                (
                    each.name,
                    f"{each.tau:+.2f}",
                    f"({each.low:+.2f} to {each.high:+.2f})",
                    f"{each.detectable:.2f}",
                )
                for each in made.gaps
            ],
        )


def _cells(method: Method) -> tuple[str, ...]:
    tau = interval = ""
    if method.tau is not None:
        tau, interval = f"{method.tau:+.2f}", f"[{method.low:+.2f}, {method.high:+.2f}]"
    return (
        method.name,
        f"{method.steps:,}",
        tau,
        interval,
        f"{method.regret:.3f}",
        f"{method.regret_at_cost:.3f}",
        ", ".join(map(_named, method.picks)),
    )


def _named(of: ArchitectureRow | Architecture) -> str:
    """``2 1 2 max mean``: layers at each resolution, the join of each halving."""
    return " ".join(map(str, (*of.placement, *of.joins)))
