"""Answers piece by piece: what streams, what breaks off, what is no stream at all.

Every answer comes over HTTP from a real server on this machine.
"""

import random
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

import pytest

from milepost.chat import Endpoint, NoResponse, Restart, Thought, without_thoughts
from milepost.chat.thinking import apart
from milepost.errors import InputError, MilepostError
from support.chat_server import Chat, Reply, Stream, completion, refused, serving

ASKED = [{"role": "user", "content": "Größe?"}]
KEY = "sk-very-secret"


def endpoint(model: Chat, **options: object) -> Endpoint:
    return Endpoint(model.url, "small", KEY, **{"wait_s": 0.001, "timeout_s": 5.0, **options})


def events(body: bytes) -> Reply:
    return Reply(body, headers={"Content-Type": "text/event-stream"})


def drained(stream: Generator[str, None, str]) -> tuple[list[str], str]:
    """Pieces of a stream, and why it ended."""
    pieces = []
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as end:
            return pieces, end.value


def test_pieces_come_as_they_are_written() -> None:
    seen = threading.Event()

    def between(number: int) -> None:
        assert number == 0 or seen.wait(10)

    with serving(Stream(["Ein ", "Größtes", "."], between=between)) as model:
        stream = endpoint(model).stream(ASKED)
        assert next(stream) == "Ein "
        seen.set()
        assert drained(stream) == (["Größtes", "."], "stop")
    assert model.requests == [{"model": "small", "messages": ASKED, "stream": True}]
    assert model.headers[0]["authorization"] == f"Bearer {KEY}"


def test_another_thread_cuts_a_silent_one_and_no_other() -> None:
    asked, silent = threading.Semaphore(0), threading.Event()
    with serving(lambda *_: asked.release() or (silent.wait(30) and "late")) as model:
        first = endpoint(model, timeout_s=30.0)
        second = first.another()
        with ThreadPoolExecutor() as threads:
            ends = [threads.submit(drained, each.stream(ASKED)) for each in (first, second)]
            assert all(asked.acquire(timeout=10) for _ in ends)
            first.cut()
            with pytest.raises(NoResponse):
                ends[0].result(10)
            silent.set()
            assert ends[1].result(10) == (["late"], "stop")
    assert len(model.requests) == 2


def test_an_endpoint_that_does_not_stream() -> None:
    with serving(Reply(completion("All at once."))) as model:
        assert drained(endpoint(model).stream(ASKED)) == (["All at once."], "stop")


def test_what_servers_send_beside_the_text() -> None:
    beside: list[str | bytes] = [
        b": keep-alive\n\n",
        b"event: ping\nid: 3\n\n",
        b'data:{"choices":[{"delta":{"content":"A"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":null,"reasoning_content":"hm"}}]}\r\n\r\n',
        b'data: {"choices":[],"usage":{"total_tokens":7}}\n\n',
        "B",
    ]
    with serving(Stream(beside, reason="length")) as model:
        assert drained(endpoint(model).stream(ASKED)) == (["A", "B"], "length")


def test_an_end_without_done() -> None:
    """Some servers close after the reason to end."""
    last = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    text = b'data: {"choices":[{"delta":{"content":"A"}}]}\n\n'
    with serving(events(text + last)) as model:
        assert drained(endpoint(model).stream(ASKED)) == (["A"], "stop")


def test_a_stream_that_breaks_off() -> None:
    with serving(Stream(["Bees ", "build"], reason=None)) as model:
        stream = endpoint(model).stream(ASKED)
        assert next(stream) == "Bees "
        assert next(stream) == "build"
        with pytest.raises(NoResponse, match="broke off"):
            next(stream)
    assert len(model.requests) == 1


def test_a_stream_that_breaks_off_at_its_start_is_asked_for_again() -> None:
    with serving(Stream([], reason=None), Stream(["Bees."])) as model:
        assert drained(endpoint(model).stream(ASKED)) == (["Bees."], "stop")


@pytest.mark.parametrize(
    "nonsense",
    [
        Reply(b"<html>Welcome to nginx!</html>", headers={"Content-Type": "text/html"}),
        events(b""),
        Stream([b"data: not json\n\n"]),
        Stream([b'data: {"choices": [{"delta": {"content": 3}}]}\n\n']),
        Stream([b"data: " + b"[" * 100_000 + b"\n\n"]),
        Stream([b": nothing but comments " + b"x" * (5 << 20)]),
    ],
)
def test_a_body_of_nonsense(nonsense: Stream | Reply) -> None:
    with serving(nonsense) as model:
        with pytest.raises(NoResponse, match="unknown form"):
            drained(endpoint(model, tries=2).stream(ASKED))
        assert len(model.requests) == 2


def test_an_error_inside_a_stream() -> None:
    body = b'data: {"error": {"message": "model crashed\\nkey ' + KEY.encode() + b'"}}\n\n'
    with serving(Stream(["Bees ", body])) as model:
        stream = endpoint(model).stream(ASKED)
        assert next(stream) == "Bees "
        with pytest.raises(NoResponse, match="model crashed key …") as error:
            next(stream)
    assert KEY not in str(error.value)


def test_a_wrong_key() -> None:
    with serving(refused(401, f"Incorrect API key provided: {KEY}")) as model:
        with pytest.raises(MilepostError, match="MY_KEY") as error:
            drained(endpoint(model, key_name="MY_KEY").stream(ASKED))
        assert len(model.requests) == 1
    assert KEY not in str(error.value)
    assert KEY not in repr(error.value.__cause__) + repr(error.value.__context__)


def test_comments_do_not_prolong_the_wait() -> None:
    alive: list[str | bytes] = [b": still here\n\n"] * 500
    pause = threading.Event()
    with serving(Stream(alive, between=lambda n: pause.wait(0.02))) as model:
        with pytest.raises(MilepostError, match=r"nothing for 0\.3 s"):
            drained(endpoint(model, tries=1, timeout_s=0.3).stream(ASKED))
        pause.set()


def test_closing_the_stream_closes_the_connection() -> None:
    pause = threading.Event()

    def between(number: int) -> None:
        pause.wait(0.005)

    with serving(Stream(["word "] * 2000, between=between)) as model:
        stream = endpoint(model).stream(ASKED)
        next(stream)
        stream.close()
        assert model.left.wait(10)
        pause.set()


@pytest.mark.parametrize("url", ["http://me:secret@127.0.0.1/v1", "https://secret@example.org"])
def test_an_address_with_a_password_is_refused(url: str) -> None:
    """It would be shown in messages."""
    with pytest.raises(InputError, match="name or password") as error:
        Endpoint(url, "small")
    assert "secret" not in str(error.value)


def test_the_query_of_an_address_is_sent_and_not_shown() -> None:
    """Some endpoints have a version there, and some a key."""
    with serving(refused(403, "no")) as model:
        asked = Endpoint(f"{model.url}?key=sk-hidden", "small")
        with pytest.raises(MilepostError) as error:
            asked.ask(ASKED)
        assert len(model.requests) == 1
    assert asked.url == f"{model.url}/chat/completions"
    assert "sk-hidden" not in str(error.value)


THOUGHTS = {
    "<think>Which <b>one</b>? </thin </think>\n\nIn Plymouth. Use <think>.": (
        "Which <b>one</b>? </thin ",
        "In Plymouth. Use <think>.",
    ),
    "In Plymouth <think> [1]": ("", "In Plymouth <think> [1]"),
    "  <think>cut": ("cut", ""),
    "<thinker> yes": ("", "<thinker> yes"),
    "": ("", ""),
    "Well, which?\n</think>\n\nIn Plymouth.": ("Well, which?\n", "In Plymouth."),
    "</think>In Plymouth.": ("", "In Plymouth."),
    "Close it with `</think>`, or\n`</think>`.": ("", "Close it with `</think>`, or\n`</think>`."),
}


def cut(text: str, seed: int) -> Generator[str, None, str]:
    chance = random.Random(seed)
    while text:
        size = chance.randint(1, 7)
        yield text[:size]
        text = text[size:]
    return "stop"


@pytest.mark.parametrize("text", THOUGHTS)
def test_thoughts_are_set_apart_however_the_stream_is_cut(text: str) -> None:
    thought, answer = THOUGHTS[text]
    assert without_thoughts(text) == answer
    for seed in range(100):
        pieces = list(apart(cut(text, seed)))
        restart = next((n for n, each in enumerate(pieces) if isinstance(each, Restart)), -1)
        pieces = [*map(Thought, pieces[: restart + 1]), *pieces[restart + 1 :]]
        assert "".join(each for each in pieces if isinstance(each, Thought)) == thought
        assert "".join(each for each in pieces if not isinstance(each, Thought)) == answer


def test_an_endpoint_gives_the_answer_alone() -> None:
    with serving("<think>Hm.</think>\nIn Plymouth.") as chat:
        assert endpoint(chat).ask(ASKED) == "In Plymouth."
