"""``milepost lab search``: where to halve, found by nets that share weights, beside brute force."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from milepost.cli.options import Interrupted, Settings, common, count_option, json_option
from milepost.cli.progress import Counter

if TYPE_CHECKING:
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
    from milepost._optional import require

    require("torch", extra="train")
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
                progress=lambda what, done, of: counter(what, "steps", done, of),
            )
        except KeyboardInterrupt:
            raise Interrupted("nothing is kept") from None
    if as_json:
        click.echo(json.dumps(made.as_json(), indent=2))
    else:
        _show(made)
    return 0


def _show(made: Study) -> None:
    click.echo("placement     MACs       accuracy  worth its cost")
    for row in made.rows:
        name = " ".join(map(str, row.placement))
        worth = "yes" if row.worth else ""
        click.echo(f"{name:<10}{row.macs:>9,}  {row.accuracy:.3f} ±{row.spread:.3f}  {worth}")
    click.echo()
    click.echo("method                  steps   tau  95 %              regret  at cost  picks")
    for method in made.methods:
        click.echo(_line(method))


def _line(method: Method) -> str:
    tau = " " * 25
    if method.tau is not None:
        tau = f"{method.tau:+.2f}  [{method.low:+.2f}, {method.high:+.2f}]".ljust(25)
    picks = ", ".join(" ".join(map(str, pick)) for pick in method.picks)
    return (
        f"{method.name:<21}{method.steps:>8,}  {tau}{method.regret:.3f}    "
        f"{method.regret_at_cost:.3f}  {picks}"
    ).rstrip()
