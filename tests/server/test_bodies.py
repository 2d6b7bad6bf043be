"""Bodies of requests: null for a default, and lists of wrong items refused at once."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from support.cli_process import python
from support.server import Server, running_server

TEXTS = "/v1/embeddings"


@pytest.mark.parametrize(
    ("path", "body", "optional"),
    [
        (TEXTS, {"input": "x"}, "model encoding_format dimensions user input_type landmarks"),
        ("/search", {"question": "wax"}, "k budget min_score documents where rerank heat"),
        ("/check", {"text": "wax"}, "documents where min_score"),
    ],
)
def test_null_is_the_default(
    client: httpx2.Client, path: str, body: dict[str, Any], optional: str
) -> None:
    got = client.post(path, json=body | dict.fromkeys(optional.split()))
    assert got.status_code == 200, got.text
    assert got.json() == client.post(path, json=body).json()


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        (TEXTS, {"input": []}, "body.input: a text is needed"),
        (TEXTS, {"input": ["a"] * 2049}, "body.input: 2,049 items; at most 2,048"),
        (TEXTS, {"input": [1, 2]}, "check_embedding_ctx_length=False"),
        (TEXTS, {"input": ["a", None]}, "body.input: item 1 is not text"),
        (TEXTS, {"input": None}, "body.input: Field required"),
        ("/search", {"question": "b", "documents": ["a"] * 10_001}, "at most 10,000"),
        ("/search", {"question": "?"}, "neither letter nor digit"),
        ("/search", {"question": "b", "k": 0}, "body.k: "),
        ("/search", {"question": "b", "min_score": 2}, "min_score"),
        ("/search", {"question": "b", "budget": "9" * 90 + "c"}, "is not a length"),
        ("/search", {"question": "b", "budget": 0}, "budget 0 is not a length; try: 1600c or 400t"),
        ("/search", {"question": "b", "budget": -1}, "budget -1 is not a length; try: 1600c"),
        ("/search", {"question": "b", "budget": ["b"] * 90_000}, "body.budget: Input should be"),
        ("/check", [{"text": 1}] * 20_000, "body: not a JSON object"),
        (
            "/check",
            {"text": "b"} | dict.fromkeys(map(str, range(20_000)), 1),
            "body.0: there is no",
        ),
        ("/check", {"text": "b", "documents": ["a" * 5000] * 200}, "body.documents.0: String"),
        ("/search", {"question": "b", "filter": 'kind = "md"'}, "body.filter: there is no such"),
        ("/search", {"question": "b", "filter": 'kind = "md"'}, "documents, where, rerank"),
        ("/search", {"question": "b", "k": True}, "body.k: "),
        (
            "/documents/x/reading",
            {"password": [{"a": 1}] * 90_000},
            "body.password: Input should be",
        ),
    ],
)
def test_one_error_says_what_is_wrong(
    client: httpx2.Client, path: str, body: object, said: str
) -> None:
    got = client.post(path, json=body)
    assert got.status_code == 422
    message = got.json()["error"]["message"]
    assert said in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("method", "path", "known"),
    [
        ("GET", "/documents?wher=x&limit=1", "; try: cursor, limit, where"),
        ("DELETE", "/documents/x?wher=true", "; try: now"),
        ("POST", "/search?wher=x", ""),
    ],
)
def test_an_unknown_parameter_is_refused(
    client: httpx2.Client, method: str, path: str, known: str
) -> None:
    got = client.request(method, path, json={"question": "wax"} if method == "POST" else None)
    assert got.status_code == 422
    error = got.json()["error"]
    assert error["message"] == f"query.wher: there is no such field{known}"
    assert error["param"] == "query.wher"
    assert client.get("/health?probe=7").status_code == 200


@pytest.mark.parametrize("path", ["/?x=1", "/page/main.js?x=1", "/v1/models?api-version=1"])
def test_the_page_and_clients_of_openai_may_add_parameters(
    client: httpx2.Client, path: str
) -> None:
    assert client.get(path).status_code == 200


def test_what_is_not_json_is_told_the_content_type(client: httpx2.Client) -> None:
    got = client.post(TEXTS, content=b'{"input":"x"}', headers={"content-type": "text/plain"})
    assert got.status_code == 422
    assert "Content-Type: application/json" in got.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 200_000,
        b'{"input": "caf\xe9"}',
        b'{"input": "x", "dimensions": ' + b"9" * 5000 + b"}",
        b'{"input": ["a", "\\ud83d"]}',
        b'{"input": "secret',
    ],
    ids=["nested", "latin-1", "digits", "surrogate", "cut"],
)
def test_json_that_cannot_be_read_is_422(client: httpx2.Client, body: bytes) -> None:
    got = client.post(TEXTS, content=body, headers={"content-type": "application/json"})
    assert got.status_code == 422
    message = got.json()["error"]["message"]
    assert len(message) < 300
    assert message.startswith("body.input.1: " if b"ud83d" in body else "body: not JSON")
    assert "secret" not in got.text


def test_a_body_for_embeddings_may_be_larger_than_others(client: httpx2.Client) -> None:
    more = {"tags": ["a" * 2_000_000]}
    assert client.post(TEXTS, json={"input": "x"} | more).status_code == 200
    refused = client.post("/search", json={"question": "wax"} | more)
    assert refused.status_code == 413
    assert "larger than 1,048,576 bytes" in refused.json()["error"]["message"]


def test_a_field_that_is_no_file_is_refused_in_words(client: httpx2.Client) -> None:
    """As ``curl -F file=report.pdf`` sends it, without the sign for a file."""
    got = client.post("/documents", files={"file": (None, "report.pdf")})
    assert got.status_code == 422
    assert "-F file=@PATH" in got.json()["error"]["message"]


def test_a_body_for_agents_is_small(client: httpx2.Client) -> None:
    arguments = {"question": "b", "documents": [1] * 600_000}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "search", "arguments": arguments}  # type: ignore[assignment]
    assert client.post("/mcp", json=call).status_code == 413


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/search", lambda: {"question": "b", "documents": [1] * 340_000}),
        ("/search", lambda: {"question": "b", **{f"key {number}": 1 for number in range(66_000)}}),
        # The wrong item is the last one, so that all of it is read.
        ("/check", lambda: {"text": "b", "documents": [*["ab"] * 170_000, 1]}),
        # What is wrong comes late.
        ("/search", lambda: {"question": "b", "documents": [*["a" * 100] * 2000, *[{}] * 200_000]}),
        (TEXTS, lambda: {"input": [1] * 3_300_000}),
        (
            TEXTS,
            lambda: {"user": "b" * 70_000, **{f"key {number}": 1 for number in range(700_000)}},
        ),
    ],
)
def test_a_large_body_of_wrong_items_is_refused_at_once(
    server: Server, client: httpx2.Client, path: str, body: Callable[[], Any]
) -> None:
    """It took 20 seconds, in which the server answered nobody; a message is short."""
    data = json.dumps(body()).encode()
    assert len(data) > (9_000_000 if path == TEXTS else 1_000_000)
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


TABLES = {"HYPOTHESIS_STORAGE_DIRECTORY": str(Path(__file__).resolve().parents[2] / ".hypothesis")}
"""Where the other tests keep theirs; a new table of Unicode takes six seconds."""

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance"
)


def test_generated_requests_are_answered_as_described(texts: Path, tmp_path: Path) -> None:
    pytest.importorskip("schemathesis", reason="needs the test extra")
    with running_server(texts, cache=tmp_path / "cache") as (running, client):
        done = python(
            *("-m", "schemathesis.cli", "run", f"{running.url}/openapi.json"),
            *("--checks", CHECKS, "--max-examples", "4", "--seed", "1"),
            *("--mode", "all", "--phases", "coverage,fuzzing", "--no-color"),
            *("--request-timeout", "60"),
            cwd=tmp_path,
            PYTHONIOENCODING="utf-8",
            **TABLES,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        assert client.get("/ready").status_code == 200
        assert client.post("/search", json={"question": "Who makes wax?"}).json()["passages"]
        assert "Traceback" not in running.said()
