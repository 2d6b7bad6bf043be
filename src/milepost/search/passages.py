"""Make passages of the best sentences within a budget, joining neighbours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Run:
    """A passage as sentences ``first … last - 1`` of the scope; ``hits`` are sorted, best first.

    ``core`` is the part that must not be cut, if there is one.
    """

    first: int
    last: int
    hits: tuple[int, ...]
    core: Core | None = None


@dataclass(frozen=True, slots=True)
class Core:
    """Sentences ``first … last - 1``; a passage shows offsets ``start … end`` of their document."""

    first: int
    last: int
    start: int
    end: int


def length_adjusted_score(
    scores: NDArray[np.float32], lengths: NDArray[np.int64], length_penalty: float
) -> NDArray[np.float32]:
    """Weigh a sentence's log-odds against the share of the budget that it takes.

    ``score - length_penalty · ln(characters)``; lengths under 20 count as 20, because such short
    sentences are headings and fragments.
    """
    import numpy as np

    return (scores - length_penalty * np.log(np.maximum(lengths, 20))).astype(np.float32)


def select_within_budget(
    scores: NDArray[np.float32],
    document_offsets: NDArray[np.int64],
    *,
    k: int | None,
    left: int,
    cost: Callable[[int], int],
    banned: Collection[int] = (),
) -> list[Run]:
    """Take the best sentences until a budget is full, and join neighbours.

    A sentence costs its length, and brings its length if it is evidence, so the order of scores is
    the best order to take them in.

    Args:
        scores: ``(n,)`` fused scores.
        document_offsets: first sentence of each document, and ``n``.
        k: maximum number of passages, None for no limit; once there are ``k``, only sentences
            beside them are taken, so that the passages grow.
        left: the budget, in the unit of ``cost``. The sentence that exceeds it is the last one
            taken; the caller cuts it.
        cost: returns the cost of a sentence.
        banned: sentences that no passage may contain.
    """
    import numpy as np

    starts = set(document_offsets.tolist())
    order = np.argsort(-scores, kind="stable").tolist()
    waiting = list(range(len(order)))  # ranks; ascending, so the list is a heap
    passed_over: dict[int, int] = {}
    taken: set[int] = set()
    runs = 0
    while waiting and left > 0:
        place = heappop(waiting)
        number = order[place]
        if number in banned:
            continue
        joined = joins(number, taken, starts)
        if k is not None and runs >= k and not joined:
            passed_over[number] = place
            continue
        taken.add(number)
        runs += 1 - joined
        left -= cost(number)
        for beside in (number - 1, number + 1):
            if beside in passed_over:
                heappush(waiting, passed_over.pop(beside))
    return runs_of(scores, taken, starts)


def joins(number: int, taken: set[int], starts: set[int]) -> int:
    """Count the runs of taken sentences next to a sentence in its document: 0, 1 or 2."""
    before = number - 1 in taken and number not in starts
    after = number + 1 in taken and number + 1 not in starts
    return before + after


SHORT = 80
"""Minimum characters of a passage grown from a hit, if its document continues: a heading or "Yes."
that scores well points to what follows. Set by hand."""

LONG = 1200
"""Maximum characters to which a passage grows, so that it can be read. Set by hand: judged only by
overlap with evidence, longer ones would win because of one task (``docs/decisions``, page 1)."""


def expand_hits(
    scores: NDArray[np.float32],
    document_offsets: NDArray[np.int64],
    lengths: NDArray[np.int64],
    *,
    k: int | None,
    growth_threshold: float,
    banned: Collection[int] = (),
) -> list[Run]:
    """Take the best ``k`` hits, each with the neighbours that score nearly as well.

    Args:
        scores: ``(n,)`` fused scores.
        document_offsets: first sentence of each document, and ``n``.
        lengths: ``(n,)`` characters of each sentence.
        k: maximum number of passages, None for no limit, so that every sentence is in one.
        growth_threshold: a neighbour joins if its score is at most this far below the hit's.
        banned: sentences that no passage may contain.
    """
    import numpy as np

    starts = set(document_offsets.tolist())
    taken: set[int] = set()
    runs = 0
    most = LONG if k is not None else int(lengths.sum())
    closed = closed_borders(starts, banned)
    for hit in np.argsort(-scores, kind="stable").tolist():
        if hit in taken or hit in banned:
            continue
        if runs == k:
            break
        if joins(hit, taken, starts) and beside_length(lengths, hit, taken, starts) >= most:
            # It is next to a passage that is long enough.
            closed.update((hit, hit + 1))
            continue
        for number in neighbours(scores, lengths, (hit, hit + 1), closed, growth_threshold, most):
            if number not in taken:
                runs += 1 - joins(number, taken, starts)
                taken.add(number)
    return runs_of(scores, taken, starts)


def beside_length(lengths: NDArray[np.int64], hit: int, taken: set[int], starts: set[int]) -> int:
    """Count the characters of the passages next to a sentence."""
    total = 0
    first, last = hit, hit + 1
    while first not in starts and first - 1 in taken:
        first -= 1
        total += int(lengths[first])
    while last not in starts and last in taken:
        total += int(lengths[last])
        last += 1
    return total


def runs_of(scores: NDArray[np.float32], taken: set[int], starts: set[int]) -> list[Run]:
    """Group taken sentences into passages, sorted by their best sentence."""
    rank = {n: place for place, n in enumerate(sorted(taken, key=lambda n: (-scores[n], n)))}
    passages = [
        Run(first, last, tuple(sorted(range(first, last), key=rank.__getitem__)))
        for first, last in _spans(taken, starts)
    ]
    return sorted(passages, key=lambda run: rank[run.hits[0]])


def closed_borders(starts: set[int], banned: Collection[int]) -> set[int]:
    """Return the borders that passages must not cross, as the sentence after each border."""
    return starts.union(banned, (number + 1 for number in banned))


def neighbours(
    scores: NDArray[np.float32],
    lengths: NDArray[np.int64],
    core: tuple[int, int],
    closed: set[int],
    growth_threshold: float,
    most: int,
) -> range:
    """Extend a core by neighbours that score nearly as well, the better side first, up to ``most``.

    The result does not cross the borders in ``closed``, see ``closed_borders``. A result shorter
    than ``SHORT`` takes the sentences that follow, whatever their scores.
    """
    first, last = core
    least = float(scores[first:last].max()) - growth_threshold
    size = int(lengths[first:last].sum())
    while True:
        sides = [
            (float(scores[number]), number)
            for number, edge in ((first - 1, first), (last, last))
            if edge not in closed and scores[number] >= least
        ]
        if not sides or size >= most:
            break
        _, number = max(sides)
        size += int(lengths[number])
        first, last = min(first, number), max(last, number + 1)
    while size < SHORT and last not in closed:
        size += int(lengths[last])
        last += 1
    return range(first, last)


def _spans(taken: Iterable[int], starts: set[int]) -> list[tuple[int, int]]:
    """Group numbers into runs of consecutive numbers within documents, ascending."""
    spans: list[tuple[int, int]] = []
    for number in sorted(taken):
        if spans and spans[-1][1] == number and number not in starts:
            spans[-1] = (spans[-1][0], number + 1)
        else:
            spans.append((number, number + 1))
    return spans


def truncate_to(text: str, left: int, measure: Callable[[str], int]) -> str:
    """Return the longest beginning of ``text`` whose ``measure`` is at most ``left``.

    It ends at the end of a word if one fits; it is empty if nothing fits.

    >>> truncate_to("white whales sing", 13, len)
    'white whales'
    """
    if measure(text) <= left:
        return text.rstrip()
    low, high = 0, len(text) - 1
    while low < high:  # measures increase with the length of the text
        middle = (low + high + 1) // 2
        if measure(text[:middle]) <= left:
            low = middle
        else:
            high = middle - 1
    space = next((at for at in range(low, 0, -1) if text[at].isspace()), low)
    return text[:space].rstrip()
