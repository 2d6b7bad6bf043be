"""The constants of the controller, with their sources.

"Paper" is POLCA (arXiv 2308.12908; ASPLOS 2024), known from notes by others: its full text was not
available. "Ours" is not in the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from milepost.errors import InputError


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds as shares of the budget, clocks in MHz, times in seconds.

    Attributes:
        t1: above it, low priority goes to ``step`` (paper: 80 %).
        t2: above it, low priority goes to ``low``, then high priority to ``high`` (paper: 89 %).
        limit: at and above it, everything is braked (paper: 100 %).
        hysteresis: a cap ends this far below its threshold (paper: 5 points, so 84 % and 75 %).
        top: the full clock (paper's range ends at 1.4 GHz; 1410 is an A100's).
        step: clock of low priority above ``t1`` (paper: 1275, an A100's base clock).
        low: clock of low priority above ``t2`` (paper: 1110).
        high: clock of high priority above ``t2``, if ``low`` was not enough (paper: 1305).
        halt: clock of all under the brake (paper's preprint: 288).
        tick: time between two decisions (paper: 2).
        telemetry: age of a reading when it arrives (paper: 2).
        cap_delay: from a clock command to its effect (paper: 40, out of band).
        brake_delay: from a brake command to its effect (paper: 5).
        missed: this many missed readings in a row count as above ``t2`` (ours).
        one_step: below ``t2``, low priority goes from ``low`` to ``step``, not to ``top``. The
            paper does not say; with ``top`` the clock oscillates under a constant load.
        keep_caps: no cap ends while readings may be low because of the brake (ours). Otherwise the
            brake itself lifts the caps, and full load returns to a row without caps.
        refresh: time after which a command is repeated, because commands can be lost silently
            (ours); 0 for never, as in the paper.

    Raises:
        InputError: thresholds or clocks are not in order, or a time is negative.
    """

    t1: float = 0.80
    t2: float = 0.89
    limit: float = 1.0
    hysteresis: float = 0.05
    top: int = 1410
    step: int = 1275
    low: int = 1110
    high: int = 1305
    halt: int = 288
    tick: float = 2.0
    telemetry: float = 2.0
    cap_delay: float = 40.0
    brake_delay: float = 5.0
    missed: int = 3
    one_step: bool = True
    keep_caps: bool = False
    refresh: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.t1 <= self.t2 <= self.limit:
            raise InputError(
                f"thresholds {self.t1}, {self.t2} and {self.limit} are not in order",
                "0 < t1 <= t2 <= limit",
            )
        if not 0 <= self.hysteresis < self.t1:
            raise InputError(
                f"hysteresis = {self.hysteresis}", f"0 or more, less than t1 = {self.t1}"
            )
        if not 0 < self.halt <= self.low <= self.step <= self.top or not (
            self.halt <= self.high <= self.top
        ):
            raise InputError(
                "clocks are not in order", "halt <= low <= step <= top, halt <= high <= top"
            )
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0 or math.isnan(value):
                raise InputError(f"{field.name} is {value}", "0 or more")
        if not self.tick or self.missed < 1:
            raise InputError("tick or missed is 0", "a tick above 0, missed of 1 or more")

    @property
    def t1_ends(self) -> float:
        """Below it, the cap of ``t1`` ends: 0.75 by default."""
        return round(self.t1 - self.hysteresis, 9)

    @property
    def t2_ends(self) -> float:
        """Below it, the caps of ``t2`` and the brake end: 0.84 by default."""
        return round(self.t2 - self.hysteresis, 9)


PAPER = Policy()
"""The policy of the paper: a row of machines whose clocks are set out of band."""

LIVE = Policy(tick=0.25, telemetry=0.25, cap_delay=0.5, brake_delay=0.25, keep_caps=True)
"""For a process that slows its own bulk work: the clocks are shares of full speed."""
