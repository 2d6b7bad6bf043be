"""Questions as people type them in a hurry: misspelt, as search words, in capitals, unaccented."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Literal
from unicodedata import name, normalize

from milepost.language.terms import is_stop_word, tokens
from milepost_eval.types import Task

Noise = Literal["typos", "keywords", "capitals", "unaccented"]
"""``typos``: a typing error in a fifth of the words. ``keywords``: the question without function
words. ``capitals``: the question in capital letters. ``unaccented``: without the marks of Latin and
Greek letters."""

_SHARE = 0.2
_LEAST = 4  # characters of a word that gets an error
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = {
    letter: "".join(row[max(0, n - 1) : n] + row[n + 1 : n + 2])
    for row in _KEYS
    for n, letter in enumerate(row)
}
"""The letters to the left and right of a letter on a keyboard."""

_STROKES = str.maketrans("ĐđŁłØøıĦħŦŧ", "DdLlOoiHhTt")
"""Letters that no decomposition takes apart."""

_MARKS = range(0x300, 0x370)  # the block Combining Diacritical Marks


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


def unaccented(text: str) -> str:
    """A text without the accents, dots, hooks and strokes of Latin and Greek letters.

    Of Cyrillic letters only ё loses its dots, as it does when Russians type; й and ї are letters of
    their own. In all other scripts marks are vowels, tones or parts of letters (Arabic, Hebrew,
    Hindi, Thai, Japanese, Korean): these texts stay as they are.

    >>> unaccented("Où est née Łucja Świątek? Где ёлка и йод? हिन्दी")
    'Ou est nee Lucja Swiatek? Где елка и йод? हिन्दी'
    """
    found: list[str] = []
    bare = False
    for letter in text:
        if ord(letter) in _MARKS:
            found.append("" if bare else letter)
        else:
            base = _base(letter)
            bare = base is not None
            found.append(base or letter)
    return "".join(found)


@lru_cache(maxsize=4096)
def _base(letter: str) -> str | None:
    """The letter without its marks; None where they are not to be removed."""
    base = normalize("NFD", letter)[0]
    if base in "еЕ" or name(base, "").startswith(("LATIN ", "GREEK ")):
        return base.translate(_STROKES)
    return None


NOISES: Mapping[Noise, Callable[[str, Random], str]] = {
    "typos": misspelt,
    "keywords": lambda text, random: keywords(text),
    "capitals": lambda text, random: text.upper(),
    "unaccented": lambda text, random: unaccented(text),
}


def noisy(task: Task, noise: Noise) -> Task:
    """The task with changed questions, the same ones each time; its name says so."""
    change = NOISES[noise]
    asked = tuple(
        replace(question, text=change(question.text, Random(f"{noise} {question.name}")))
        for question in task.questions
    )
    return replace(task, name=f"{task.name}+{noise}", questions=asked)
