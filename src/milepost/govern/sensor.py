"""What is drawn, as a share of a budget."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence

from milepost.errors import InputError
from milepost.govern.meters import GpuMeter, Meter, PackageMeter, ProcessorMeter


class Sensor:
    """The mean share of the budget over the last second or so.

    Args:
        meters: counters of one unit, added up.
        budget: watts or cores, as the meters have it.
        window: seconds that the mean is over; 0 for since the last reading. A pause of one tick
            between two batches is not a calm: without a mean it would lift the brake, and what
            is drawn in the long run would hang on the length of batches, not on the budget.

    Raises:
        InputError: the budget is not above 0, or the window below it.
    """

    def __init__(self, meters: Sequence[Meter], budget: float, window: float = 1.0) -> None:
        if not 0 < budget < float("inf"):
            raise InputError(f"a budget of {budget}", "give watts or cores above 0")
        if not 0 <= window < float("inf"):
            raise InputError(f"a window of {window}", "give 0 or more seconds")
        self.meters = tuple(meters)
        self.budget = budget
        self._window = window
        self._past: deque[tuple[float, float]] = deque()

    @property
    def unit(self) -> str:
        """``W`` or ``cores``."""
        return self.meters[0].unit

    def share(self, now: float) -> float | None:
        """What is drawn now.

        Args:
            now: seconds of a clock that only goes forwards.

        Returns:
            1 is the whole budget; None at the first call, or where a meter could not be read.
        """
        states = [meter.read() for meter in self.meters]
        if None in states:
            return None
        total = sum(state for state in states if state is not None)
        if self._past and (now <= self._past[-1][0] or total < self._past[-1][1]):
            self._past.clear()  # a counter that fell was reset
        self._past.append((now, total))
        if len(self._past) == 1:
            return None
        # One reading from before the window is kept: the mean spans the window, not less.
        while len(self._past) > 2 and self._past[1][0] <= now - self._window:
            self._past.popleft()
        begun, before = self._past[0]
        return (total - before) / (now - begun) / self.budget


def open_sensor(*, watts: float | None = None, cores: float | None = None) -> Sensor:
    """A sensor of what this machine lets be read.

    Args:
        watts: budget of processor packages and GPUs together, the whole machine's.
        cores: budget of this process and those it starts; where neither is given, all usable
            processors.

    Raises:
        InputError: both budgets, or watts where no energy counter can be read.
    """
    if watts is not None and cores is not None:
        raise InputError("a budget in watts and one in cores", "give one of them")
    if watts is None:
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
        return Sensor(
            [ProcessorMeter()], (usable or os.cpu_count() or 1) if cores is None else cores
        )
    packages, gpus = PackageMeter(), GpuMeter()
    meters: list[Meter] = [*[packages] * bool(packages.packages), *[gpus] * bool(gpus.devices)]
    if not meters:
        raise InputError(
            "no energy counter can be read here (/sys/class/powercap, NVML)",
            "give a budget in cores, or the right to read energy_uj",
        )
    return Sensor(meters, watts)
