"""The controller in a process: bulk work pauses between batches, searches continue."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from milepost.errors import InputError
from milepost.govern.controller import SECOND, Controller
from milepost.govern.policy import LIVE, Policy
from milepost.govern.sensor import Sensor


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a governor.

    Attributes:
        share: the last reading, 1 is the whole budget; None if there is none.
        rate: speed of bulk work as a share of full speed.
        braked: whether bulk work is halted.
        searches: number of running searches.
        paused: total seconds that bulk work has waited.
        commands: number of commands of the controller so far.
    """

    share: float | None
    rate: float
    braked: bool
    searches: int
    paused: float
    commands: int


class Governor:
    """Delays bulk work so that searches are answered and a budget is kept.

        governor = Governor(open_sensor(cores=2))
        index.add("reports/", progress=governor.bulk())  # in one thread
        with governor.search():                          # in any other thread
            index.search("…")

    Low priority is bulk work: a batch of ``b`` seconds at rate ``r`` is followed by a pause of
    ``b (1/r - 1)``, and under the brake no batch begins. High priority is searches: they are never
    slowed; under the brake they start one at a time. Running batches and searches are never
    interrupted. The governor has no thread of its own: it advances when a method is called. Any
    method may be called from any thread.

    Args:
        sensor: measures the share of the budget; failed readings count as missed, see
            ``Policy.missed``.
        policy: constants of the controller.
        linger: seconds after a search in which no batch begins, because searches come in series.
        patience: maximum seconds that a batch waits for searches, and a search for another under
            the brake.
        least: minimum share of its speed that bulk work keeps, however many searches come: a
            batch waits for them at most ``1/least - 1`` times its own length.
        longest: maximum seconds that a pause or the brake holds a batch. A process must not hang
            because the budget is too small for its other work.

    Raises:
        InputError: a negative time, or a share outside 0 to 1.
    """

    def __init__(
        self,
        sensor: Sensor,
        policy: Policy = LIVE,
        *,
        linger: float = 0.25,
        patience: float = 2.0,
        least: float = 0.1,
        longest: float = 30.0,
    ) -> None:
        if min(linger, patience, longest) < 0:
            raise InputError("linger, patience or longest is negative", "0 or more seconds")
        if not 0 < least <= 1:
            raise InputError(f"least = {least}", "more than 0, at most 1")
        self._sensor = sensor
        self._controller = Controller(policy)
        self._linger, self._patience, self._longest = linger, patience, longest
        self._yields = 1.0 / least - 1.0
        self._gate = threading.Condition()
        self._begun = time.monotonic()
        self._ticked = self._searched = -float("inf")
        self._searches = self._commands = 0
        self._paused = 0.0
        self._share: float | None = None

    @contextmanager
    def search(self) -> Iterator[None]:
        """Run a search: no batch begins inside this block."""
        with self._gate:
            begun = self._tick()
            while self._braked and self._searches and self._tick() - begun < self._patience:
                self._gate.wait(self._controller.policy.tick)
            self._searches += 1
        try:
            yield
        finally:
            with self._gate:
                self._searches -= 1
                self._searched = time.monotonic()
                self._gate.notify_all()

    def batch(self, seconds: float) -> float:
        """Call after each batch of bulk work; returns when the next batch may begin.

        Args:
            seconds: duration of the batch.

        Returns:
            Seconds waited.
        """
        with self._gate:
            begun = self._tick()
            took = max(0.0, seconds)
            due = begun + min(self._longest, took * (1.0 / self._rate - 1.0))
            yielded = begun + min(self._patience, took * self._yields)
            while (left := self._left(begun, due, yielded)) > 0:
                self._gate.wait(left)
            waited = time.monotonic() - begun
            self._paused += waited
        return waited

    def bulk(self) -> Callable[..., None]:
        """A callback to call between batches: ``progress`` of ``Index.add`` or ``Encoder.encode``.

        It measures the batches itself, from the end of one call to the next. Make one callback for
        each thread of bulk work.
        """
        since = time.monotonic()

        def between(*_: object) -> None:
            nonlocal since
            self.batch(time.monotonic() - since)
            since = time.monotonic()

        return between

    def status(self) -> Status:
        """The current state; changes nothing."""
        with self._gate:
            return Status(
                self._share, self._rate, self._braked, self._searches, self._paused, self._commands
            )

    @property
    def _rate(self) -> float:
        policy = self._controller.policy
        return (self._controller.effective("low") or policy.low) / policy.top

    @property
    def _braked(self) -> bool:
        return self._controller.effective("brake") == 1

    def _left(self, begun: float, due: float, yielded: float) -> float:
        """Seconds to wait before the next check; 0 if a batch may begin.

        Args:
            begun: when the wait began.
            due: when the pause for the rate ends.
            yielded: latest time until which it waits for searches.
        """
        now = self._tick()
        if now < due:
            return due - now
        if self._braked and now - begun < self._longest:
            return min(self._controller.policy.tick, begun + self._longest - now)
        until = yielded if self._searches else min(yielded, self._searched + self._linger)
        return until - now

    def _tick(self) -> float:
        """Advance the controller if a tick is due; return the time."""
        now = time.monotonic()
        if now - self._ticked >= self._controller.policy.tick:
            self._ticked = now
            self._share = self._sensor.share(now)
            commands = self._controller.tick(round((now - self._begun) * SECOND), self._share)
            self._commands += len(commands)
        return now
