"""Searches beside bulk indexing on the real engine, with and without a governor."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import milepost
from milepost.errors import MilepostError
from milepost.govern import Governor
from milepost.index import Index
from milepost.intake import Step
from milepost.types import Document
from milepost_lab.power.measured import nearest_rank
from milepost_lab.power.speed import text

PHASES = ("quiet", "ungoverned", "governed")
"""Nothing is indexed; bulk indexing as fast as it can; bulk indexing under a governor."""


@dataclass(frozen=True, slots=True)
class Phase:
    """What was measured of a phase, all its turns together.

    Attributes:
        searches: seconds that each search took.
        sentences: indexed in it.
        seconds: that it lasted.
    """

    searches: tuple[float, ...]
    sentences: int
    seconds: float

    @property
    def median(self) -> float:
        """Seconds of a search, P50 by nearest rank."""
        return nearest_rank(self.searches, 0.5)


def contend(
    *,
    seconds: float = 4.0,
    turns: int = 2,
    think: float = 0.05,
    model: str | None = None,
) -> dict[str, Phase]:
    """Search in one thread while another indexes.

    Each thread has an engine of its own, as two parts of a server would.

    Args:
        seconds: of each phase in each turn.
        turns: phases take turns, so that a change in other load meets all of them.
        think: seconds between an answer and the next question.
        model: a shipped model or a folder; None for the default.

    Returns:
        Phase by its name, see ``PHASES``.

    Raises:
        MilepostError: indexing failed.
    """
    found: dict[str, list[Phase]] = {name: [] for name in PHASES}
    with milepost.open(None, model=model) as asked, milepost.open(None, model=model) as filled:
        asked.add(Document(name="library", text=text(200)))
        asked.search("who built the old wall")
        filled.add(Document(name="first", text=text(20)))
        for turn in range(turns):
            for name in PHASES:
                governor = Governor() if name == "governed" else None
                bulk = None if name == "quiet" else _Bulk(filled, governor, turn)
                found[name].append(_phase(asked, bulk, governor, seconds, think))
    return {
        name: Phase(
            tuple(taken for part in parts for taken in part.searches),
            sum(part.sentences for part in parts),
            sum(part.seconds for part in parts),
        )
        for name, parts in found.items()
    }


def _phase(
    index: Index, bulk: _Bulk | None, governor: Governor | None, seconds: float, think: float
) -> Phase:
    taken = []
    if bulk is not None:
        bulk.start()
    begun = time.monotonic()
    try:
        while (now := time.monotonic()) - begun < seconds:
            if governor is None:
                index.search("who built the old wall")
            else:
                with governor.search():
                    index.search("who built the old wall")
            taken.append(time.monotonic() - now)
            time.sleep(think)
    finally:
        passed = time.monotonic() - begun
        done = 0 if bulk is None else bulk.end()
    return Phase(tuple(taken), done, passed)


class _Bulk(threading.Thread):
    """Indexes documents until ``end`` is called."""

    def __init__(self, index: Index, governor: Governor | None, turn: int) -> None:
        super().__init__(daemon=True)
        self._index, self._turn = index, turn
        self._between = governor.bulk() if governor is not None else None
        self._ending = threading.Event()
        self._done = 0
        self._error: MilepostError | None = None

    def run(self) -> None:
        number = 0
        try:
            while not self._ending.is_set():
                name = f"{self._turn} {number} {self._between is not None}"
                body = f"{name}. {text(40)}"  # no two alike: what is known is not read again
                before = self._done

                def told(step: Step, before: int = before) -> None:
                    self._done = before + step.done
                    if self._between is not None:
                        self._between()

                self._index.add(Document(name=name, text=body), progress=told)
                number += 1
        except MilepostError as error:
            self._error = error

    def end(self) -> int:
        """Stop after the document at hand; returns the sentences that were indexed."""
        done = self._done
        self._ending.set()
        self.join()
        if self._error is not None:
            raise self._error
        return done
