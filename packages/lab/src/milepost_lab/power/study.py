"""Many runs: controllers and fleets beside each other, same jobs, with intervals over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from milepost.errors import InputError, nearest
from milepost_eval.report.outcome import Figure
from milepost_eval.statistics import interval
from milepost_lab.power.controller import Controller
from milepost_lab.power.controllers import OneForAll, OneThreshold, Slow, Uncapped
from milepost_lab.power.faults import NONE, Faults
from milepost_lab.power.measured import Run, nearest_rank
from milepost_lab.power.policy import LIVE, PAPER, Policy
from milepost_lab.power.row import ServerRow
from milepost_lab.power.server import Server
from milepost_lab.power.speed import Speed
from milepost_lab.power.traffic import Traffic

Progress = Callable[[str, int, int], None]
"""Called with what is run, runs done and runs in all."""

FREE = "no budget"
"""The reference: the same servers and jobs, nothing capped, nothing braked."""

CONTROLLERS: dict[str, str] = {
    FREE: "reference: nothing is capped or braked",
    "brake": "the brake alone",
    "one-low": "one threshold (t2), low priority to its lowest clock",
    "one-all": "one threshold (t2), both classes to the lowest clock",
    "polca": "two thresholds, clocks set out of band",
    "polca-kept": "the same, no cap lifted by the brake's own low readings",
    "in-band": "polca-kept with the delays of a process that slows itself",
    "slow": "low priority at its lowest clock always",
    "limit": "no clocks: one queue, a limit on jobs of bulk indexing",
}
"""Name → what it does."""

METRICS = (
    "search P50",
    "search P99",
    "bulk P50",
    "bulk P99",
    "work",
    "J a second of work",
    "brakes",
    "s over",
)
"""Slowdowns against the reference; work done in the window against it; energy; counts."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """A row and what it is asked to do.

    Attributes:
        speed: of the engine, measured.
        server: watts and speed of a server.
        servers: that the budget was made for.
        provision: watts of budget a server; what it draws when busy is what a fleet that is all
            prompt can be sure of.
        share: of servers that are for bulk indexing.
        traffic: jobs; loads are a server's, so more servers are asked to do more.
        policy: constants of the controllers; ``in-band`` takes thresholds alone from it.
        faults: what goes wrong.
        seeds: one run each.

    Raises:
        InputError: no servers, a share out of 0 to 1, no seeds.
    """

    speed: Speed
    server: Server = field(default_factory=Server)
    servers: int = 40
    provision: float = 4200.0
    share: float = 0.5
    traffic: Traffic = field(default_factory=Traffic)
    policy: Policy = PAPER
    faults: Faults = NONE
    seeds: Sequence[int] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if self.servers < 1 or not 0 <= self.share <= 1 or not self.seeds:
            raise InputError(
                f"{self.servers} servers, a share of {self.share}, {len(self.seeds)} seeds",
                "give 1 server or more, a share of 0 to 1, 1 seed or more",
            )

    @property
    def budget(self) -> float:
        """Watts of the row."""
        return self.servers * self.provision

    def sized(self, more: float) -> tuple[int, int]:
        """Servers of searches and of bulk indexing, with a share more than the budget's."""
        count = round(self.servers * (1.0 + more))
        low = round(count * self.share)
        return count - low, low

    def limit(self, more: float) -> int:
        """Jobs of bulk indexing at a time for which the budget has room at full clocks.

        What searches keep busy at the busiest time, and three times its square root for chance,
        is left for them.
        """
        high, low = self.sized(more)
        room = (self.budget - (high + low) * self.server.idle) / self.server.extra(self.server.top)
        busy = self.traffic.high_load * (1.0 + self.traffic.swing) * high
        return max(1, math.floor(room) - math.ceil(busy + 3.0 * math.sqrt(busy)))

    def run(self, more: float, controller: str, seed: int) -> Run:
        """One run.

        Raises:
            InputError: there is no such controller.
        """
        if controller not in CONTROLLERS:
            raise InputError(
                f"unknown controller {controller!r}",
                f"{nearest(controller, CONTROLLERS)}one of {', '.join(CONTROLLERS)}",
            )
        high, low = self.sized(more)
        row = ServerRow(
            self.server,
            high,
            low,
            self.budget,
            _made(controller, self.policy),
            limit=self.limit(more) if controller == "limit" else None,
            faults=self.faults,
            seed=seed,
        )
        jobs = self.traffic.streams(high, low, self.speed, seed)
        return row.run(*jobs, self.traffic.window)


def _made(name: str, policy: Policy) -> Controller:
    if name == FREE:
        return Uncapped(replace(policy, limit=math.inf))
    if name == "in-band":
        return Controller(replace(LIVE, t1=policy.t1, t2=policy.t2, hysteresis=policy.hysteresis))
    if name == "polca-kept":
        return Controller(replace(policy, keep_caps=True))
    kinds: dict[str, type[Controller]] = {
        "one-low": OneThreshold,
        "one-all": OneForAll,
        "polca": Controller,
        "slow": Slow,
    }
    return kinds.get(name, Uncapped)(policy)


@dataclass(frozen=True, slots=True)
class Line:
    """One controller on one fleet.

    Attributes:
        label: what is varied, e.g. ``+30 %``.
        controller: its name.
        figures: metric → one figure a seed, see ``METRICS``.
        seconds: the same for latencies in seconds: ``search P50`` … ``bulk P99``.
        rise: of the reference: largest rise of drawn power, as a share of the budget, within the
            time that a cap takes, a figure a seed.
    """

    label: str
    controller: str
    figures: Mapping[str, tuple[float, ...]]
    seconds: Mapping[str, tuple[float, ...]]
    rise: tuple[float, ...]

    def figure(self, metric: str) -> Figure | None:
        """Mean over seeds with its interval; None where a seed has no figure."""
        values = self.figures[metric]
        if not all(map(math.isfinite, values)):
            return None
        low, high = interval(values, [str(seed) for seed in range(len(values))])
        return Figure(math.fsum(values) / len(values), low, high, "number")

    @property
    def kept(self) -> bool:
        """Whether the paper's targets hold on average.

        Searches slower by less than 1 % at P50 and 5 % at P99, bulk indexing by less than 5 % and
        50 %, no brake.
        """
        most = {"search P50": 1.01, "search P99": 1.05, "bulk P50": 1.05, "bulk P99": 1.5}
        means = {name: sum(values) / len(values) for name, values in self.figures.items()}
        slow = any(means[name] >= bound for name, bound in most.items())
        return not slow and means["brakes"] == 0


def study(
    fleets: Iterable[tuple[str, Fleet, float]],
    controllers: Sequence[str],
    progress: Progress | None = None,
) -> list[Line]:
    """Run every controller on every fleet, on the same jobs.

    Args:
        fleets: label, fleet, and the share of servers it has more than its budget was made for.
        controllers: names, see ``CONTROLLERS``; the reference is always run.
        progress: told before each run.

    Returns:
        A line a fleet and controller.

    Raises:
        InputError: there is no such controller.
    """
    given, lines = list(fleets), []
    wanted = list(dict.fromkeys(controllers))
    of = sum(
        len(fleet.seeds) * (1 + len([n for n in wanted if n != FREE])) for _, fleet, _ in given
    )
    done = 0

    def runs(label: str, fleet: Fleet, more: float, name: str) -> list[Run]:
        nonlocal done
        made = []
        for seed in fleet.seeds:
            if progress is not None:
                progress(f"{label} {name}", done, of)
            made.append(fleet.run(more, name, seed))
            done += 1
        return made

    for label, fleet, more in given:
        reference = runs(label, fleet, more, FREE)
        for name in wanted:
            met = reference if name == FREE else runs(label, fleet, more, name)
            lines.append(_line(label, name, fleet, met, reference))
    return lines


def _line(
    label: str, name: str, fleet: Fleet, runs: Sequence[Run], reference: Sequence[Run]
) -> Line:
    seconds, free = [_latencies(run) for run in runs], [_latencies(run) for run in reference]
    figures = {
        metric: tuple(
            mine[metric] / its[metric] if its[metric] else math.nan
            for mine, its in zip(seconds, free, strict=True)
        )
        for metric in METRICS[:4]
    }
    figures["work"] = tuple(
        mine.done / its.done if its.done else math.nan
        for mine, its in zip(runs, reference, strict=True)
    )
    figures["J a second of work"] = tuple(
        run.energy / run.done if run.done else math.nan for run in runs
    )
    figures["brakes"] = tuple(float(run.brakes) for run in runs)
    figures["s over"] = tuple(run.over for run in runs)
    window = fleet.policy.telemetry + fleet.policy.cap_delay
    return Line(
        label=label,
        controller=name,
        figures=figures,
        seconds={metric: tuple(each[metric] for each in seconds) for metric in METRICS[:4]},
        rise=tuple(run.rise(window) / fleet.budget for run in reference),
    )


def _latencies(run: Run) -> dict[str, float]:
    return {
        f"{name} P{percent}": nearest_rank(values, percent / 100)
        for name, values in (("search", run.high), ("bulk", run.low))
        for percent in (50, 99)
    }
