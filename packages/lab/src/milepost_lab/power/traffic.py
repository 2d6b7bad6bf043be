"""Who asks for what when: two streams of jobs, made from statistics and seeds.

The statistics are those of the public Azure trace of 2023 (LLM inference, CC-BY), as its owners'
files give them: the trace itself is not replayed. Interactive search takes those of ``chat``, bulk
indexing those of ``code``, whose gaps come in bursts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from milepost.errors import InputError
from milepost_lab.power.controller import SECOND

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.power.speed import Speed


@dataclass(frozen=True, slots=True)
class Kind:
    """Statistics of a stream.

    Attributes:
        spread: coefficient of variation of the gaps between requests.
        median: of the tokens of a request.
        mean: of the tokens of a request.
    """

    spread: float
    median: float
    mean: float


CHAT = Kind(spread=1.09, median=1020.0, mean=1154.7)
"""19,366 requests in 3,502 s."""

CODE = Kind(spread=13.2, median=1469.0, mean=2047.8)
"""8,819 requests in 3,436 s."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """One stream.

    Attributes:
        times: ``(n,)`` int64, when each arrives, microseconds, ascending.
        work: ``(n,)`` float64, microseconds each takes at the full clock, above 0.
    """

    times: NDArray[np.int64]
    work: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a row is asked to do.

    Attributes:
        high_load: share of the time that the servers of searches would be busy at the full clock.
        low_load: the same of bulk indexing.
        swing: the rate of arrivals swings by so much around its mean, once from lowest over
            highest to lowest: a day, pressed into the window.
        window: seconds in which jobs arrive.
        questions: a search job is a batch of so many questions, gathered by the front end.
        bursts: coefficient of variation of the gaps between jobs of bulk indexing.

    Raises:
        InputError: a load that cannot be served, a swing of 1 or more, no window.
    """

    high_load: float = 0.3
    low_load: float = 0.7
    swing: float = 0.25
    window: float = 600.0
    questions: int = 32
    bursts: float = CODE.spread

    def __post_init__(self) -> None:
        loads = (self.high_load, self.low_load)
        if not all(0 <= load < 1 for load in (*loads, self.swing)):
            raise InputError(f"loads of {loads} and a swing of {self.swing}", "give 0 to under 1")
        if not 0 < self.window < math.inf or self.questions < 1 or not 0 <= self.bursts <= 100:
            raise InputError(
                f"traffic of {self.window} s, {self.questions} questions, bursts of {self.bursts}",
                "give a window above 0 s, 1 question or more, bursts of 0 to 100",
            )

    def streams(self, high: int, low: int, speed: Speed, seed: int) -> tuple[Jobs, Jobs]:
        """Jobs of both classes; the same whatever controller they meet.

        Args:
            high: servers of searches, whose number the load is meant for.
            low: servers of bulk indexing.
            speed: what a question and a token take.
            seed: one generator a stream is drawn from it.

        Returns:
            Searches, bulk indexing.
        """
        search = speed.question * self.questions
        document = speed.token * CODE.mean
        return (
            self._stream(CHAT, self.high_load * high, search, (seed, 0)),
            self._stream(
                replace(CODE, spread=self.bursts), self.low_load * low, document, (seed, 1)
            ),
        )

    def _stream(self, kind: Kind, busy: float, seconds: float, seed: tuple[int, int]) -> Jobs:
        """Jobs that keep ``busy`` servers busy on average, ``seconds`` each on average."""
        import numpy as np

        random = np.random.default_rng(seed)
        count = round(busy * self.window / seconds)
        # Log-normal gaps have the trace's coefficient of variation. Their number is given, so
        # they are brought to the window's length: seeds differ in when, hardly in how much.
        gaps = random.lognormal(0.0, math.sqrt(math.log1p(kind.spread**2)), count + 1)
        share = np.cumsum(gaps)[:-1] / gaps.sum()
        times = np.floor(self._placed(share) * SECOND).astype(np.int64)
        sigma = math.sqrt(2.0 * math.log(kind.mean / kind.median))
        sizes = random.lognormal(-(sigma**2) / 2.0, sigma, count)
        return Jobs(times, sizes * (seconds * SECOND))

    def _placed(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """Seconds at which so much of all arrivals has come, by the swinging rate."""
        import numpy as np

        at = np.linspace(0.0, 1.0, 4097)
        come = at - self.swing * np.sin(2 * np.pi * at) / (2 * np.pi)  # of 1 - swing · cos
        result: NDArray[np.float64] = np.interp(share, come, at) * self.window
        return result
