"""What is drawn, as a share of a budget."""

from __future__ import annotations

import os
from collections.abc import Sequence

from milepost.errors import InputError
from milepost.govern.meters import GpuMeter, Meter, PackageMeter, ProcessorMeter


class Sensor:
    """The mean share of the budget since it was last asked.

    Args:
        meters: counters of one unit, added up.
        budget: watts or cores, as the meters have it.

    Raises:
        InputError: the budget is not above 0.
    """

    def __init__(self, meters: Sequence[Meter], budget: float) -> None:
        if not 0 < budget < float("inf"):
            raise InputError(f"a budget of {budget}", "give watts or cores above 0")
        self.meters = tuple(meters)
        self.budget = budget
        self._last: tuple[float, float] | None = None

    @property
    def unit(self) -> str:
        """``W`` or ``cores``."""
        return self.meters[0].unit

    def share(self, now: float) -> float | None:
        """Since the last call.

        Args:
            now: seconds of a clock that only goes forwards.

        Returns:
            1 is the whole budget; None at the first call, or where a meter could not be read.
        """
        states = [meter.read() for meter in self.meters]
        if None in states:
            return None  # the next reading is the mean of both intervals
        total = sum(state for state in states if state is not None)
        before, self._last = self._last, (now, total)
        if before is None or now <= before[0] or total < before[1]:
            return None
        return (total - before[1]) / (now - before[0]) / self.budget


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
        return Sensor([ProcessorMeter()], (usable or os.cpu_count() or 1) if cores is None else cores)
    packages, gpus = PackageMeter(), GpuMeter()
    meters: list[Meter] = [*[packages] * bool(packages.packages), *[gpus] * bool(gpus.devices)]
    if not meters:
        raise InputError(
            "no energy counter can be read here (/sys/class/powercap, NVML)",
            "give a budget in cores, or the right to read energy_uj",
        )
    return Sensor(meters, watts)
