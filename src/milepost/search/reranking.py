"""The second reading: the best places once more, with the question in front of them.

Which places, decides the first order; what they hold for the question, a model says that reads
question and place together (``milepost.reranker``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.search.scope import Scope

PLACE = 192
"""Tokens of a place, a landmark for each sentence among them."""
BUDGET = 3000
"""Tokens that are read again, the question in front of each place not counted."""
PLACES = 24
"""Places at most: in documents of a sentence each they are small, and each costs a question."""
AROUND = 12
"""Sentences on each side that a place may grow to."""

Texts = Callable[[int, int], Sequence[str]]
"""Sentences ``first … last - 1`` of the scope, which stand in one document."""


class Reranks(Protocol):
    """A reranker that was told the question; see ``milepost.reranker.BoundReranker``."""

    @property
    def room(self) -> int:
        """Tokens that a place may have, a landmark for each sentence."""

    def tokens(self, sentences: Sequence[str]) -> Sequence[Sequence[int]]:
        """Token ids of each sentence."""

    def cosines(self, places: Sequence[Sequence[Sequence[int]]]) -> Sequence[NDArray[np.float32]]:
        """What each sentence of each place holds for the question."""


def rerank(
    scope: Scope, order: NDArray[np.int64], reranker: Reranks, texts: Texts
) -> NDArray[np.float32]:
    """Read the best places again.

    Args:
        scope: the sentences.
        order: numbers of some of them, best first.
        reranker: what reads.
        texts: gives their words.

    Returns:
        ``(n,)`` float32 cosines; NaN for sentences that were not read.
    """
    import numpy as np

    found = np.full(len(scope.spans), np.nan, np.float32)
    places = list(_places(scope, order, reranker, min(PLACE, reranker.room), texts))
    read = reranker.cosines([ids for _, ids in places])
    for (first, ids), cosines in zip(places, read, strict=True):
        found[first : first + len(ids)] = cosines
    return found


def _places(
    scope: Scope, order: NDArray[np.int64], reranker: Reranks, size: int, texts: Texts
) -> Iterator[tuple[int, list[Sequence[int]]]]:
    """First sentence and token ids of each place: the best sentence that no place holds, grown."""
    known: dict[int, Sequence[int]] = {}
    taken: set[int] = set()
    spent = 0
    places = 0
    for best in order.tolist():
        if spent >= BUDGET or places == PLACES:
            return
        if best in taken:
            continue
        owner = scope.owner(best)
        low = max(int(scope.document_offsets[owner]), best - AROUND)
        high = min(int(scope.document_offsets[owner + 1]), best + AROUND + 1)
        if not all(number in known for number in range(low, high)):
            known.update(zip(range(low, high), reranker.tokens(texts(low, high)), strict=True))
        room = size - len(known[best]) - 1
        first, last, grows = best, best + 1, True
        while grows:
            grows = False
            for wider in (first - 1, last):
                if low <= wider < high and wider not in taken and len(known[wider]) < room:
                    room -= len(known[wider]) + 1
                    first, last = min(first, wider), max(last, wider + 1)
                    grows = True
        taken.update(range(first, last))
        spent += size - room
        places += 1
        yield first, [known[number] for number in range(first, last)]
