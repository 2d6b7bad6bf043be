"""POLCA's controller (arXiv 2308.12908), and a row of servers under it.

    1. utilisation u = row watts / budget, seen 2 s late
    2. u > 0.80: low priority to 1275 MHz; u > 0.89: to 1110 MHz, then high priority to 1305 MHz
    3. released five points lower, a step at a time; u >= 1: brake all within 5 s
    4. commands out of band take 40 s
    5. watts of a busy server = idle + (peak - idle) (f / 1410)²

The paper leaves open what "uncap" restores: full release oscillates for ever under constant load
(a test shows it), so release goes one step. Everything here is simulated; nothing reads a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FULL, HIGH, FIRST, SECOND, BRAKED = 1410, 1305, 1275, 1110, 288
"""Clocks in MHz: no cap, high priority, low priority in two steps, under the brake."""
T1, T2, GAP = 0.80, 0.89, 0.05
Kind = Literal["LP", "HP", "brake"]


@dataclass(slots=True)
class Controller:
    """Equations 1 to 4; ``tick`` is called every two seconds with what is observed.

    Attributes:
        delay: seconds until a clock changes.
        brake_delay: seconds until the brake holds.
        t1, t2: thresholds; 1 or more turns a step off.
        gap: how much lower a cap is released.
        full_release: release the low priority at once, as one reading of the paper has it.
        caps_all: cap both priorities at ``t1``: a baseline.
        clocks: effective clock of each priority.
        log: every command: time, kind, clock.
    """

    delay: float = 40.0
    brake_delay: float = 5.0
    t1: float = T1
    t2: float = T2
    gap: float = GAP
    full_release: bool = False
    caps_all: bool = False
    clocks: dict[Kind, int] = field(default_factory=lambda: {"LP": FULL, "HP": FULL})
    braked: bool = False
    log: list[tuple[float, Kind, int]] = field(default_factory=list)
    _wanted: dict[Kind, int] = field(default_factory=lambda: {"LP": FULL, "HP": FULL, "brake": 0})
    _flight: dict[Kind, tuple[float, int]] = field(default_factory=dict)
    _since: float = -1.0

    def tick(self, now: float, seen: float) -> None:
        """Land due commands, then decide on what is seen, in the order of the facts page."""
        for kind, (due, clock) in list(self._flight.items()):
            if due <= now:
                del self._flight[kind]
                if kind == "brake":
                    self.braked = bool(clock)
                else:
                    self.clocks[kind] = clock
                    if kind == "LP":
                        self._since = due
        if seen >= 1 and not self._wanted["brake"]:
            self._send(now, "brake", 1, self.brake_delay)
        elif self._wanted["brake"] and seen < self.t2 - self.gap:
            self._send(now, "brake", 0, self.brake_delay)
        low = self._wanted["LP"]
        if seen > self.t2:
            landed = self.clocks["LP"] == SECOND and self._since < now
            if low != SECOND:
                self._send(now, "LP", SECOND)
            elif landed and self._wanted["HP"] != HIGH:
                self._send(now, "HP", HIGH)
        elif seen > self.t1 and low == FULL:
            self._send(now, "LP", FIRST)
            if self.caps_all:
                self._send(now, "HP", FIRST)
        if seen < self.t2 - self.gap:
            if self._wanted["HP"] == HIGH:
                self._send(now, "HP", FULL)
            if self._wanted["LP"] == SECOND and seen >= self.t1 - self.gap:
                self._send(now, "LP", FULL if self.full_release else FIRST)
        if seen < self.t1 - self.gap:
            for kind in ("LP", "HP"):
                if self._wanted[kind] != FULL:
                    self._send(now, kind, FULL)

    def clock(self, kind: Kind) -> int:
        """The clock that servers of a priority run at."""
        return BRAKED if self.braked else self.clocks[kind]

    def _send(self, now: float, kind: Kind, clock: int, delay: float | None = None) -> None:
        self._wanted[kind] = clock
        self._flight[kind] = (now + (self.delay if delay is None else delay), clock)
        self.log.append((now, kind, clock))


@dataclass(frozen=True, slots=True)
class Row:
    """A row of servers that embed: every job reads, so a busy server draws its peak.

    Attributes:
        servers: how many, against ``planned`` of the budget.
        planned: servers that the budget was made for.
        bulk: share of them that index in bulk, with low priority.
        idle, peak: watts of a server.
        planned_watts: of each planned server.
        busy: mean share of high-priority servers that are busy.
        swing: how much that share follows the day, 0 to 1.
        noise: standard deviation of that share from tick to tick.
    """

    servers: int = 40
    planned: int = 40
    bulk: float = 0.5
    idle: float = 1500.0
    peak: float = 4196.0
    planned_watts: float = 5800.0
    busy: float = 0.5
    swing: float = 0.4
    noise: float = 0.05

    @property
    def budget(self) -> float:
        """Watts of the row."""
        return self.planned * self.planned_watts

    def watts(self, high: float, low: float, clocks: tuple[int, int]) -> float:
        """Equation 5: shares of busy servers of high and low priority, and their clocks."""
        parts = ((high, 1 - self.bulk, clocks[0]), (low, self.bulk, clocks[1]))
        return self.servers * sum(
            share * (self.idle + busy * (self.peak - self.idle) * (clock / FULL) ** 2)
            for busy, share, clock in parts
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a simulated stretch of time came to.

    Attributes:
        brakes: how often the brake was sent.
        over: seconds over the budget.
        highest: utilisation.
        slowdown: time of a search over its time at full clock, median and 99th percentile.
        bulk: work of the bulk jobs, as a share of what full clocks would have done.
    """

    brakes: int
    over: float
    highest: float
    slowdown: tuple[float, float]
    bulk: float


def simulate(
    row: Row, controller: Controller, seed: int, seconds: int = 600, telemetry: float = 2.0
) -> Outcome:
    """Run a row for a day that is squeezed into ``seconds``, in ticks of two seconds.

    Args:
        row: the servers.
        controller: is changed in place.
        seed: of arrivals.
        seconds: of simulated time.
        telemetry: seconds that what is seen is late.
    """
    rng = np.random.default_rng(seed)
    ticks, late = seconds // 2, max(1, int(telemetry // 2))
    day = np.sin(2 * np.pi * np.arange(ticks) / ticks)
    shares: NDArray[np.float64] = row.busy * (1 + row.swing * day)
    shares = np.clip(shares + row.noise * rng.standard_normal(ticks), 0, 1)
    seen: list[float] = []
    speeds, work = np.zeros(ticks), 0.0
    for tick in range(ticks):
        if tick >= late:
            controller.tick(2.0 * tick, seen[tick - late])
        clocks = controller.clock("HP"), controller.clock("LP")
        seen.append(row.watts(float(shares[tick]), 1.0, clocks) / row.budget)
        speeds[tick] = clocks[0] / FULL
        work += clocks[1] / FULL / ticks
    slow = np.repeat(1 / speeds, np.maximum(1, (100 * shares).astype(int)))
    high = np.array(seen)
    return Outcome(
        sum(kind == "brake" and clock == 1 for _, kind, clock in controller.log),
        2.0 * float((high > 1).sum()),
        float(high.max()),
        (float(np.median(slow)), float(np.quantile(slow, 0.99))),
        work,
    )


def never() -> Controller:
    """No cap: thresholds out of reach; the brake stays."""
    return Controller(t1=9.0, t2=9.0)


POLICIES: dict[str, Callable[[], Controller]] = {
    "no cap": never,
    "one threshold, low": lambda: Controller(t2=9.0),
    "one threshold, all": lambda: Controller(t2=9.0, caps_all=True),
    "POLCA": Controller,
    "POLCA, live delays": lambda: Controller(delay=0.5, brake_delay=0.5),
}
