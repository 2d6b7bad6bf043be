"""The client of an embedding endpoint: what is sent at a time, what is read, what is refused.

Every answer comes over HTTP from a real server on this machine.
"""

import base64
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from milepost.chat import EmbeddingEndpoint, NoResponse
from milepost.errors import InputError, MilepostError
from support.chat_server import serving


@pytest.fixture(autouse=True)
def straight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever proxy the machine has, the server is on it."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def endpoint(there: Any, **options: Any) -> EmbeddingEndpoint:
    settings = {"wait_s": 0.001, "timeout_s": 5.0, "tries": 3, **options}
    return EmbeddingEndpoint(there.url, "small", **settings)


def vector(text: str) -> list[float]:
    return [float(len(text)), float(ord(text[0]))]


def answered(rows: Sequence[Any]) -> bytes:
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    return json.dumps({"object": "list", "data": data, "model": "small"}).encode()


def reply(_: int, body: dict[str, Any]) -> bytes:
    return answered([vector(text) for text in body["input"]])


def test_texts_are_sent_in_batches_and_their_order_kept() -> None:
    """At most 64 texts and 32,000 characters a request; the model, the key, and nothing else."""
    texts = [f"{number:03}" * (1 + number % 3) for number in range(150)] + ["x" * 31_000] * 2
    with serving(reply) as there:
        found = endpoint(there, key="secret-key").embed(texts)
    assert found.dtype == np.float32
    assert found.tolist() == [vector(text) for text in texts]
    assert [len(body["input"]) for body in there.requests] == [64, 64, 23, 1]
    assert all(sum(map(len, body["input"])) <= 32_000 for body in there.requests)
    assert there.requests[0].keys() == {"model", "input", "encoding_format"}
    assert there.headers[0]["path"] == "/v1/embeddings"
    assert there.headers[0]["Authorization"] == "Bearer secret-key"


def test_other_forms_of_an_answer() -> None:
    def other(_: int, body: dict[str, Any]) -> bytes:
        rows = [
            base64.b64encode(struct.pack("<2f", *vector(text))).decode() for text in body["input"]
        ]
        data = [{"index": n, "embedding": row} for n, row in enumerate(rows)]
        return json.dumps({"data": data[::-1]}).encode()

    with serving(other) as there:
        found = endpoint(there).embed(["one", "three"])
    assert found.tolist() == [vector("one"), vector("three")]


def test_what_is_too_much_is_halved() -> None:
    """An endpoint that takes eleven texts gets them all; one text that it refuses is an error."""
    with serving(lambda n, body: 413 if len(body["input"]) > 11 else reply(n, body)) as there:
        found = endpoint(there).embed([f"text {n}" for n in range(40)])
    assert len(found) == 40
    with (
        serving(lambda n, body: 400 if "bad" in body["input"] else reply(n, body)) as there,
        pytest.raises(NoResponse, match="status 400 it is"),
    ):
        endpoint(there).embed(["good", "bad", "good"])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"data": [{"embedding": [1, 2]}]}', "1 vectors for 2 texts"),
        (answered([[1.0], [1.0, 2.0]]), "differ in width"),
        (answered([[], []]), "differ in width"),
        (answered([[1.0], ["x"]]), "unknown form"),
        (answered([[1.0], "%%"]), "unknown form"),
        (b'{"data": [{"embedding": [NaN]}, {"embedding": [1]}]}', "not numbers"),
        (b'{"data": 3}', r"no data\[…\].embedding"),
    ],
)
def test_what_are_no_vectors(body: bytes, words: str) -> None:
    with serving(lambda n, _: body) as there, pytest.raises(NoResponse, match=words):
        endpoint(there).embed(["a", "b"])


def test_errors_name_the_option_and_never_the_key() -> None:
    with pytest.raises(InputError, match="--model http://HOST:PORT/v1#MODEL"):
        EmbeddingEndpoint("ftp://host/v1", "small")
    with serving(lambda n, body: 401) as there, pytest.raises(MilepostError) as refused:
        endpoint(there, key="secret-key", key_name="MILEPOST_EMBEDDING_KEY").embed(["a"])
    assert "set MILEPOST_EMBEDDING_KEY" in str(refused.value)
    assert "secret-key" not in str(refused.value)
    with pytest.raises(MilepostError, match="tried 3 times"):
        endpoint(there).embed(["a"])
