"""Regular expressions that are compiled when they are first used.

A class of characters of many scripts takes some 30 ms to compile, and a start of a command imports
a handful of them, most of which it does not use.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, cast

_METHODS = ("match", "search", "fullmatch", "finditer", "findall", "split", "sub", "subn")


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    """What ``re.compile`` gives, compiled at its first use; then it is as fast.

    >>> late("[a-c]+").sub("-", "abcd")
    '-d'
    """
    return cast("re.Pattern[str]", _Late(source, flags))


_DASHES = "\u02d7\u2043\u2212"
"""Dashes that Unicode does not class as such; the others have the category Pd."""


def is_dash(character: str) -> bool:
    """Whether a character is a hyphen, a dash or a minus sign."""
    return unicodedata.category(character) == "Pd" or character in _DASHES


class _Late:
    """Stands for a pattern; it takes over the pattern's methods once it is compiled."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:  # only for what is not there yet
        if name not in _METHODS:
            raise AttributeError(name)
        pattern = re.compile(self._source, self._flags)
        for each in _METHODS:
            setattr(self, each, getattr(pattern, each))
        return getattr(pattern, name)
