"""Measure power or processor time as a share of a budget."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence

from milepost.errors import InputError
from milepost.govern.meters import GpuMeter, Meter, PackageMeter, ProcessorMeter


class Sensor:
    """The mean share of the budget over the last second or so.

    Args:
        meters: counters of one unit, which are added.
        budget: watts or cores, the unit of the meters.
        window: seconds that the mean covers; 0 for the time since the last reading. Without a mean,
            a pause of one tick between two batches would lift the brake, and the long-term average
            would depend on the length of batches instead of the budget.

    Raises:
        InputError: the budget is not above 0, or the window is negative.
    """

    def __init__(self, meters: Sequence[Meter], budget: float, window: float = 1.0) -> None:
        if not 0 < budget < float("inf"):
            raise InputError(f"budget = {budget}", "watts or cores above 0")
        if not 0 <= window < float("inf"):
            raise InputError(f"window = {window}", "0 or more seconds")
        self.meters = tuple(meters)
        self.budget = budget
        self._window = window
        self._past: deque[tuple[float, float]] = deque()

    @property
    def unit(self) -> str:
        """``W`` or ``cores``."""
        return self.meters[0].unit

    def share(self, now: float) -> float | None:
        """The current share of the budget.

        Args:
            now: seconds of a monotonic clock.

        Returns:
            The share, 1 is the whole budget; None at the first call or if a meter cannot be read.
        """
        states = [meter.read() for meter in self.meters]
        if None in states:
            return None
        total = sum(state for state in states if state is not None)
        if self._past and (now <= self._past[-1][0] or total < self._past[-1][1]):
            self._past.clear()  # a counter that decreased was reset
        self._past.append((now, total))
        if len(self._past) == 1:
            return None
        # One reading from before the window is kept, so that the mean covers the whole window.
        while len(self._past) > 2 and self._past[1][0] <= now - self._window:
            self._past.popleft()
        begun, before = self._past[0]
        return (total - before) / (now - begun) / self.budget


def open_sensor(*, watts: float | None = None, cores: float | None = None) -> Sensor:
    """Make a sensor from the counters that can be read on this machine.

    Args:
        watts: budget of processor packages and GPUs together, for the whole machine.
        cores: budget of this process and its descendants. Default: all usable processors.

    Raises:
        InputError: both budgets are given, or watts and no energy counter can be read.
    """
    if watts is not None and cores is not None:
        raise InputError("both watts and cores are given", "one of them")
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
            "a budget in cores, or permission to read energy_uj",
        )
    return Sensor(meters, watts)
