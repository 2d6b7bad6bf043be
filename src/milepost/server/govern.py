"""Bulk work waits for searches, so that searches are answered while documents are indexed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from milepost.errors import InputError


class Governor:
    """Delays bulk work while searches run.

        governor = Governor()
        index.add("reports/", progress=governor.bulk())  # in one thread
        with governor.search():                          # in any other thread
            index.search("…")

    Running batches and searches are never interrupted. The governor has no thread of its own, and
    any method may be called from any thread.

    Args:
        linger: seconds after a search in which no batch begins, because searches come in series.
        patience: maximum seconds that a batch waits for searches.
        min_rate: minimum share of its speed that bulk work keeps, however many searches come: a
            batch waits for them at most ``1/min_rate - 1`` times its own length.

    Raises:
        InputError: a negative time, or a share outside 0 to 1.
    """

    def __init__(
        self, *, linger: float = 0.25, patience: float = 2.0, min_rate: float = 0.1
    ) -> None:
        if min(linger, patience) < 0:
            raise InputError("linger or patience is negative", "0 or more seconds")
        if not 0 < min_rate <= 1:
            raise InputError(f"min_rate = {min_rate}", "more than 0, at most 1")
        self._linger, self._patience = linger, patience
        self._max_wait = 1.0 / min_rate - 1.0  # in lengths of a batch
        self._gate = threading.Condition()
        self._searches = 0
        self._searched = -float("inf")
        self._paused = 0.0

    @property
    def searches(self) -> int:
        """Number of running searches."""
        return self._searches

    @property
    def paused(self) -> float:
        """Total seconds that bulk work has waited."""
        return self._paused

    @contextmanager
    def search(self) -> Iterator[None]:
        """Run a search: no batch begins inside this block."""
        with self._gate:
            self._searches += 1
        try:
            yield
        finally:
            with self._gate:
                self._searches -= 1
                self._searched = time.monotonic()
                self._gate.notify_all()

    def batch(self, seconds: float) -> float:
        """Call after each batch of bulk work; returns when the next batch may begin.

        Args:
            seconds: duration of the batch.

        Returns:
            Seconds waited.
        """
        with self._gate:
            begun = time.monotonic()
            latest = begun + min(self._patience, max(0.0, seconds) * self._max_wait)
            while (left := self._free_at(latest) - time.monotonic()) > 0:
                self._gate.wait(left)
            waited = time.monotonic() - begun
            self._paused += waited
        return waited

    def _free_at(self, latest: float) -> float:
        """When the next batch may begin, as far as is known now."""
        return latest if self._searches else min(latest, self._searched + self._linger)

    def bulk(self) -> Callable[..., None]:
        """A callback to call between batches: ``progress`` of ``Index.add`` or ``Encoder.encode``.

        It measures the batches itself, from the end of one call to the next. Make one callback for
        each thread of bulk work.
        """
        since = time.monotonic()

        def between(*_: object) -> None:
            nonlocal since
            self.batch(time.monotonic() - since)
            since = time.monotonic()

        return between
