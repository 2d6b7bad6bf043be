"""The clients of endpoints of language models and of embeddings.

Every answer comes over HTTP from a real server on this machine.
"""

import base64
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from milepost.chat import EmbeddingEndpoint, Endpoint, NoResponse
from milepost.errors import InputError, MilepostError
from support.chat_server import DROP, SHORT, Reply, completion, serving

CUT = json.dumps(completion("x")).encode()[:-9]
ASKED = [{"role": "user", "content": "Größe?"}]


def endpoint(chat, **options):
    return Endpoint(chat.url, "small", **{"wait_s": 0.001, "timeout_s": 5.0, **options})


def test_a_request_and_its_answer():
    with serving("Größe!") as chat:
        answer = endpoint(chat, key="secret-key").ask(ASKED, 0.5)
    assert answer == "Größe!"
    assert chat.requests == [{"model": "small", "messages": ASKED, "temperature": 0.5}]
    assert chat.headers[0]["Authorization"] == "Bearer secret-key"
    assert chat.headers[0]["path"] == "/v1/chat/completions"


def test_without_a_key_none_is_sent():
    with serving("yes") as chat:
        Endpoint(chat.url + "/chat/completions/", "small").ask(ASKED)
    assert "Authorization" not in chat.headers[0]
    assert chat.headers[0]["path"] == "/v1/chat/completions"
    assert chat.requests == [{"model": "small", "messages": ASKED}]


@pytest.mark.parametrize(
    "trouble",
    [429, 500, 503, DROP, SHORT, b"<html>", b"[]", b'{"choices": []}', CUT,
     b'{"choices": [{"message": {"content": 3}}]}'],
)  # fmt: skip
def test_trouble_that_passes_is_tried_again(trouble):
    with serving(trouble, trouble, "at last") as chat:
        assert endpoint(chat).ask(ASKED) == "at last"
    assert len(chat.requests) == 3


def test_what_the_endpoint_asks_to_wait_is_waited():
    with serving(Reply({}, 429, {"Retry-After": "0.3"}), "yes") as chat:
        endpoint(chat).ask(ASKED)
    assert chat.times[1] - chat.times[0] >= 0.3


@pytest.mark.parametrize(
    ("status", "error", "said", "asked"),
    [
        (503, MilepostError, r"HTTP 503.*tried 3 times", 3),
        (401, MilepostError, "OPENAI_API_KEY", 1),
        (404, MilepostError, "--endpoint", 1),
        *((status, NoResponse, str(status), 1) for status in (400, 413, 422)),
    ],
)
def test_only_trouble_is_tried_again_and_what_stays_is_an_error(status, error, said, asked):
    """Refusals of everybody and of one request are not."""
    with serving(status) as chat:
        with pytest.raises(error, match=said):
            endpoint(chat, tries=3).ask(ASKED)
        assert len(chat.requests) == asked


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_is_not_followed(status):
    with serving("elsewhere") as other:
        with (
            serving(Reply({}, status, {"Location": other.url})) as chat,
            pytest.raises(MilepostError, match=f"--endpoint {other.url}"),
        ):
            endpoint(chat, key="secret").ask(ASKED)
        assert not other.requests


def test_answers_that_are_never_readable():
    with serving(b"{}") as chat, pytest.raises(NoResponse, match="unknown form"):
        endpoint(chat, tries=2).ask(ASKED)


def test_a_slow_answer_ends_in_time():
    """The limit is for the whole answer: dripping bytes do not prolong it."""
    with serving(0.05, "quick") as chat:
        assert endpoint(chat, timeout_s=0.4).ask(ASKED) == "quick"
    assert chat.times[1] - chat.times[0] < 2


def test_requests_keep_their_distance():
    with serving("yes") as chat:
        asked = endpoint(chat, per_minute=600)
        for _ in range(4):
            asked.ask(ASKED)
    gaps = [b - a for a, b in zip(chat.times, chat.times[1:], strict=False)]
    assert chat.times[-1] - chat.times[0] >= 0.27, gaps


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "localhost:8080", "ftp://h/x", "", "http://", "http://h:port/v1"]
)
def test_an_address_that_is_none(url):
    with pytest.raises(InputError, match="is not an address"):
        Endpoint(url, "small")


def embedding(there: Any, **options: Any) -> EmbeddingEndpoint:
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
        found = embedding(there, key="secret-key").embed(texts)
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
        found = embedding(there).embed(["one", "three"])
    assert found.tolist() == [vector("one"), vector("three")]


def test_what_is_too_much_is_halved() -> None:
    with serving(lambda n, body: 413 if len(body["input"]) > 11 else reply(n, body)) as there:
        found = embedding(there).embed([f"text {n}" for n in range(40)])
    assert len(found) == 40
    with (
        serving(lambda n, body: 400 if "bad" in body["input"] else reply(n, body)) as there,
        pytest.raises(NoResponse, match="status 400 it is"),
    ):
        embedding(there).embed(["good", "bad", "good"])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"data": [{"embedding": [1, 2]}]}', "1 vectors for 2 texts"),
        (answered([[1.0], [1.0, 2.0]]), "differ in width"),
        (answered([[], []]), "differ in width"),
        (answered([[1.0], ["x"]]), "unknown form"),
        (b'{"data": [{"embedding": [NaN]}, {"embedding": [1]}]}', "not numbers"),
        (b'{"data": 3}', r"no data\[…\].embedding"),
    ],
)
def test_what_are_no_vectors(body: bytes, words: str) -> None:
    with serving(body) as there, pytest.raises(NoResponse, match=words):
        embedding(there).embed(["a", "b"])


def test_errors_name_the_option_and_never_the_key() -> None:
    with pytest.raises(InputError, match="--model http://HOST:PORT/v1#MODEL"):
        EmbeddingEndpoint("ftp://host/v1", "small")
    with serving(401) as there, pytest.raises(MilepostError) as refused:
        embedding(there, key="secret-key", key_name="MILEPOST_EMBEDDING_KEY").embed(["a"])
    assert "set MILEPOST_EMBEDDING_KEY" in str(refused.value)
    assert "secret-key" not in str(refused.value)
    with pytest.raises(MilepostError, match="tried 3 times"):
        embedding(there).embed(["a"])
