"""The controller with two thresholds: readings in, commands out, without a clock and without I/O.

It follows POLCA (arXiv 2308.12908), which leaves some details open. They are decided here and
tested: a reading passes a threshold if it is greater, a command replaces a pending command of its
kind, and the second step of ``t2`` waits until the first has taken effect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from milepost.errors import InputError
from milepost_lab.power.policy import Policy

SECOND = 1_000_000
"""One second in microseconds. Times are whole microseconds, so that runs are reproducible."""

Target = Literal["low", "high", "brake"]
"""Receiver of a command: the clock of low or of high priority, or the brake of all."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command to a target.

    Attributes:
        time: when it is sent, in microseconds.
        target: the receiver.
        value: a clock in MHz; for the brake, 1 (on) or 0 (off).
    """

    time: int
    target: Target
    value: int


@dataclass(slots=True)
class _Line:
    """What the controller knows about a target; None if unknown."""

    wanted: int | None
    effective: int | None
    sent: int = 0
    due: int | None = None  # when the pending command takes effect
    landed: int = 0  # when the last command took effect


class Controller:
    """Decides at each tick; one object for each row of machines.

    Args:
        policy: its constants.
        known: False if the current caps are unknown because the controller was restarted while
            the machines kept running. It then sends all commands again, and lifts no cap before a
            reading is low.
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
        """Microseconds between a command and its effect."""
        brake = target == "brake"
        return round((self.policy.brake_delay if brake else self.policy.cap_delay) * SECOND)

    def effective(self, target: Target) -> int | None:
        """The value that should be in effect now; None if unknown."""
        return self._lines[target].effective

    def restarted(self) -> Controller:
        """A new controller of the same kind that does not know the current caps."""
        return type(self)(self.policy, known=False)

    def tick(self, now: int, reading: float | None) -> list[Command]:
        """Take a reading and decide on commands.

        Args:
            now: microseconds, not less than at the last tick.
            reading: power as a share of the budget; None, NaN and negative values count as missed.

        Returns:
            The commands to send, in order.

        Raises:
            InputError: ``now`` is less than at the last tick.
        """
        if now < self._now:
            raise InputError(f"tick at {now} µs after one at {self._now} µs", "a later time")
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
        self._land()  # commands without delay
        return sent

    def _land(self) -> None:
        for line in self._lines.values():
            if line.due is not None and line.due <= self._now:
                line.effective, line.landed, line.due = line.wanted, line.due, None

    def _level(self, reading: float | None) -> float | None:
        """The reading; just above ``t2`` after too many missed ones."""
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
            # A command that should show in the readings by now was lost.
            seen = brake.landed + round(self.policy.telemetry * SECOND)
            if brake.wanted != 1 or (brake.due is None and seen < self._now):
                return [self._order("brake", 1)]
        # A pending brake takes effect: it cannot be cancelled.
        elif level < self.policy.t2_ends and brake.wanted != 0 and brake.wanted == brake.effective:
            return [self._order("brake", 0)]
        return []

    def _braking(self) -> bool:
        """Whether readings may be low only because of the brake."""
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
        """Send old commands again.

        They do not count as pending, since the second step of ``t2`` would wait for each of them.
        None is sent before the last command has taken effect, because it would replace it.
        """
        period = round(self.policy.refresh * SECOND)
        repeated = []
        for target, line in self._lines.items():
            if not period or line.wanted is None or line.due is not None:
                continue
            if self._now - line.sent >= max(period, self.delay(target)):
                line.sent = self._now
                repeated.append(Command(self._now, target, line.wanted))
        return repeated

    def _order(self, target: Target, value: int) -> Command:
        line = self._lines[target]
        line.wanted, line.sent = value, self._now
        line.due = self._now + self.delay(target)
        return Command(self._now, target, value)
