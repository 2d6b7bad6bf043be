"""What a model thinks before it answers is set apart, however the stream is cut."""

import random
from collections.abc import Generator

import pytest

from milepost.chat import Endpoint, Thought, without_thoughts
from milepost.chat.thinking import apart
from support.chat_server import completion, serving

CASES = {
    "<think>Which <b>one</b>? </thin </think>\n\nIn Plymouth. Use <think>.": (
        "Which <b>one</b>? </thin ",
        "In Plymouth. Use <think>.",
    ),
    "In Plymouth <think> [1]": ("", "In Plymouth <think> [1]"),
    "  <think>cut": ("cut", ""),
    "<thinker> yes": ("", "<thinker> yes"),
    "<think></think>yes": ("", "yes"),
    "": ("", ""),
}


def cut(text: str, seed: int) -> Generator[str, None, str]:
    chance = random.Random(seed)
    while text:
        size = chance.randint(1, 7)
        yield text[:size]
        text = text[size:]
    return "stop"


@pytest.mark.parametrize("text", CASES)
def test_a_stream_in_any_pieces(text: str) -> None:
    thought, answer = CASES[text]
    assert without_thoughts(text) == answer
    for seed in range(100):
        pieces = list(apart(cut(text, seed)))
        assert "".join(each for each in pieces if isinstance(each, Thought)) == thought
        assert "".join(each for each in pieces if not isinstance(each, Thought)) == answer


def test_a_closing_tag_alone() -> None:
    """The prompt of some models ends in the opening one; an answer may speak of either."""
    assert without_thoughts("Well, which?\n</think>\n\nIn Plymouth.") == "In Plymouth."
    assert without_thoughts("Close it with `</think>`.") == "Close it with `</think>`."


def test_an_endpoint_gives_the_answer_alone() -> None:
    with serving(lambda *_: completion("<think>Hm.</think>\nIn Plymouth.")) as chat:
        endpoint = Endpoint(chat.url, "m")
        assert endpoint.ask([{"role": "user", "content": "Where?"}]) == "In Plymouth."
