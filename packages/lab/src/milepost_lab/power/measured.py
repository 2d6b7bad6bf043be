"""What one run of a row gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from milepost_lab.power.controller import SECOND, Command

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from milepost_lab.power.traffic import Jobs


def nearest_rank(values: ArrayLike, share: float) -> float:
    """The smallest value that at least ``share`` of all values do not exceed; NaN of none.

    >>> nearest_rank(range(1, 101), 0.99)
    99.0
    """
    import numpy as np

    ordered = np.sort(np.asarray(values, np.float64))
    if not len(ordered):
        return math.nan
    return float(ordered[max(1, math.ceil(round(share * len(ordered), 9))) - 1])


@dataclass(frozen=True, slots=True)
class Run:
    """A run.

    Attributes:
        high: ``(n,)`` seconds from arrival to end of each search job.
        low: ``(m,)`` the same of bulk indexing.
        done: seconds of work at the full clock, both classes, of jobs that ended in the window.
        times: ``(ticks,)`` seconds.
        watts: ``(ticks,)`` drawn at these times.
        commands: all that were sent.
        energy: joules in the window.
        over: seconds over budget in the window.
        brakes: times the brake was ordered in the window when it was not on.
        worked: microseconds at the full clock that servers worked, until all jobs were done.
    """

    high: NDArray[np.float64]
    low: NDArray[np.float64]
    done: float
    times: NDArray[np.float64]
    watts: NDArray[np.float64]
    commands: tuple[Command, ...]
    energy: float
    over: float
    brakes: int
    worked: float

    @classmethod
    def of(
        cls,
        given: Sequence[Jobs],
        ended: Sequence[Sequence[int]],
        *,
        window: float,
        samples: Sequence[tuple[int, float]],
        commands: Sequence[Command],
        energy: float,
        over: float,
        worked: float,
    ) -> Run:
        """From what a row has noted: jobs and their ends, samples and commands."""
        import numpy as np

        high, low = (
            (np.array(e, np.int64) - jobs.times) / SECOND
            for jobs, e in zip(given, ended, strict=True)
        )
        done = sum(
            float(jobs.work[np.array(e, np.int64) <= window * SECOND].sum())
            for jobs, e in zip(given, ended, strict=True)
        )
        brakes, on = 0, False
        for command in commands:
            if command.target == "brake" and command.time <= window * SECOND:
                brakes += command.value == 1 and not on
                on = command.value == 1
        return cls(
            high=high,
            low=low,
            done=done / SECOND,
            times=np.array([time for time, _ in samples], np.float64) / SECOND,
            watts=np.array([watts for _, watts in samples]),
            commands=tuple(commands),
            energy=energy,
            over=over,
            brakes=brakes,
            worked=worked,
        )

    def rise(self, seconds: float) -> float:
        """The largest rise of drawn watts within so many seconds, from one tick to a later."""
        import numpy as np

        if len(self.times) < 2:
            return 0.0
        step = self.times[1] - self.times[0]
        most = 0.0
        for ticks in range(1, min(int(seconds / step + 1e-9), len(self.watts) - 1) + 1):
            most = max(most, float(np.max(self.watts[ticks:] - self.watts[:-ticks])))
        return most
