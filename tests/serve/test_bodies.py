"""Bodies of requests: null for a default, and lists of wrong items refused at once."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.server import Server

TEXTS = "/v1/embeddings"


@pytest.fixture
def client(server: Server) -> Iterator[httpx2.Client]:
    with server.client() as made:
        yield made


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            TEXTS,
            {
                "input": "x",
                **dict.fromkeys(
                    ("model", "encoding_format", "dimensions", "user", "input_type", "landmarks")
                ),
            },
        ),
        (
            "/search",
            {
                "question": "Who makes wax?",
                **dict.fromkeys(
                    ("k", "budget", "min_score", "documents", "where", "rerank", "heat")
                ),
            },
        ),
        ("/check", {"text": "wax", **dict.fromkeys(("documents", "where", "min_score"))}),
    ],
)
def test_null_is_the_default(client: httpx2.Client, path: str, body: dict[str, Any]) -> None:
    """As OpenAI's and other clients send what they have no value for."""
    plain = {key: value for key, value in body.items() if value is not None}
    got = client.post(path, json=body)
    assert got.status_code == 200, got.text
    assert got.json() == client.post(path, json=plain).json()


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        (TEXTS, {"input": []}, "body.input: a text is needed"),
        (TEXTS, {"input": ["a", ""]}, "body.input: a text is needed"),
        (TEXTS, {"input": ["a"] * 2049}, "body.input: 2,049 items; at most 2,048"),
        (TEXTS, {"input": [1, 2]}, "check_embedding_ctx_length=False"),
        (TEXTS, {"input": [[1], [2]]}, "body.input: token numbers"),
        (TEXTS, {"input": ["a", None]}, "body.input: item 1 is not text"),
        (TEXTS, {"input": ""}, "body.input"),
        (TEXTS, {}, "body.input"),
        (TEXTS, {"input": None}, "body.input: Field required"),
        (TEXTS, {"input": {"a": 1}}, "body.input: neither a text nor a list"),
        ("/search", {"question": "b", "documents": ["a"] * 10_001}, "at most 10,000"),
        ("/search", {"question": "b", "budget": "9" * 90 + "c"}, "is not a length"),
        ("/search", {"question": "b", "budget": "9" * 5000}, "body.budget"),
    ],
)
def test_one_error_says_what_is_wrong(
    client: httpx2.Client, path: str, body: dict[str, Any], said: str
) -> None:
    got = client.post(path, json=body)
    assert got.status_code == 422
    message = got.json()["error"]["message"]
    assert said in message
    assert len(message) < 300


def test_what_is_not_json_is_told_the_content_type(client: httpx2.Client) -> None:
    got = client.post(TEXTS, content=b'{"input":"x"}', headers={"content-type": "text/plain"})
    assert got.status_code == 422
    assert "Content-Type: application/json" in got.json()["error"]["message"]
    deep = client.post(TEXTS, content=b"[" * 200_000, headers={"content-type": "application/json"})
    assert deep.status_code in (400, 422)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (TEXTS, {"input": [["a"] * 2000] * 1000}),
        ("/search", {"question": "b", "documents": [1] * 3_300_000}),
        # The wrong item is the last one, so that all of it is read.
        ("/check", {"text": "b", "documents": [*["ab"] * 1_600_000, 1]}),
    ],
)
def test_ten_megabytes_of_wrong_items_are_refused_at_once(
    server: Server, client: httpx2.Client, path: str, body: dict[str, Any]
) -> None:
    """It took 20 seconds, in which the server answered nobody; a message is short."""
    data = json.dumps(body).encode()
    assert len(data) > 9_000_000
    slowest = 0.0
    stop = threading.Event()

    def probe() -> None:
        nonlocal slowest
        with server.client() as other:
            while not stop.is_set():
                begun = time.perf_counter()
                assert other.get("/health").status_code == 200
                slowest = max(slowest, time.perf_counter() - begun)

    thread = threading.Thread(target=probe)
    thread.start()
    begun = time.perf_counter()
    got = client.post(path, content=data, headers={"content-type": "application/json"})
    took = time.perf_counter() - begun
    stop.set()
    thread.join()
    assert got.status_code == 422
    assert len(got.content) < 1_000
    assert took < 5
    assert slowest < 3
