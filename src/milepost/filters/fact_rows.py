"""The facts of a document as a database keeps them, so that its own comparisons are ours.

One row is one value of a key (authors and tags have several). Text is kept as it is compared,
folded by Python, because no database folds case as ``evaluate.folded`` does.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from milepost.filters.evaluate import folded, is_date, values_of
from milepost.filters.facts import Described, facts

DATED = 11  # characters of a date that count: the day, and whether a time is behind it

_UNKEPT = re.compile(r"[\0\ud800-\udfff]")


class Fact(NamedTuple):
    """One value of a key, built-in or the document's own; what it is not is None.

    ``text`` is as in ``comparable``. A string that is a date has its beginning in ``dated``, and
    its year as ``number``, so that a year is compared with both alike.
    """

    key: str
    text: str | None = None
    number: float | None = None
    flag: bool | None = None
    dated: str | None = None


def kept_facts(document: Described) -> list[Fact]:
    """Everything that a filter can ask of a document, one fact a value."""
    held = facts(document)
    return [_fact(key, value) for key in held for value in values_of(held, key)]


def comparable(text: str) -> str:
    r"""Text as it is compared, without what databases cannot hold.

    NUL becomes character 1, which no filter can hold either. Half of a surrogate pair, in the name
    of a file that is not UTF-8, becomes U+D7FF, the unassigned character before them: in order it
    stands where they do.

    >>> comparable("STRASSE") == comparable("Straße"), comparable("a\0\udcff")
    (True, 'a\x01\ud7ff')
    """
    plain = folded(text)
    return _UNKEPT.sub(lambda found: "\x01" if found[0] == "\0" else "\ud7ff", plain)


def _fact(key: str, value: str | float | bool) -> Fact:
    if isinstance(value, bool):
        return Fact(key, flag=value)
    if isinstance(value, str):
        if is_date(value):
            return Fact(key, comparable(value), float(value[:4]), dated=value[:DATED])
        return Fact(key, comparable(value))
    return Fact(key, number=float(value))
