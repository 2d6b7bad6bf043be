"""Bulk work waits for searches, so that searches are answered while documents are indexed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LINGER_S = 0.25  # seconds after a search in which no batch begins, because searches come in series
PATIENCE_S = 2.0  # maximum seconds that a batch waits for searches

MIN_RATE = 0.1
"""Minimum share of its speed that bulk work keeps, however many searches come: a batch waits for
them at most ``1 / MIN_RATE - 1`` times its own length."""


class Governor:
    """Delays bulk work while searches run.

        governor = Governor()
        index.add("reports/", progress=governor.bulk())  # in one thread
        with governor.search():                          # in any other thread
            index.search("…")

    Running batches and searches are never interrupted. The governor has no thread of its own, and
    any method may be called from any thread. One that is not ``active`` only counts.

    Attributes:
        searches: number of running searches.
        paused: total seconds that bulk work has waited.
    """

    def __init__(self, *, active: bool = True) -> None:
        self._active = active
        self.searches = 0
        self.paused = 0.0
        self._gate = threading.Condition()
        self._searched = -float("inf")

    @contextmanager
    def search(self) -> Iterator[None]:
        """Run a search: no batch begins inside this block."""
        with self._gate:
            self.searches += 1
        try:
            yield
        finally:
            with self._gate:
                self.searches -= 1
                self._searched = time.monotonic()
                self._gate.notify_all()

    def batch(self, seconds: float) -> float:
        """Call after a batch of so many seconds; waits until the next may begin: how long."""
        with self._gate:
            begun = time.monotonic()
            latest = begun + min(PATIENCE_S, max(0.0, seconds) * (1.0 / MIN_RATE - 1.0))
            while (left := self._free_at(latest) - time.monotonic()) > 0:
                self._gate.wait(left)
            waited = time.monotonic() - begun
            self.paused += waited
        return waited

    def _free_at(self, latest: float) -> float:
        """When the next batch may begin, as far as is known now."""
        return latest if self.searches else min(latest, self._searched + LINGER_S)

    def bulk(self) -> Callable[..., None]:
        """A callback to call between batches: ``progress`` of ``Index.add`` or ``Encoder.encode``.

        It measures the batches itself, from the end of one call to the next. Make one callback for
        each thread of bulk work.
        """
        if not self._active:
            return lambda *_: None
        since = time.monotonic()

        def between(*_: object) -> None:
            nonlocal since
            self.batch(time.monotonic() - since)
            since = time.monotonic()

        return between
