"""Counters: joules of processor packages and GPUs, processor seconds of a process tree."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

POWERCAP = Path("/sys/class/powercap")
PROC = Path("/proc")


class Meter(Protocol):
    """A counter that only rises."""

    @property
    def unit(self) -> str:
        """Unit of its increase per second: ``W`` or ``cores``."""
        ...

    def read(self) -> float | None:
        """Its value in joules or processor seconds; None if it cannot be read now."""
        ...


class ProcessorMeter:
    """Processor seconds of a process and its descendants, including finished ones.

    Read from ``/proc``; without it from ``os.times``, which includes children only after they have
    finished. The resolution is 10 ms on Linux.

    Args:
        process: id of the process; None for this one.
        proc: folder where the kernel lists processes.
    """

    unit = "cores"

    def __init__(self, process: int | None = None, proc: Path = PROC) -> None:
        self._root = os.getpid() if process is None else process
        self._own = process is None
        self._proc = proc

    def read(self) -> float | None:
        """Processor seconds so far."""
        known = dict(self._processes())
        if self._root in known:
            children: dict[int, list[int]] = {}
            for number, (parent, _) in known.items():
                children.setdefault(parent, []).append(number)
            ticks, waiting = 0, [self._root]
            while waiting:
                number = waiting.pop()
                ticks += known[number][1]
                waiting += children.get(number, [])
            return ticks / os.sysconf("SC_CLK_TCK")
        return sum(os.times()[:4]) if self._own else None

    def _processes(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Every process: its id, its parent's, and its ticks with those of finished children."""
        for file in self._proc.glob("[0-9]*/stat"):
            try:
                # The name is in brackets and may contain anything, brackets too.
                fields = file.read_text(errors="replace").rpartition(")")[2].split()
                yield int(file.parent.name), (int(fields[1]), sum(map(int, fields[11:15])))
            except (OSError, ValueError, IndexError):
                continue  # the process has just ended


class PackageMeter:
    """Joules of all processor packages, from the kernel's energy counters (RAPL).

    Args:
        root: the kernel's ``powercap`` folder.

    Attributes:
        packages: folders of the readable counters; may be empty.
    """

    unit = "W"

    def __init__(self, root: Path = POWERCAP) -> None:
        # "intel-rapl:0" is a package (on AMD too), "intel-rapl:0:1" a part of it.
        self.packages = tuple(
            folder
            for folder in sorted(root.glob("intel-rapl:*"))
            if folder.name.count(":") == 1 and _number(folder / "energy_uj") is not None
        )
        self._last: dict[Path, int] = {}
        self._turns = 0  # microjoules from counters that wrapped around

    def read(self) -> float | None:
        """Joules so far; a counter that wraps around to 0 continues from its last value."""
        total = self._turns
        for folder in self.packages:
            now = _number(folder / "energy_uj")
            if now is None:
                return None
            if now < self._last.get(folder, 0):
                turn = _number(folder / "max_energy_range_uj") or 0
                self._turns += turn
                total += turn
            self._last[folder] = now
            total += now
        return total / 1e6 if self.packages else None


class GpuMeter:
    """Joules of all NVIDIA GPUs, through ``pynvml`` if it can be imported.

    Attributes:
        devices: handles of the GPUs with a readable energy counter; may be empty.
    """

    unit = "W"

    def __init__(self) -> None:
        self.devices: tuple[Any, ...] = ()
        try:
            self._nvml: Any = importlib.import_module("pynvml")
        except ImportError:
            return
        try:
            self._nvml.nvmlInit()
            count = self._nvml.nvmlDeviceGetCount()
            self.devices = tuple(map(self._nvml.nvmlDeviceGetHandleByIndex, range(count)))
        except self._nvml.NVMLError:
            return
        if self.read() is None:
            self.devices = ()

    def read(self) -> float | None:
        """Joules since the driver was loaded; None if they cannot be read."""
        if not self.devices:
            return None
        try:
            # NVML counts millijoules.
            total: int = sum(map(self._nvml.nvmlDeviceGetTotalEnergyConsumption, self.devices))
        except self._nvml.NVMLError:
            return None
        return total / 1e3


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
