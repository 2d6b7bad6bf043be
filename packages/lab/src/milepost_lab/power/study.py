"""``milepost lab power``: searches and bulk indexing under one power budget."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from statistics import fmean
from typing import Any

import click

from milepost_eval.statistics import interval
from milepost_lab.power.model import POLICIES, Row, simulate
from milepost_lab.runner import Lines, Report, Run, study


@study(
    "power",
    "Simulate searches and bulk indexing under one power budget.",
    "milepost lab power --more 0 --more 30 --seeds 20",
    seeds=5,
)
@click.option(
    "--more",
    type=click.IntRange(0, 100),
    multiple=True,
    default=(0, 10, 20, 30),
    help="Servers beyond those planned, per cent.",
)
@click.option("--bulk", type=click.FloatRange(0, 1), default=0.5, help="Share that indexes.")
@click.option("--busy", type=click.FloatRange(0, 1), default=0.5, help="Of search servers.")
@click.option("--seconds", type=click.IntRange(min=10), default=600, help="Simulated.")
def command(run: Run, more: tuple[int, ...], bulk: float, busy: float, seconds: int) -> Report:
    """Add servers to a row planned for 40, half of which index in bulk with low priority.

    An encoder only reads: the paper's headroom, servers that decode, is not there.
    """
    rows: list[dict[str, Any]] = []
    for policy in POLICIES:
        for extra in more:
            row = Row(servers=round(40 * (1 + extra / 100)), bulk=bulk, busy=busy)
            name = f"{policy}-{extra}".replace(" ", "-").replace(",", "")
            found = run.per_seed(name, partial(_one, policy, row, seconds))
            rows.append(
                {
                    "policy": policy,
                    "more servers, %": extra,
                    "brakes": interval([each["brakes"] for each in found]),
                    "seconds over": fmean(each["over"] for each in found),
                    "search P50": fmean(each["slowdown"][0] for each in found),
                    "search P99": fmean(each["slowdown"][1] for each in found),
                    "bulk": fmean(each["bulk"] for each in found),
                }
            )
    return Report(rows, lines=Lines("more servers, %", "brakes", "policy"))


def _one(policy: str, row: Row, seconds: int, seed: int) -> dict[str, Any]:
    return asdict(simulate(row, POLICIES[policy](), seed, seconds))
