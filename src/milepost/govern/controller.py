"""The controller of two thresholds: readings in, commands out, no clock and no I/O of its own.

Reference reading of POLCA (arXiv 2308.12908), which leaves several things open; each is settled
here in one way and tested: a threshold is passed by what is greater than it, a command replaces
the one of its kind that is on its way, the second step of ``t2`` waits until the first has landed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from milepost.errors import InputError
from milepost.govern.policy import Policy

SECOND = 1_000_000
"""Microseconds: time is counted in whole ones, so that the same run gives the same commands."""

Target = Literal["low", "high", "brake"]
"""Who is ordered: the clock of low or of high priority, or everybody's brake."""


@dataclass(frozen=True, slots=True)
class Command:
    """An order.

    Attributes:
        time: when it is sent, microseconds.
        target: who is ordered.
        value: a clock in MHz; for the brake 1 (on) or 0 (off).
    """

    time: int
    target: Target
    value: int


@dataclass(slots=True)
class _Line:
    """What the controller knows of a target; None: nothing."""

    wanted: int | None
    effective: int | None
    sent: int = 0
    due: int | None = None  # of the command on its way
    landed: int = 0  # when the last one came into effect


class Controller:
    """Decides tick by tick; one object a row.

    Args:
        policy: its constants.
        known: False where what is in force is not known: the controller was started anew while
            the machines went on. It then orders afresh, and lifts nothing before a reading is low.
    """

    def __init__(self, policy: Policy, *, known: bool = True) -> None:
        self.policy = policy
        clock = policy.top if known else None
        self._lines: dict[Target, _Line] = {
            "low": _Line(clock, clock),
            "high": _Line(clock, clock),
            "brake": _Line(0 if known else None, 0 if known else None),
        }
        self._now = 0
        self._missed = 0

    def delay(self, target: Target) -> int:
        """Microseconds from a command to its effect."""
        brake = target == "brake"
        return round((self.policy.brake_delay if brake else self.policy.cap_delay) * SECOND)

    def effective(self, target: Target) -> int | None:
        """What should be in force by now; None where it is not known."""
        return self._lines[target].effective

    def restarted(self) -> Controller:
        """A new one of the same kind that knows nothing of what is in force."""
        return type(self)(self.policy, known=False)

    def tick(self, now: int, reading: float | None) -> list[Command]:
        """Decide.

        Args:
            now: microseconds, never less than at the last tick.
            reading: drawn power as a share of the budget; None, NaN or less than 0 is a reading
                that was missed.

        Returns:
            Commands to send, in order.

        Raises:
            InputError: time goes backwards.
        """
        if now < self._now:
            raise InputError(f"a tick at {now} µs after one at {self._now} µs", "go forwards")
        self._now = now
        self._land()
        level = self._level(reading)
        sent: list[Command] = []
        if level is not None:
            sent += self._brake(level)
            sent += self._caps(level)
            if not (self.policy.keep_caps and self._braking()):
                sent += self._ends(level)
        sent += self._again()
        self._land()  # what takes no time
        return sent

    def _land(self) -> None:
        for line in self._lines.values():
            if line.due is not None and line.due <= self._now:
                line.effective, line.landed, line.due = line.wanted, line.due, None

    def _level(self, reading: float | None) -> float | None:
        """The reading; after too many missed ones, just above ``t2``."""
        if reading is not None and math.isfinite(reading) and reading >= 0:
            self._missed = 0
            return reading
        self._missed += 1
        if self._missed < self.policy.missed:
            return None
        return math.nextafter(self.policy.t2, math.inf)

    def _brake(self, level: float) -> list[Command]:
        brake = self._lines["brake"]
        if level >= self.policy.limit:
            # One that has landed, and had time to show in the readings, was lost.
            seen = brake.landed + round(self.policy.telemetry * SECOND)
            if brake.wanted != 1 or (brake.due is None and seen < self._now):
                return [self._order("brake", 1)]
        # A brake on its way is let land: it cannot be called back.
        elif level < self.policy.t2_ends and brake.wanted != 0 and brake.wanted == brake.effective:
            return [self._order("brake", 0)]
        return []

    def _braking(self) -> bool:
        """Whether readings may still be low because of the brake alone."""
        brake = self._lines["brake"]
        seen = brake.landed + round(self.policy.telemetry * SECOND)
        return bool(brake.wanted or brake.effective or (brake.landed and self._now <= seen))

    def _caps(self, level: float) -> list[Command]:
        policy, low, high = self.policy, self._lines["low"], self._lines["high"]
        if level > policy.t2:
            if low.wanted != policy.low:
                return [self._order("low", policy.low)]
            landed = low.due is None and low.landed < self._now
            if landed and high.wanted != policy.high:
                return [self._order("high", policy.high)]
        elif level > policy.t1 and low.wanted in (policy.top, None):
            return [self._order("low", policy.step)]
        return []

    def _ends(self, level: float) -> list[Command]:
        policy, low, sent = self.policy, self._lines["low"], []
        if level < policy.t2_ends:
            if self._lines["high"].wanted != policy.top:
                sent.append(self._order("high", policy.top))
            if low.wanted in (policy.low, None) and level >= policy.t1_ends:
                sent.append(self._order("low", policy.step if policy.one_step else policy.top))
        if level < policy.t1_ends and low.wanted != policy.top:
            sent.append(self._order("low", policy.top))
        return sent

    def _again(self) -> list[Command]:
        """What was ordered long ago, once more.

        It does not count as on its way: the second step of ``t2`` would wait for it to land, again
        and again. Nor does it go out before the last one has landed, which it would replace.
        """
        period = round(self.policy.refresh * SECOND)
        found = []
        for target, line in self._lines.items():
            if not period or line.wanted is None or line.due is not None:
                continue
            if self._now - line.sent >= max(period, self.delay(target)):
                line.sent = self._now
                found.append(Command(self._now, target, line.wanted))
        return found

    def _order(self, target: Target, value: int) -> Command:
        line = self._lines[target]
        line.wanted, line.sent = value, self._now
        line.due = self._now + self.delay(target)
        return Command(self._now, target, value)
