"""Stem words with the Snowball stemmer for their script.

The script of a word is certain; its language would be a guess, both in a question of four words and
in a line of a document, and the two must get the same stems. So words in Cyrillic letters are
stemmed as Russian and words in Latin letters as English.

Source: https://snowballstem.org (Porter 2001), as implemented by the package ``snowballstemmer``.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any

from milepost._forking import free_in_child

SCRIPTS: dict[str, tuple[str, str]] = {
    "greek": ("\u0370", "\u03ff"),
    "russian": ("\u0400", "\u052f"),
    "armenian": ("\u0530", "\u058f"),
    "arabic": ("\u0620", "\u06ff"),
    "hindi": ("\u0900", "\u097f"),
    "tamil": ("\u0b80", "\u0bff"),
}
"""Maps stemmers to the first and last letter of their script; Latin is not listed."""


_PACKAGE = "snowballstemmer"

_importing = free_in_child(threading.Lock())
_stemmers = threading.local()
"""Stemmers by name. They store the current word, so each thread needs its own."""


def stemmer_of(word: str) -> str | None:
    """Name the stemmer for a word by its first and last letter; None if there is none.

    >>> stemmer_of("книга"), stemmer_of("book"), stemmer_of("ספר"), stemmer_of("μmol")
    ('russian', 'english', None, None)
    """
    if word.isascii():
        return "english" if len(word) > 3 else None  # "gas" and "has" are not plurals
    for name, (first, last) in SCRIPTS.items():
        if first <= word[0] <= last and first <= word[-1] <= last:
            return name
    return None


def stem(word: str) -> str:
    """Stem a lower-case word; return the word itself if its script has no stemmer.

    >>> stem("studies"), stem("книгами"), stem("gas")
    ('studi', 'книг', 'gas')
    """
    if (name := stemmer_of(word)) is None:
        return word
    made: Callable[[str], str] | None = getattr(_stemmers, name, None)
    if made is None:
        made = stemmer_class(name)().stemWord
        setattr(_stemmers, name, made)
    return made(word)


def stemmer_class(name: str) -> type[Any]:
    """Import a Snowball stemmer's class from its own module.

    The package itself is not run: it imports the stemmers of all languages, and returns PyStemmer
    if that is installed, whose stems are those of another version.
    """
    with _importing:  # threads may need their first stemmers at once
        spec = None if _PACKAGE in sys.modules else find_spec(_PACKAGE)
        if spec is not None:
            sys.modules[_PACKAGE] = module_from_spec(spec)
        try:
            module = import_module(f"{_PACKAGE}.{name}_stemmer")
        finally:
            if spec is not None:  # whoever imports the package gets all of it
                del sys.modules[_PACKAGE]
    found: type[Any] = getattr(module, f"{name.title()}Stemmer")
    return found
