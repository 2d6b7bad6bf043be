"""Questions as people type them in a hurry: with typing errors, as search words, in capitals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Literal

from milepost.evaluate.types import Task
from milepost.search.lexical import is_stop_word, tokens

Noise = Literal["typos", "keywords", "capitals"]
"""``typos``: a typing error in a fifth of the words. ``keywords``: the question without function
words. ``capitals``: the question in capital letters."""

_SHARE = 0.2
_LEAST = 4  # characters of a word that gets an error
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = {
    letter: "".join(row[max(0, n - 1) : n] + row[n + 1 : n + 2])
    for row in _KEYS
    for n, letter in enumerate(row)
}
"""The letters to the left and right of a letter on a keyboard."""


def misspelt(text: str, random: Random) -> str:
    """A fifth of the words, at least one, with a typing error each; short words stay.

    An error swaps two letters, leaves one out, doubles one, or hits the key beside one. Numbers and
    runs of a script without spaces stay as they are.

    >>> misspelt("what does a worker bee gather", Random(1))
    'what dies a worker bee gather'
    """
    words = [
        m for m in tokens(text) if m.lastgroup == "word" and len(m[0]) >= _LEAST and _places(m[0])
    ]
    hit = random.sample(words, min(len(words), max(1, round(_SHARE * len(words)))))
    for word in sorted(hit, key=lambda m: -m.start()):
        text = text[: word.start()] + _with_error(word[0], random) + text[word.end() :]
    return text


def _places(word: str) -> list[int]:
    """Letters that have a letter behind them; the first one is seldom wrong."""
    return [n for n in range(1, len(word) - 1) if word[n : n + 2].isalpha()]


def _with_error(word: str, random: Random) -> str:
    place = random.choice(_places(word))
    kind = random.randrange(4)
    letter, after = word[place], word[place + 1]
    if kind == 0 and letter != after:
        return word[:place] + after + letter + word[place + 2 :]
    if kind == 1:
        return word[:place] + word[place + 1 :]
    beside = _BESIDE.get(letter, "")
    if kind == 2 and beside:
        return word[:place] + random.choice(beside) + word[place + 1 :]
    return word[:place] + letter + word[place:]


def keywords(text: str) -> str:
    """A question without function words and punctuation; the whole where nothing is left.

    >>> keywords("What does a worker bee gather?")
    'worker bee gather'
    """
    return " ".join(m[0] for m in tokens(text) if not is_stop_word(m[0])) or text


NOISES: Mapping[Noise, Callable[[str, Random], str]] = {
    "typos": misspelt,
    "keywords": lambda text, random: keywords(text),
    "capitals": lambda text, random: text.upper(),
}


def noisy(task: Task, noise: Noise) -> Task:
    """The task with changed questions, the same ones each time; its name says so."""
    change = NOISES[noise]
    asked = tuple(
        replace(question, text=change(question.text, Random(f"{noise} {question.name}")))
        for question in task.questions
    )
    return replace(task, name=f"{task.name}+{noise}", questions=asked)
