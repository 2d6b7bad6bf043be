"""Differences over a few trainings, and differences as lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev

from milepost._optional import require
from milepost.console.columns import columns
from milepost_eval.statistics import Difference


def over_trainings(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Mean of ``a - b``, one figure a seed, by Student's t: interval and paired test.

    Resampling the seeds would not do: of three, no draw leaves their range, so that its interval
    is half as wide as it must be.

    Raises:
        MissingExtra: SciPy is not installed.
        ValueError: fewer than two seeds, or not as many of both.
    """
    apart = [x - y for x, y in zip(a, b, strict=True)]
    if len(apart) < 2:
        raise ValueError(f"{len(apart)} seeds have no spread")
    t = require("scipy.stats", extra="lab").t
    mean, error, free = fmean(apart), stdev(apart) / math.sqrt(len(apart)), len(apart) - 1
    half = float(t.ppf(0.975, free)) * error
    p = 2 * float(t.sf(abs(mean) / error, free)) if error else float(mean == 0)
    return Difference(mean, mean - half, mean + half, p, p, len(apart), len(apart))


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
