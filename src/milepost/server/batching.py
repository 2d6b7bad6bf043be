"""Texts of many requests in one run of the encoder.

While the encoder works, requests wait; the next run takes all of them. Nobody waits for a timer:
a lone request starts at once, and the more requests there are, the larger the runs.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from milepost.encoder import Encoder
from milepost.server.failures import HttpError
from milepost.types import Landmarks

RUN = 60_000
"""Characters of one run, some four seconds on two slow cores: the next request waits no longer."""

MAX_WAITING = 256
"""Texts that may wait for the encoder, and searches that may run or wait; more get status 503."""


class ClientDisconnected(Exception):
    """The client left; nobody waits for the result."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """One text encoded: ``(d,)`` float32, unit length, its tokens, landmarks if no question."""

    vector: NDArray[np.float32]
    tokens: int
    landmarks: Landmarks | None = None


@dataclass(slots=True)
class _Waiting:
    text: str
    query: bool
    future: asyncio.Future[Encoded]


class Batcher:
    """Encodes texts of many requests together.

    ``observe`` is called with the number of texts of each run, ``between`` between batches of a
    text that is too long for a run with others.
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        observe: Callable[[int], None],
        between: Callable[..., None],
    ) -> None:
        self._encoder, self._observe, self._between = encoder, observe, between
        self._waiting: deque[_Waiting] = deque()
        self._some = asyncio.Event()
        self._long = asyncio.Lock()

    async def encode(self, texts: Sequence[str], *, query: bool) -> list[Encoded]:
        """Vectors of texts, in order; status 503 where too many wait.

        A text too long for a run with others is encoded alone, beside the runs; the encoder takes
        turns between them.
        """
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Encoded]] = []
        short = [text for text in texts if len(text) <= RUN]
        if self._waiting and len(self._waiting) + len(short) > MAX_WAITING:
            raise HttpError(503, "too many requests wait", "later", {"Retry-After": "2"})
        for text in texts:
            if len(text) > RUN:
                futures.append(loop.create_task(self._alone(text)))
            else:
                futures.append(loop.create_future())
                self._waiting.append(_Waiting(text, query, futures[-1]))
        self._some.set()
        try:
            return list(await asyncio.gather(*futures))
        except BaseException:
            for future in futures:
                future.cancel()
            raise

    async def run(self) -> None:
        """Encode what waits, until cancelled."""
        while True:
            await self._some.wait()
            batch = self._next()
            if not batch:
                self._some.clear()
                continue
            self._observe(len(batch))
            try:
                results = await asyncio.to_thread(self._encode, batch)
            except Exception as error:
                results = [error] * len(batch)
            for each, result in zip(batch, results, strict=True):
                if each.future.done():
                    continue
                if isinstance(result, Exception):
                    each.future.set_exception(result)
                else:
                    each.future.set_result(result)

    def _next(self) -> list[_Waiting]:
        """What waits, up to the size of a run; requests that were given up are dropped."""
        batch: list[_Waiting] = []
        size = 0
        while self._waiting and (not batch or size + len(self._waiting[0].text) <= RUN):
            each = self._waiting.popleft()
            if not each.future.done():
                batch.append(each)
                size += len(each.text)
        return batch

    def _encode(self, batch: Sequence[_Waiting]) -> list[Encoded | Exception]:
        """Encode a run; where it fails as a whole, each text alone, so that one harms no other."""
        try:
            return list(self._together(batch))
        except Exception as error:
            if len(batch) == 1:
                return [error]
        return [result for each in batch for result in self._encode([each])]

    def _together(self, batch: Sequence[_Waiting]) -> list[Encoded]:
        queries = [each.text for each in batch if each.query]
        texts = [each.text for each in batch if not each.query]
        vectors = iter(self._encoder.encode_queries(queries) if queries else ())
        found = iter(self._encoder.encode_texts(texts) if texts else ())
        return [
            Encoded(next(vectors), self._encoder.count_tokens(each.text))
            if each.query
            else _encoded(next(found))
            for each in batch
        ]

    async def _alone(self, text: str) -> Encoded:
        """One long text; it stops between batches where its client has left."""
        left = False

        def on_progress(*_: int) -> None:
            if left:
                raise ClientDisconnected
            self._between()

        async with self._long:
            try:
                marks = await asyncio.to_thread(self._encoder.encode, text, progress=on_progress)
            except asyncio.CancelledError:
                left = True
                raise
        return _encoded(marks)


def _encoded(landmarks: Landmarks) -> Encoded:
    return Encoded(landmarks.document, landmarks.tokens_given, landmarks)
