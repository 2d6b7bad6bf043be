"""Reranking: a joint encoder of question and sentences scores windows around the best sentences.

The ranking so far selects the windows. A model that reads the question and a window together scores
each sentence of the window, and how likely the window is to answer (``milepost.encoder.reranker``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from milepost._numpy import NDArray, np
from milepost.search.scope import Scope
from milepost.store.base import Snapshot
from milepost.verdicts import ANSWERED, WindowReading

WINDOW_TOKENS = 192  # tokens of a window, including one landmark per sentence
MAX_TOKENS = 1000
"""Maximum tokens of all windows, not counting the question in front of each. Three times as many
find no more evidence on development questions."""
MAX_WINDOWS = 24
"""Maximum number of windows. In documents of one sentence windows are small, and the question is
read once for each window."""
CONTEXT_SENTENCES = 12  # maximum number of sentences on each side of a window's best sentence


@dataclass(frozen=True, slots=True)
class Reread:
    """What a reranker says of the sentences of a scope, ``(n,)`` float32; NaN for the others.

    It is the cosines, and the log-odds that a sentence's window answers; None if it does not say.
    """

    cosines: NDArray[np.float32]
    answered: NDArray[np.float32] | None = None


class Reranker(Protocol):
    """Scores sentences for a question, as ``milepost.encoder.reranker.LandmarkReranker`` does."""

    def for_query(self, question: str) -> BoundReranker | None:
        """Bind the reranker to one question; None if the question is too long."""


class BoundReranker(Protocol):
    """A reranker bound to one question."""

    @property
    def room(self) -> int:
        """Maximum tokens of a window, including one landmark per sentence."""

    def tokens(self, sentences: Sequence[str]) -> Sequence[Sequence[int]]:
        """Tokenize sentences."""

    def read(self, windows: Sequence[Sequence[Sequence[int]]]) -> Sequence[WindowReading]:
        """Read windows, each as the token ids of its sentences."""


class Texts:
    """The texts of a scope's sentences.

    They are read for many sentences at once, because a call to a remote store costs more than the
    few texts that nothing needs.
    """

    def __init__(self, snapshot: Snapshot, scope: Scope) -> None:
        self._snapshot, self.scope = snapshot, scope
        self._known: dict[int, str] = {}

    def __getitem__(self, number: int) -> str:
        return self._known[number]

    def around(self, number: int, reach: int) -> range:
        """The sentences around one in its document, itself included."""
        owner = self.scope.owner(number)
        low, high = self.scope.document_offsets[owner : owner + 2].tolist()
        return range(max(low, number - reach), min(high, number + reach + 1))

    def read(self, numbers: Sequence[int], ahead: Sequence[int] = ()) -> None:
        """Read sentences, if any is missing with those around the best ones that are ``ahead``."""
        missing = dict.fromkeys(each for each in numbers if each not in self._known)
        if not missing:
            return
        for best in ahead:
            near = self.around(best, CONTEXT_SENTENCES)
            missing |= dict.fromkeys(each for each in near if each not in self._known)
            if len(missing) >= MAX_WINDOWS * CONTEXT_SENTENCES:
                break
        parts = [self.scope.part(number, number + 1) for number in sorted(missing)]
        self._known.update(zip(sorted(missing), self._snapshot.texts(parts), strict=True))


def rerank(texts: Texts, order: NDArray[np.int64], reranker: BoundReranker) -> Reread:
    """Read windows around the best sentences."""
    found = np.full(len(texts.scope.spans), np.nan, np.float32)
    answered = found.copy()
    size = min(WINDOW_TOKENS, reranker.room)
    windows = list(_windows(order.tolist(), size, texts, reranker))
    gives_verdicts = False
    readings = reranker.read([ids for _, ids in windows])
    for (first, ids), reading in zip(windows, readings, strict=True):
        found[first : first + len(ids)] = reading.cosines
        if reading.verdicts is not None:
            answered[first : first + len(ids)] = reading.verdicts[ANSWERED]
            gives_verdicts = True
    return Reread(found, answered if gives_verdicts else None)


def _windows(
    order: Sequence[int], size: int, texts: Texts, reranker: BoundReranker
) -> Iterator[tuple[int, list[Sequence[int]]]]:
    """Yield each window as its first sentence and token ids.

    A window grows around the best sentence that no earlier window includes.
    """
    taken: set[int] = set()
    known: dict[int, Sequence[int]] = {}
    spent = windows = 0
    for place, best in enumerate(order):
        if spent >= MAX_TOKENS or windows == MAX_WINDOWS:
            return
        if best in taken:
            continue
        near = texts.around(best, CONTEXT_SENTENCES)
        texts.read(near, order[place:])
        new = [number for number in near if number not in known]
        known.update(zip(new, reranker.tokens([texts[number] for number in new]), strict=True))
        room = size - len(known[best]) - 1
        first, last, grows = best, best + 1, True
        while grows:
            grows = False
            for wider in (first - 1, last):
                if wider in near and wider not in taken and len(known[wider]) < room:
                    room -= len(known[wider]) + 1
                    first, last = min(first, wider), max(last, wider + 1)
                    grows = True
        taken.update(range(first, last))
        spent += size - room
        windows += 1
        yield first, [known[number] for number in range(first, last)]
