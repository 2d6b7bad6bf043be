"""A row of servers under one budget, event by event; no wall clock, one generator a seed.

Events lie on a heap by (whole microsecond, number), so what happens at one moment happens in the
order in which it was planned, on every machine alike.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from milepost.errors import InputError
from milepost_lab.power.controller import SECOND, Command, Controller, Target
from milepost_lab.power.faults import NONE, Faults
from milepost_lab.power.measured import Run
from milepost_lab.power.server import Server

if TYPE_CHECKING:
    from milepost_lab.power.traffic import Jobs

HIGH, LOW = 0, 1
"""Searches and bulk indexing: classes of jobs, and of the servers that are theirs."""


class ServerRow:
    """Servers, their queues and clocks; for one run.

    Args:
        server: what each of them is.
        high: servers of searches.
        low: servers of bulk indexing.
        budget: watts of the row.
        controller: gets readings and sends commands.
        limit: None where each class has its own servers; else every server takes both, first
            come first served, with so many jobs of bulk indexing at a time at most.
        faults: what goes wrong.
        seed: of the faults.

    Raises:
        InputError: no servers, no budget, or a limit that lets nothing in.
    """

    def __init__(
        self,
        server: Server,
        high: int,
        low: int,
        budget: float,
        controller: Controller,
        *,
        limit: int | None = None,
        faults: Faults = NONE,
        seed: int = 0,
    ) -> None:
        import numpy as np

        if min(high, low) < 0 or not high + low or not 0 < budget < math.inf:
            raise InputError(f"a row of {high} and {low} servers with {budget} W", "give some")
        if limit is not None and limit < 1:
            raise InputError(f"at most {limit} jobs of bulk indexing at a time", "give 1 or more")
        self._server, self._budget, self._limit = server, budget, limit
        self._controller, self._faults = controller, faults
        self._random = np.random.default_rng((seed, 2))
        count = high + low
        # Where all servers are one pool they all belong to the first.
        self._pool = [HIGH if limit is not None or n < high else LOW for n in range(count)]
        self._idle = [[n for n in reversed(range(count)) if self._pool[n] == p] for p in (0, 1)]
        self._left = [0.0] * count  # microseconds at the full clock
        self._since = [0] * count  # when that was true
        self._version = [0] * count  # of the plan when its job ends
        self._job: list[tuple[int, int] | None] = [None] * count
        self._clock = [server.top, server.top]
        self._braked = False
        self._rate = [1.0, 1.0]
        self._extra = [server.extra(server.top)] * 2
        self._busy = [0, 0]
        self._watts = self._base = count * server.idle
        self._queues: tuple[deque[int], deque[int]] = (deque(), deque())
        self._running_low = 0
        self._events: list[tuple[int, int, Callable[[int, int], None], int]] = []
        self._planned = 0
        self._seen = 0  # the newest sample that has reached the controller
        self._serial: dict[Target, int] = {"low": 0, "high": 0, "brake": 0}
        self._on_their_way: dict[int, tuple[Command, int]] = {}
        self._restarts = deque(sorted(round(at * SECOND) for at in faults.restarts))

    def run(self, searches: Jobs, documents: Jobs, window: float) -> Run:
        """Serve all jobs.

        Args:
            searches: jobs of high priority.
            documents: jobs of low priority.
            window: seconds that energy, time over budget, brakes and work done are counted in;
                the row goes on until every job is done, and every job's latency counts.

        Raises:
            InputError: there are jobs of a class that has no servers.
        """
        given = (searches, documents)
        for kind, jobs in enumerate(given):
            if len(jobs.times) and self._limit is None and kind not in self._pool:
                raise InputError("jobs of a class that has no servers", "give it servers, or limit")
        self._end, self._at = round(window * SECOND), 0
        self._times = [jobs.times.tolist() for jobs in given]
        self._work = [jobs.work.tolist() for jobs in given]
        self._ended = [[0] * len(times) for times in self._times]
        self._open = sum(map(len, self._times))
        self._energy, self._over, self._worked = 0.0, 0, 0.0
        self._samples: list[tuple[int, float]] = []
        self._commands: list[Command] = []
        for kind, times in enumerate(self._times):
            if times:
                self._plan(times[0], self._arrive if kind == HIGH else self._arrive_low, 0)
        self._plan(0, self._tick, 0)
        while self._events:
            now, _, happen, what = heappop(self._events)
            happen(now, what)
        self._account(self._end)
        return Run.of(
            given,
            self._ended,
            window=window,
            samples=self._samples,
            commands=self._commands,
            energy=self._energy / SECOND,
            over=self._over / SECOND,
            worked=self._worked,
        )

    def _plan(self, time: int, happen: Callable[[int, int], None], what: int) -> None:
        self._planned += 1
        heappush(self._events, (time, self._planned, happen, what))

    def _account(self, now: int) -> None:
        """Count what was drawn since the last change, inside the window."""
        until = min(now, self._end)
        if until > self._at:
            passed = until - self._at
            self._energy += passed * self._watts
            if self._watts > self._budget:
                self._over += passed
            self._at = until

    def _draw(self) -> None:
        busy, extra = self._busy, self._extra
        self._watts = self._base + busy[HIGH] * extra[HIGH] + busy[LOW] * extra[LOW]

    def _arrive(self, now: int, number: int) -> None:
        self._enter(now, HIGH, number, self._arrive)

    def _arrive_low(self, now: int, number: int) -> None:
        self._enter(now, LOW, number, self._arrive_low)

    def _enter(self, now: int, kind: int, number: int, then: Callable[[int, int], None]) -> None:
        times = self._times[kind]
        # All that arrive at this moment do so before anything else that happens in it.
        while number < len(times) and times[number] == now:
            self._queues[kind].append(number)
            number += 1
        if number < len(times):
            self._plan(times[number], then, number)
        self._dispatch(now, kind if self._limit is None else HIGH)

    def _dispatch(self, now: int, pool: int) -> None:
        """Give waiting jobs to idle servers."""
        idle = self._idle[pool]
        while idle:
            kind = self._next(pool)
            if kind is None:
                return
            self._begin(now, idle.pop(), kind, self._queues[kind].popleft())

    def _next(self, pool: int) -> int | None:
        """Class of the job that is next for a server of a pool."""
        if self._limit is None:
            return pool if self._queues[pool] else None
        high, low = self._queues
        if not low or self._running_low >= self._limit:
            return HIGH if high else None
        first = not high or self._times[LOW][low[0]] < self._times[HIGH][high[0]]
        return LOW if first else HIGH

    def _begin(self, now: int, server: int, kind: int, number: int) -> None:
        self._account(now)
        self._job[server] = kind, number
        self._left[server], self._since[server] = self._work[kind][number], now
        self._busy[self._pool[server]] += 1
        self._running_low += kind == LOW
        self._draw()
        self._foresee(now, server)

    def _foresee(self, now: int, server: int) -> None:
        """Plan when a server's job ends at its present speed."""
        self._version[server] += 1
        left = self._left[server] / self._rate[self._pool[server]]
        # The plan's version goes along: a newer plan makes this one void.
        what = self._version[server] * len(self._pool) + server
        self._plan(now + math.ceil(left), self._finish, what)

    def _settle(self, now: int, server: int) -> None:
        """Take off what a server has done since it was last looked at."""
        done = (now - self._since[server]) * self._rate[self._pool[server]]
        done = min(done, self._left[server])  # the end is planned at the next whole microsecond
        self._left[server] -= done
        self._since[server] = now
        self._worked += done

    def _finish(self, now: int, what: int) -> None:
        version, server = divmod(what, len(self._pool))
        job = self._job[server]
        if version != self._version[server] or job is None:
            return
        self._settle(now, server)
        self._account(now)
        kind, number = job
        self._ended[kind][number] = now
        self._job[server] = None
        pool = self._pool[server]
        self._busy[pool] -= 1
        self._running_low -= kind == LOW
        self._open -= 1
        self._draw()
        self._idle[pool].append(server)
        self._dispatch(now, pool)

    def _tick(self, now: int, _: int) -> None:
        policy = self._controller.policy
        self._samples.append((now, self._watts))
        if self._restarts and self._restarts[0] <= now:
            self._restarts.popleft()
            self._controller = self._controller.restarted()
        arrived = now - round(policy.telemetry * SECOND)
        while self._seen < len(self._samples) and self._samples[self._seen][0] <= arrived:
            self._seen += 1
        if self._seen:  # before, nothing can have been read
            reading = self._read(now, self._samples[self._seen - 1][1])
            for command in self._controller.tick(now, reading):
                self._send(command)
        if self._open or now < self._end:
            self._plan(now + round(policy.tick * SECOND), self._tick, 0)

    def _read(self, now: int, watts: float) -> float | None:
        faults, reading = self._faults, watts / self._budget
        if faults.blind[0] * SECOND <= now < faults.blind[1] * SECOND:
            return None
        if faults.missing and self._random.random() < faults.missing:
            return None
        if faults.noise:
            reading += self._random.normal(0.0, faults.noise)
        return max(0.0, reading)

    def _send(self, command: Command) -> None:
        self._commands.append(command)
        risk = self._faults.lost_brakes if command.target == "brake" else self._faults.lost
        if risk and self._random.random() < risk:
            return
        self._serial[command.target] += 1
        number = len(self._commands)
        self._on_their_way[number] = command, self._serial[command.target]
        self._plan(command.time + self._controller.delay(command.target), self._obey, number)

    def _obey(self, now: int, number: int) -> None:
        """A command arrives; one that a newer has replaced does nothing."""
        command, serial = self._on_their_way.pop(number)
        if serial != self._serial[command.target]:
            return
        if command.target == "brake":
            self._braked = command.value == 1
        else:
            self._clock[HIGH if command.target == "high" else LOW] = command.value
        self._account(now)
        for server, job in enumerate(self._job):
            if job is not None:
                self._settle(now, server)
        halt = self._controller.policy.halt
        for pool, clock in enumerate(self._clock):
            shown = halt if self._braked else clock
            self._rate[pool], self._extra[pool] = (
                self._server.rate(shown),
                self._server.extra(shown),
            )
        self._draw()
        for server, job in enumerate(self._job):
            if job is not None:
                self._foresee(now, server)
