"""What the plots show, as numbers: means within bins of position and length."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from milepost_eval.records import Record
from milepost_eval.statistics import interval

TENTHS = 10
QUANTILES = 5
LEAST_DOCUMENTS = 3
"""Documents that a bin needs for an interval: resampling fewer says nothing."""


@dataclass(frozen=True, slots=True)
class Point:
    """A mean over the questions of a bin.

    Attributes:
        at: position of the bin: its middle, or the median of its documents' lengths.
        mean: of the metric.
        low: end of the 95 % interval; None for a bin of too few documents.
        high: the other end.
        questions: in the bin.
    """

    at: float
    mean: float
    low: float | None
    high: float | None
    questions: int


def by_position(record: Record, metric: str) -> list[Point]:
    """The metric by where in its document the evidence begins, in tenths that have questions."""
    bins = [min(TENTHS - 1, int(at * TENTHS)) for at in record.per_question.positions]
    return [
        point
        for number in range(TENTHS)
        if (point := _point(record, metric, bins, number, (number + 0.5) / TENTHS))
    ]


def by_length(record: Record, metric: str) -> list[Point]:
    """The metric by length of the document, in bins of about as many documents each."""
    per = record.per_question
    lengths = sorted(dict(zip(per.documents, per.lengths, strict=True)).values())
    edges = _edges(lengths)
    bins = [bisect_right(edges, length) for length in per.lengths]
    points = []
    for number in range(len(edges) + 1):
        inside = [length for length in lengths if bisect_right(edges, length) == number]
        point = _point(record, metric, bins, number, median(inside)) if inside else None
        if point:
            points.append(point)
    return points


def _edges(lengths: Sequence[int]) -> list[int]:
    """Least lengths of all bins but the first; documents of one length are never parted."""
    count = min(QUANTILES, max(1, len(lengths) // LEAST_DOCUMENTS))
    cuts = {lengths[len(lengths) * number // count] for number in range(1, count)}
    return sorted(cuts - {lengths[0]})


def _point(
    record: Record, metric: str, bins: Sequence[int], number: int, at: float
) -> Point | None:
    per = record.per_question
    chosen = [index for index, its in enumerate(bins) if its == number]
    if not chosen:
        return None
    values = [per.figures[metric][index] for index in chosen]
    documents = [per.documents[index] for index in chosen]
    low = high = None
    if len(set(documents)) >= LEAST_DOCUMENTS:
        low, high = interval(values, documents)
    return Point(at, fmean(values), low, high, len(values))
