"""Make passages around cores, for questions with phrases; otherwise like ``passages.py``.

Each passage contains at least one whole core, whatever the limits; see ``required.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from milepost.search.passages import (
    LONG,
    Core,
    Run,
    beside_length,
    closed_borders,
    joins,
    neighbours,
    runs_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def expand_cores(
    scores: NDArray[np.float32],
    document_offsets: NDArray[np.int64],
    lengths: NDArray[np.int64],
    cores: Sequence[Core],
    *,
    k: int | None,
    growth_threshold: float,
    banned: Collection[int] = (),
) -> list[Run]:
    """Take the ``k`` best cores, each with the neighbours that score nearly as well.

    Args:
        scores: ``(n,)`` scores.
        document_offsets: first sentence of each document, and ``n``.
        lengths: ``(n,)`` characters of each sentence.
        cores: the cores in any order; the best sentence of each counts.
        k: maximum number of passages, None for no limit.
        growth_threshold: see ``passages.expand_hits``.
        banned: sentences that no passage may contain.
    """
    starts = set(document_offsets.tolist())
    closed = closed_borders(starts, banned)
    taken: set[int] = set()
    runs = 0
    for core in _ordered(scores, cores):
        inside = range(core.first, core.last)
        if all(number in taken for number in inside):
            continue
        if runs == k:
            break
        beside = len(inside) == 1 and joins(core.first, taken, starts)
        if beside and beside_length(lengths, core.first, taken, starts) >= LONG:
            # It is next to a passage that is long enough.
            closed.update((core.first, core.last))
            continue
        grown = neighbours(scores, lengths, (core.first, core.last), closed, growth_threshold, LONG)
        for number in grown:
            if number not in taken:
                runs += 1 - joins(number, taken, starts)
                taken.add(number)
    return _with_cores(scores, runs_of(scores, taken, starts), cores)


def select_cores_within_budget(
    scores: NDArray[np.float32],
    document_offsets: NDArray[np.int64],
    cores: Sequence[Core],
    *,
    k: int | None,
    left: int,
    cost: Callable[[int], int],
    banned: Collection[int] = (),
) -> list[Run]:
    """Take the best whole cores that fit a budget, then neighbouring sentences until it is full.

    Args:
        scores: ``(n,)`` scores.
        document_offsets: first sentence of each document, and ``n``.
        cores: the cores in any order; the best sentence of each counts.
        k: maximum number of passages, None for no limit.
        left: the budget, in the unit of ``cost``.
        cost: returns the cost of a sentence.
        banned: sentences that no passage may contain.

    Returns:
        Passages within the budget. If no core fits, the best one alone, which the caller cuts.
    """
    starts = set(document_offsets.tolist())
    closed = closed_borders(starts, banned)
    taken: set[int] = set()
    runs = 0
    ordered = _ordered(scores, cores)
    for core in ordered:
        more = [number for number in range(core.first, core.last) if number not in taken]
        beside = any(joins(number, taken, starts) for number in (core.first, core.last - 1))
        price = sum(map(cost, more))
        if not more or price > left or (k is not None and runs >= k and not beside):
            continue
        left -= price
        for number in more:
            runs += 1 - joins(number, taken, starts)
            taken.add(number)
    if not taken and ordered:
        taken.update(range(ordered[0].first, ordered[0].last))
        left = 0
    _fill(scores, taken, closed, left, cost)
    return _with_cores(scores, runs_of(scores, taken, starts), cores)


def _fill(
    scores: NDArray[np.float32],
    taken: set[int],
    closed: set[int],
    left: int,
    cost: Callable[[int], int],
) -> None:
    """Take sentences next to the taken ones, best first, while one fits."""
    waiting: set[int] = set()

    def look(number: int) -> None:
        if number not in closed and number - 1 not in taken:
            waiting.add(number - 1)
        if number + 1 not in closed and number + 1 not in taken:
            waiting.add(number + 1)

    for number in taken:
        look(number)
    while waiting and left > 0:
        best = min(waiting, key=lambda number: (-float(scores[number]), number))
        waiting.discard(best)
        price = cost(best)
        if price <= left:
            taken.add(best)
            left -= price
            look(best)


def _ordered(scores: NDArray[np.float32], cores: Sequence[Core]) -> list[Core]:
    """Sort cores by their best sentence, best first."""
    return sorted(
        cores, key=lambda core: (-float(scores[core.first : core.last].max()), core.first)
    )


def _with_cores(
    scores: NDArray[np.float32], runs: Sequence[Run], cores: Sequence[Core]
) -> list[Run]:
    """Add to each run the best core that it contains."""
    found = []
    for run in runs:
        inside = [core for core in cores if run.first <= core.first and core.last <= run.last]
        found.append(replace(run, core=_ordered(scores, inside)[0]))
    return found
