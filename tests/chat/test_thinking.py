"""What a model thinks before it answers is set apart, however the stream is cut."""

import random
from collections.abc import Generator

import pytest

from milepost.chat import Endpoint, Restart, Thought, without_thoughts
from milepost.chat.thinking import apart
from support.chat_server import serving

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
    "Well, which?\n</think>\n\nIn Plymouth.": ("Well, which?\n", "In Plymouth."),
    "Well, which? </think> \nIn Plymouth.": ("Well, which? ", "In Plymouth."),
    "</think>In Plymouth.": ("", "In Plymouth."),
    "Close it with `</think>`, or\n`</think>`.": ("", "Close it with `</think>`, or\n`</think>`."),
    "It ends in </think> here.": ("", "It ends in </think> here."),
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
        restart = next((n for n, each in enumerate(pieces) if isinstance(each, Restart)), -1)
        pieces = [*map(Thought, pieces[: restart + 1]), *pieces[restart + 1 :]]
        assert "".join(each for each in pieces if isinstance(each, Thought)) == thought
        assert "".join(each for each in pieces if not isinstance(each, Thought)) == answer


def test_an_endpoint_gives_the_answer_alone() -> None:
    with serving("<think>Hm.</think>\nIn Plymouth.") as chat:
        endpoint = Endpoint(chat.url, "m")
        assert endpoint.ask([{"role": "user", "content": "Where?"}]) == "In Plymouth."
