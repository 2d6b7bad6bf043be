"""Differences as lines of text, with the smallest effect that each could have shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from milepost.console.columns import columns

if TYPE_CHECKING:
    from milepost.evaluate.statistics import Difference


def difference_lines(found: Mapping[str, Difference], *, scale: int, digits: int) -> Iterator[str]:
    """A head, then a row for each difference.

    Args:
        found: by what is compared.
        scale: 100 for differences in points, 1 for differences as they are.
        digits: behind the decimal point.
    """
    rows = [
        (
            name,
            f"{scale * one.mean:+.{digits}f}",
            f"({scale * one.low:+.{digits}f} to {scale * one.high:+.{digits}f})",
            f"{one.adjusted:.4f}",
            f"{scale * one.detectable:.{digits}f}",
        )
        for name, one in found.items()
    ]
    what = "difference, points" if scale == 100 else "difference"
    yield from columns((what, "mean", "95 %", "p, Holm", "detectable"), rows)
