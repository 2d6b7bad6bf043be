"""``milepost lab power``: the number of servers under one power budget, and the cost for jobs."""

from __future__ import annotations

from pathlib import Path

import click

from milepost.console.options import FILE, Settings, common, count_option, json_option, model_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost_lab.options import seed_option

NAMES = ("brake", "one-low", "one-all", "polca", "polca-kept", "in-band", "slow", "limit")
SWEEPS = ("delay", "hysteresis", "thresholds", "share", "bursts", "day", "faults")


@click.command(
    "power",
    short_help="Simulate searches and bulk indexing under one power budget.",
    epilog="""\b
Examples:
  milepost lab power
  milepost lab power --more 30 --controller polca --controller slow --report power.svg
  milepost lab power --sweep delay --more 20
  milepost lab power --live

\b
Searches and bulk indexing share a row of servers with more servers than its budget was planned
for. See docs/pooling/power.md.""",
)
@click.option(
    "--servers",
    type=click.IntRange(1, 10_000),
    default=40,
    help="Servers that the budget was planned for.",
)
@click.option(
    "--more",
    type=click.FloatRange(0, 400),
    metavar="PERCENT",
    help="Maximum share of additional servers. [default: 50; for --sweep 20]",
)
@click.option(
    "--share",
    type=click.FloatRange(0, 100),
    default=50,
    metavar="PERCENT",
    help="Share of the servers for bulk indexing.",
)
@click.option(
    "--watts",
    metavar="X",
    type=click.FloatRange(1),
    default=4200,
    help="Budget of a server in watts; a busy server draws 4,196.",
)
@click.option(
    "--minutes",
    metavar="X",
    type=click.FloatRange(0.5, 24 * 60),
    default=10,
    help="Simulated minutes, into which a day of traffic is compressed.",
)
@click.option(
    "--controller",
    "controllers",
    type=click.Choice(NAMES),
    multiple=True,
    help="A controller; repeat for several. [default: all; for --sweep polca and polca-kept]",
)
@click.option(
    "--sweep", type=click.Choice(SWEEPS), help="Vary a constant instead of the number of servers."
)
@count_option("--seeds", 5, "Runs of each row.")
@seed_option("The first seed.")
@click.option(
    "--speed",
    type=FILE,
    help="Record of the engine's speed. [default: lab/speed.json in Milepost's cache]",
)
@click.option("--measure", is_flag=True, help="Measure the engine's speed again.")
@click.option("--live", is_flag=True, help="Time real searches during real bulk indexing instead.")
@click.option("--report", type=FILE, help="Write the plot as SVG.")
@json_option
@model_option
@common
@click.pass_obj
def command(
    settings: Settings,
    servers: int,
    more: float | None,
    share: float,
    watts: float,
    minutes: float,
    controllers: tuple[str, ...],
    sweep: str | None,
    seeds: int,
    seed: int,
    speed: Path | None,
    measure: bool,
    live: bool,
    report: Path | None,
    as_json: bool,
    model: str | None,
) -> None:
    """Simulate a row of servers under a power budget with searches and bulk indexing.

    The engine's speed is measured first and stored.
    """
    from milepost._optional import require
    from milepost.engine.folder import cache_folder
    from milepost.writing import write_text
    from milepost_eval.report.outcome import as_markdown
    from milepost_eval.report.outcome_plot import plot
    from milepost_lab.power import report as reports
    from milepost_lab.power import sweeps
    from milepost_lab.power.speed import recorded
    from milepost_lab.power.study import FREE, Fleet, study
    from milepost_lab.power.traffic import Traffic

    if report is not None:
        require("matplotlib", extra="lab")  # not after all runs
    if live:
        from milepost_lab.power.live import contend

        phases = contend(model=model)
        if as_json:
            print_json(reports.contention_json(phases))
        else:
            click.echo(reports.contention(phases))
        return
    known = recorded(speed or cache_folder() / "lab" / "speed.json", model, again=measure)
    fleet = Fleet(
        known,
        servers=servers,
        provision=watts,
        share=share / 100,
        traffic=Traffic(window=60 * minutes),
        seeds=range(seed, seed + seeds),
    )
    most = (20.0 if sweep else 50.0) if more is None else more
    if sweep:
        across, fleets = sweeps.sweep(sweep, fleet, most / 100)
    else:
        across, fleets = "servers", list(sweeps.servers(fleet, most / 100))
    chosen = controllers or (("polca", "polca-kept") if sweep else (FREE, *NAMES))
    with Counter(settings) as counter:
        lines = study(fleets, chosen, counter.steps_of("power"))
    outcome = reports.outcome(lines, across, known, fleet.policy)
    if report is not None:
        write_text(report, plot(outcome))
    if as_json:
        given = {
            "servers": servers,
            "more": most,
            "share": share,
            "watts": watts,
            "minutes": minutes,
            "seeds": list(fleet.seeds),
        }
        print_json(reports.as_json(lines, across, known, given))
    else:
        click.echo(as_markdown(outcome))
