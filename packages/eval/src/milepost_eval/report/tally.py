"""Figures of single questions, kept apart by what is compared, and their means with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from milepost_eval.report.outcome import Figure
from milepost_eval.statistics import Difference, corrected, mean_over_tasks, over_tasks

Key = tuple[str, ...]
"""What is compared: a system, a bin, a kind of question …"""

Measured = tuple[Key, str]
"""A key and a metric."""


class Tally:
    """Collects figures; the mean over tasks of the mean over questions comes out.

    Documents are what is resampled: questions of one document are not independent.
    """

    def __init__(self) -> None:
        self._values: dict[tuple[Key, str], dict[str, tuple[list[float], list[str]]]] = defaultdict(
            lambda: defaultdict(lambda: ([], []))
        )

    def add(self, key: Key, task: str, document: str, figures: Mapping[str, float]) -> None:
        """Note what was measured of one question (or one sentence) of a document."""
        for metric, value in figures.items():
            values, clusters = self._values[key, metric][task]
            values.append(value)
            clusters.append(document)

    def count(self, key: Key, metric: str) -> int:
        """How many questions were noted."""
        return sum(len(values) for values, _ in self._of(key, metric).values())

    def mean(self, key: Key, metric: str, kind: str = "share") -> Figure | None:
        """Mean and interval; None where nothing was noted."""
        found = self._of(key, metric)
        return Figure(*mean_over_tasks(found), kind) if found else None

    def gain(self, first: Measured, second: Measured) -> Figure | None:
        """Mean of first minus second, question by question; None where nothing was noted.

        Args:
            first: key and metric.
            second: key and metric, noted for the same questions in the same order.
        """
        return self.gains({"": (first, second)})[""]

    def gains(self, pairs: Mapping[str, tuple[Measured, Measured]]) -> dict[str, Figure | None]:
        """Several ``gain``s of one note: their p are corrected for each other."""
        found = {name: self._difference(*pair) for name, pair in pairs.items()}
        sure = corrected({name: one for name, one in found.items() if one is not None})
        return {
            name: Figure(one.mean, one.low, one.high, "difference", one.adjusted)
            if (one := sure.get(name))
            else None
            for name in pairs
        }

    def _difference(self, first: Measured, second: Measured) -> Difference | None:
        a, b = self._of(*first), self._of(*second)
        if not a or not b:
            return None
        pairs = {}
        for task in a:
            (values, clusters), (others, same) = a[task], b[task]
            if clusters != same:
                raise ValueError(f"{first} and {second} were noted for other questions of {task}")
            pairs[task] = values, others, clusters
        return over_tasks(pairs)

    def _of(self, key: Key, metric: str) -> Mapping[str, tuple[list[float], list[str]]]:
        return self._values.get((key, metric), {})
