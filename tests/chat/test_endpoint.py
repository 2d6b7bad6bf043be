"""The client of an endpoint of a language model.

Every answer comes over HTTP from a real server on this machine.
"""

import json

import pytest

from milepost.chat import Endpoint, NoResponse
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
    with serving(b"{}") as chat, pytest.raises(NoResponse, match="unknown form") as error:
        endpoint(chat, tries=2).ask(ASKED)
    assert isinstance(error.value, MilepostError)
    assert str(error.value).startswith(f"{chat.url}/chat/completions: its answer")
    assert str(error.value).endswith("; try: the same question again")


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


def test_secrets_of_addresses_stay_out_of_messages():
    for url in ("http://u:SECRET@h:99999/v1", "http://h:bad/v1?api-key=SECRET"):
        with pytest.raises(InputError) as wrong:
            Endpoint(url, "small")
        assert "SECRET" not in str(wrong.value)
    said = Reply({"error": "no rights: api-key=SECRET"}, 401)
    moved = Reply({}, 307, {"Location": "https://u:p@elsewhere/v1?api-key=SECRET"})
    for reply in (said, moved):
        with serving(reply) as chat, pytest.raises(MilepostError) as refused:
            Endpoint(f"{chat.url}?api-key=SECRET", "small", wait_s=0.001).ask(ASKED)
        assert "SECRET" not in str(refused.value)
        assert "u:p" not in str(refused.value)
