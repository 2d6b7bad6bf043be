"""``milepost lab search``: where to halve, found by nets that share weights, beside brute force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from milepost.cli.columns import columns
from milepost.cli.lab_options import needs_torch
from milepost.cli.options import Interrupted, Settings, common, count_option, json_option
from milepost.cli.progress import Counter
from milepost.cli.records import print_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from milepost.lab.supernet.study import Method, Study


def _numbers(_: click.Context, __: click.Parameter, given: str) -> tuple[int, ...]:
    """Read whole numbers between commas."""
    try:
        return tuple(int(part) for part in given.split(","))
    except ValueError:
        raise click.BadParameter(f"{given!r} is no row of numbers, as in 1,2,4") from None


@click.command(
    short_help="Where to halve: supernets against brute force.",
    epilog="""\b
Examples:
  milepost lab search
  milepost lab search --task shapes --seeds 2 --json
  milepost lab search --supernets 1,2,4,8 --assign learnt --assign cost
""",
)
@click.option(
    "--task",
    type=click.Choice(["planted", "shapes"]),
    default="planted",
    show_default=True,
    help="Motifs in order (text hierarchy), or textured discs (convolutions).",
)
@click.option(
    "--supernets",
    default="1,2,4",
    show_default=True,
    callback=_numbers,
    metavar="N,…",
    help="How many nets share the placements.",
)
@click.option(
    "--assign",
    "assignments",
    type=click.Choice(["learnt", "unbalanced", "fixed", "cost"]),
    multiple=True,
    default=("learnt", "fixed"),
    show_default=True,
    help="How placements come to nets; may be given several times.",
)
@count_option("--seeds", 3, "Runs of each.")
@count_option("--steps", 250, "Training of one placement alone.")
@count_option("--budget", 2, "A search takes N times those steps.")
@json_option
@common
@click.pass_obj
@needs_torch
def search(
    settings: Settings,
    task: str,
    supernets: tuple[int, ...],
    assignments: tuple[str, ...],
    seeds: int,
    steps: int,
    budget: int,
    as_json: bool,
) -> int:
    """Rank placements of two halvings among six layers, and say how right each ranking is."""
    from milepost.lab.supernet.mixture import ASSIGNMENTS
    from milepost.lab.supernet.study import study

    with Counter(settings) as counter:
        try:
            made = study(
                task,
                supernets=supernets,
                assignments=[each for each in ASSIGNMENTS if each in assignments],
                seeds=seeds,
                steps=steps,
                budget=budget,
                progress=counter.steps_of("steps"),
            )
        except KeyboardInterrupt:
            raise Interrupted("nothing is kept") from None
    if as_json:
        print_json(made.as_json())
    else:
        for line in _shown(made):
            click.echo(line)
    return 0


def _shown(made: Study) -> Iterator[str]:
    """A row a placement, then a row a way of finding one."""
    yield from columns(
        ("placement", "MACs", "accuracy", "worth its cost"),
        [
            (
                _placed(row.placement),
                f"{row.macs:,}",
                f"{row.accuracy:.3f} ±{row.spread:.3f}",
                "yes" if row.worth else "",
            )
            for row in made.rows
        ],
    )
    yield ""
    yield from columns(
        ("method", "steps", "tau", "95 %", "regret", "at cost", "picks"),
        [_cells(method) for method in made.methods],
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
        ", ".join(map(_placed, method.picks)),
    )


def _placed(placement: Iterable[int]) -> str:
    return " ".join(map(str, placement))
