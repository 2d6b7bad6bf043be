"""What a server draws and how fast it works at a clock."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.errors import InputError

OTHER_PARTS = 1500.0 - 8 * 63.0
"""Watts of a server beside its eight GPUs: 996. From the public configuration of Splitwise-sim
(a DGX-A100: 1500 W idle; its GPUs 63 W idle, 400 W in a prompt, 250 W in a token)."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that is idle or busy.

    Attributes:
        idle: watts when idle.
        busy: watts when busy at the full clock. An encoder is all prompt: 996 + 8 · 400 = 4196.
        top: the full clock, MHz.
        bound: share of a job's time that goes with the clock, 0 to 1. An encoder reads all tokens
            at once and computes throughout: 1. A decoder waits for memory: about 0 to 0.3.

    Raises:
        InputError: watts, clock or share out of range.
    """

    idle: float = 1500.0
    busy: float = OTHER_PARTS + 8 * 400.0
    top: int = 1410
    bound: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.idle <= self.busy or self.top <= 0 or not 0 <= self.bound <= 1:
            raise InputError(
                f"no server: {self.idle} W idle, {self.busy} W busy, {self.top} MHz, {self.bound}",
                "give 0 <= idle <= busy, a clock above 0 and a share of 0 to 1",
            )

    def extra(self, clock: int) -> float:
        """Watts that work adds at a clock: they fall with its square (ours, inferred)."""
        ratio: float = clock / self.top
        return (self.busy - self.idle) * ratio * ratio

    def rate(self, clock: int) -> float:
        """Speed at a clock, 1 at the full one.

        >>> round(Server().rate(1110), 5)
        0.78723
        """
        return 1.0 / (1.0 - self.bound + self.bound * self.top / clock)
