"""Stems of words, by the stemmer that Snowball has for their script.

A word's script is seen; its language would be a guess, for a question of four words as for a line
of a document, and both must have the same stems. So words in Cyrillic letters are stemmed as
Russian, words in Latin letters as English.

Source: https://snowballstem.org (Porter 2001), as the package ``snowballstemmer`` has it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

SCRIPTS: dict[str, tuple[str, str]] = {
    "greek": ("\u0370", "\u03ff"),
    "russian": ("\u0400", "\u052f"),
    "armenian": ("\u0530", "\u058f"),
    "arabic": ("\u0620", "\u06ff"),
    "hindi": ("\u0900", "\u097f"),
    "tamil": ("\u0b80", "\u0bff"),
}
"""Stemmer of each script but the Latin one, and the first and last letter of the script."""


class _Stemmers(threading.local):
    """Stemmers by name. They keep the word that they work on, so each thread has its own."""

    def __init__(self) -> None:
        self.made: dict[str, Callable[[str], str]] = {}


_stemmers = _Stemmers()


def stemmer_of(word: str) -> str | None:
    """Name of the stemmer for a word, by its first and last letter; None where there is none.

    >>> stemmer_of("книга"), stemmer_of("book"), stemmer_of("ספר"), stemmer_of("μmol")
    ('russian', 'english', None, None)
    """
    if word.isascii():
        return "english" if len(word) > 3 else None  # gas and has are no plurals
    for name, (first, last) in SCRIPTS.items():
        if first <= word[0] <= last and first <= word[-1] <= last:
            return name
    return None


def stem(word: str) -> str:
    """The stem of a word in lower case, the word itself where no stemmer knows its script.

    >>> stem("studies"), stem("книгами"), stem("gas")
    ('studi', 'книг', 'gas')
    """
    if (name := stemmer_of(word)) is None:
        return word
    if (made := _stemmers.made.get(name)) is None:
        made = _stemmers.made[name] = stemmer_class(name)().stemWord
    return made(word)


def stemmer_class(name: str) -> type[Any]:
    """Snowball's class of a stemmer.

    From its own module: the package hides it where PyStemmer is installed, whose stems are those of
    another version.
    """
    module = import_module(f"snowballstemmer.{name}_stemmer")
    found: type[Any] = getattr(module, f"{name.title()}Stemmer")
    return found
