"""The baselines: controllers with other rules for caps, the same brake, the same delays.

The paper names them; their constants are ours, since its text was not at hand.
"""

from __future__ import annotations

from milepost_lab.power.controller import Command, Controller, Target


class Uncapped(Controller):
    """No clock is ever touched; the brake is all there is."""

    def _caps(self, level: float) -> list[Command]:
        return []

    def _ends(self, level: float) -> list[Command]:
        return []


class Slow(Uncapped):
    """Low priority runs at its lowest clock always, whatever is drawn."""

    def _caps(self, level: float) -> list[Command]:
        wanted, low = self._lines["low"].wanted, self.policy.low
        return [] if wanted == low else [self._order("low", low)]


class OneThreshold(Controller):
    """Above ``t2`` low priority goes to its lowest clock at once; below ``t2_ends`` back."""

    capped: tuple[Target, ...] = ("low",)

    def _caps(self, level: float) -> list[Command]:
        if level <= self.policy.t2:
            return []
        return self._all(self.policy.low)

    def _ends(self, level: float) -> list[Command]:
        if level >= self.policy.t2_ends:
            return []
        return self._all(self.policy.top)

    def _all(self, clock: int) -> list[Command]:
        return [
            self._order(target, clock)
            for target in self.capped
            if self._lines[target].wanted != clock
        ]


class OneForAll(OneThreshold):
    """The same for both classes."""

    capped = ("low", "high")
