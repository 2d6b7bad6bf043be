"""Figures of a server for Prometheus."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counters and histograms; each server has its own."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.requests = Counter(
            "milepost_requests",
            "Requests by route and status.",
            ("route", "status"),
            registry=registry,
        )
        self.seconds = Histogram(
            "milepost_request_seconds",
            "Seconds until the answer is complete, by route.",
            ("route",),
            buckets=_SECONDS,
            registry=registry,
        )
        self.run = Histogram(
            "milepost_run_texts",
            "Texts that are encoded in one run.",
            buckets=_TEXTS,
            registry=registry,
        )
        self.tokens = Counter(
            "milepost_tokens", "Tokens encoded for /v1/embeddings.", registry=registry
        )
        self.documents = Gauge("milepost_documents", "Documents in the index.", registry=registry)
        self.sentences = Gauge("milepost_sentences", "Sentences in the index.", registry=registry)
        self.waiting = Gauge(
            "milepost_indexing_waiting", "Pieces of work that wait.", registry=registry
        )
        self.paused = Gauge(
            "milepost_indexing_paused_seconds",
            "Seconds that indexing has waited for searches.",
            registry=registry,
        )

    def text(self) -> bytes:
        """Everything, in Prometheus' format."""
        return generate_latest(self.registry)


class Measured:
    """ASGI middleware that counts requests; a route is named by its pattern, not its path."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        begun = time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            # Paths hold ids and come from strangers: each would make a series of its own.
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.requests.labels(route, str(status)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - begun)
