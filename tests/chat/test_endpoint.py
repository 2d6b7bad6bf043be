"""The client of a language model's endpoint: what goes out, what is tried again, what is not.

Every answer comes over HTTP from a real server on this machine.
"""

import json
import socket

import pytest

from milepost.chat import Endpoint, NoResponse
from milepost.errors import InputError, MilepostError
from support.chat_server import DROP, SHORT, completion, serving

ASKED = [{"role": "user", "content": "Größe?"}]


@pytest.fixture(autouse=True)
def straight(monkeypatch):
    """Whatever proxy the machine has, the server is on it."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def endpoint(chat, **options):
    return Endpoint(chat.url, "small", **{"wait_s": 0.001, "timeout_s": 5.0, **options})


def test_a_request_and_its_answer():
    with serving(lambda n, body: "Größe!") as chat:
        answer = endpoint(chat, key="secret-key").ask(ASKED, 0.5)
    assert answer == "Größe!"
    assert chat.requests == [{"model": "small", "messages": ASKED, "temperature": 0.5}]
    assert chat.headers[0]["Authorization"] == "Bearer secret-key"
    assert chat.headers[0]["path"] == "/v1/chat/completions"


def test_without_a_key_none_is_sent():
    with serving(lambda n, body: "yes") as chat:
        Endpoint(chat.url + "/chat/completions/", "small").ask(ASKED)
    assert "Authorization" not in chat.headers[0]
    assert chat.headers[0]["path"] == "/v1/chat/completions"
    assert chat.requests == [{"model": "small", "messages": ASKED}]


@pytest.mark.parametrize(
    "trouble",
    [429, 500, 503, DROP, SHORT, b"<html>", b"[]", b'{"choices": []}', completion("x")[:-9],
     b'{"choices": [{"message": {"content": 3}}]}'],
)  # fmt: skip
def test_trouble_that_passes_is_tried_again(trouble):
    with serving(lambda n, body: trouble if n < 2 else "at last") as chat:
        assert endpoint(chat).ask(ASKED) == "at last"
    assert len(chat.requests) == 3


def test_what_the_endpoint_asks_to_wait_is_waited():
    later = {"status": 429, "headers": {"Retry-After": "0.3"}}
    with serving(lambda n, body: later if n == 0 else "yes") as chat:
        endpoint(chat).ask(ASKED)
    assert chat.times[1] - chat.times[0] >= 0.3


def test_trouble_that_stays_is_an_error_that_says_what_is_kept():
    with serving(lambda n, body: 503) as chat:
        with pytest.raises(MilepostError, match=r"HTTP 503.*tried 3 times"):
            endpoint(chat, tries=3).ask(ASKED)
        assert len(chat.requests) == 3


@pytest.mark.parametrize(("status", "hint"), [(401, "OPENAI_API_KEY"), (404, "--endpoint")])
def test_a_refusal_of_everybody_is_not_tried_again(status, hint):
    with serving(lambda n, body: status) as chat:
        with pytest.raises(MilepostError, match=hint):
            endpoint(chat).ask(ASKED)
        assert len(chat.requests) == 1


def test_the_key_is_never_shown():
    body = json.dumps({"error": {"message": "no such key: secret-key"}}).encode()
    with (
        serving(lambda n, b: {"status": 401, "headers": {}, "body": body}) as chat,
        pytest.raises(MilepostError) as error,
    ):
        endpoint(chat, key="secret-key").ask(ASKED)
    assert "secret-key" not in str(error.value)
    assert "no such key" in str(error.value)


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_is_not_followed(status):
    with serving(lambda n, body: "elsewhere") as other:
        moved = {"status": status, "headers": {"Location": other.url}}
        with (
            serving(lambda n, body: moved) as chat,
            pytest.raises(MilepostError, match=f"--endpoint {other.url}"),
        ):
            endpoint(chat, key="secret").ask(ASKED)
        assert not other.requests


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_cannot_be_answered(status):
    with serving(lambda n, body: status) as chat:
        with pytest.raises(NoResponse, match=str(status)):
            endpoint(chat).ask(ASKED)
        assert len(chat.requests) == 1


def test_answers_that_are_never_readable():
    with serving(lambda n, body: b"{}") as chat, pytest.raises(NoResponse, match="unknown form"):
        endpoint(chat, tries=2).ask(ASKED)


def test_a_slow_answer_ends_in_time():
    """The limit is for the whole answer: dripping bytes do not prolong it."""
    with serving(lambda n, body: 0.05 if n == 0 else "quick") as chat:
        assert endpoint(chat, timeout_s=0.4).ask(ASKED) == "quick"
    assert chat.times[1] - chat.times[0] < 2


def test_nobody_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(MilepostError, match=r"tried 2 times"):
            Endpoint(url, "small", tries=2, wait_s=0.001).ask(ASKED)


def test_requests_keep_their_distance():
    with serving(lambda n, body: "yes") as chat:
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
