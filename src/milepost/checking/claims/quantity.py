"""A number, amount or date as a range of values that can be compared with another one."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, replace
from typing import Literal

YEARLESS = "day of the year"  # unit of a date without its year

_FAR = 4.0
"""Times that a bound in a claim may be a text's number, or the reverse."""
_ROUNDED = 50.0
"""Half of the last digit from which a number is one that was rounded: 1.2 thousand."""
_OVER = 0.1
"""How far from a number a text that says "over" or "under" it is expected to be."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or a date.

    Attributes:
        kind: a date's values are days since the year 1.
        low, high: the values that it allows, both included.
        unit: of a number: a base unit, the stem of the word behind it, or "".
        start, end: where it is in the text, with its unit and the words that bound it.
        is_measure: whether the unit is one of measurement, which a sentence need not name twice.
        value: what it names, in base units.
        written: the same in its own unit.
        name: its own unit.
        slack: half of its last digit, in base units: how exact another unit can be.
        role: "from", "to" or "by" in front of a number, "before" or "after" of a date, or "".
        per: the period in which it is counted, "day" of "twice daily", or "".
        may_be_thousands: whether its point stands before three digits in a text that is not
            English: 12.400 is 12,400 or 12.4.
    """

    kind: Literal["number", "date"]
    low: float
    high: float
    unit: str
    start: int
    end: int
    is_measure: bool = False
    value: float = 0.0
    written: float = 0.0
    name: str = ""
    slack: float = 0.0
    role: str = ""
    per: str = ""
    may_be_thousands: bool = False

    @property
    def is_open(self) -> bool:
        """Whether its range has one end only."""
        return math.isinf(self.low) or math.isinf(self.high)

    def allows(self, other: Quantity) -> bool:
        """Whether a claim with this quantity may hold where a text has the other one.

        "More than 3" allows "3.2" and not "over 2.3", which is hardly ever said of 3 and more.
        """
        return any(one._allows(two) for one in self._readings for two in other._readings)

    @property
    def _readings(self) -> list[Quantity]:
        """It in each way in which its point may be read."""
        return [self, times(self, 1e3, self.unit)] if self.may_be_thousands else [self]

    def _allows(self, other: Quantity) -> bool:
        if self.kind != other.kind or (self.role and other.role and self.role != other.role):
            return False
        if self.per and other.per and self.per != other.per:
            return False
        if self.kind == "date":
            if (self.unit == YEARLESS) != (other.unit == YEARLESS):
                days = [_yearless(each) for each in (self, other)]
                return None not in days and days[0] == days[1]
            if self.role != other.role:  # "before 1990" and "in 1985"
                bound, free = (self, other) if self.role else (other, self)
                return free.low <= bound.high if bound.role == "before" else free.high >= bound.low
            return self.low <= other.high and other.low <= self.high
        own, other = self.in_unit(other.unit), other.in_unit(self.unit)
        if own.unit != other.unit and (own.is_measure or other.is_measure):
            return False
        if own.unit == "clock" and own.name != other.name:  # 9:30 may be 9:30 p.m.
            return own.value % 720 == other.value % 720
        low, high = other.likely
        if own.is_open and other.is_open and math.isinf(own.low) != math.isinf(other.low):
            return min(own.high, high) - max(own.low, low) > 1e-6 * max(1.0, abs(own.value))
        if own.value == other.value and not own.is_open:
            return True
        is_other = own.is_measure and other.is_measure and own.name != other.name
        near = own.slack + other.slack if is_other else own.rounding(other)
        return own.low <= high + near and low <= own.high + near

    def follows(self, other: Quantity) -> bool:
        """Whether a claim with this quantity holds if a text's with the other one does."""
        return any(one._follows(two) for one in self._readings for two in other._readings)

    def _follows(self, other: Quantity) -> bool:
        if not self._allows(other):
            return False
        if self.kind == "date":
            is_bare = self.unit == YEARLESS or other.unit == YEARLESS
            if self.role and not other.role:
                return other.high < self.low if self.role == "before" else other.low > self.high
            if other.role and not self.role:
                return False
            return is_bare or (self.low <= other.low and other.high <= self.high)
        if self.value == other.value and self.is_open == other.is_open:
            return True
        low, high = other.likely
        if self.is_open and other.is_open and not low <= self.value <= high:
            return False  # "over 25 %" of "over 50 %" misquotes it
        if self.is_open and not other.is_open:  # "at most 240" says something else than 4
            least, most = sorted((abs(self.value), abs(other.value)))
            if most > _FAR * least:
                return False
        if self.is_range and other.is_range:
            slack = 0.1 * max(abs(self.value), abs(other.value))
            return max(abs(self.low - low), abs(self.high - high)) <= slack
        is_other = self.name != other.name and not other.is_open
        if abs(self.value - other.value) <= self.rounding(other) and self.slack > other.slack:
            return True  # "$14.2 billion" of "$14,189 million"
        return self.is_range or is_other or (self.low <= low and high <= self.high)

    @property
    def is_range(self) -> bool:
        """Whether it names two ends, or "about" a number."""
        return not self.is_open and self.high - self.low > 0.1 * abs(self.value)

    @property
    def likely(self) -> tuple[float, float]:
        """Its range, of which an open end is near its value, unless it includes the value.

        Over 20 are hardly 30; at least 20 may be.
        """
        low, high, near = self.low, self.high, _OVER * abs(self.value)
        if math.isinf(low) and high < self.value:
            low = self.value - near
        if math.isinf(high) and low > self.value:
            high = self.value + near
        return low, high

    def rounding(self, other: Quantity) -> float:
        """How far a number may be from a rounder or more exact one.

        One in thousands or more may be either, a claim's measure or percentage the rounder one.
        """
        rounder = max(self, other, key=lambda each: each.slack)
        factor = rounder.value / rounder.written if rounder.written else 1.0
        is_rounded = rounder.slack >= _ROUNDED * abs(factor) or (
            rounder is self and self.is_measure
        )
        return rounder.slack if is_rounded and self.slack != other.slack else 0.0

    def in_unit(self, unit: str) -> Quantity:
        """Pounds are money or a weight."""
        return times(self, 453.592, "gram") if (self.unit, unit) == ("pound", "gram") else self


def comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities measure the same kind of thing."""
    is_role = bool(one.role and other.role) and one.role != other.role
    units = one.in_unit(other.unit).unit, other.in_unit(one.unit).unit
    return one.kind == other.kind and units[0] == units[1] and not is_role


def times(each: Quantity, factor: float, unit: str) -> Quantity:
    """A number in a base unit, of which its own has so many."""
    is_rounded = each.slack >= _ROUNDED
    return replace(
        each,
        low=each.low * factor,
        high=each.high * factor,
        value=each.value * factor,
        slack=(each.slack if is_rounded else min(0.05 * abs(each.value), each.slack)) * factor,
        unit=unit,
        is_measure=True,
    )


def _yearless(date: Quantity) -> tuple[int, int] | None:
    """Month and day; the day of a month alone is 0; None for longer ranges."""
    if date.high - date.low > 31:
        return None
    first = datetime.date.fromordinal(max(1, int(date.low)))
    return first.month, first.day if date.high == date.low else 0
