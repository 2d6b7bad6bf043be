"""What an RTF file says of itself: title, author, date, keywords."""

from __future__ import annotations

import re
from collections.abc import Callable

from milepost.documents.readers import metadata
from milepost.properties import Properties

_LONGEST = 2000  # characters of a value
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_VALUE = re.compile(r"\{\s*\\(title|subject|author|keywords|doccomm|creatim)(?![a-z])\s?")
_DATE = re.compile(r"\\yr(\d{4})\s*\\mo(\d\d?)\s*\\dy(\d\d?)(?!\d)")


def information(group: str, text_of: Callable[[str], str]) -> Properties:
    """Read the properties in the group ``info``; ``text_of`` reads the text of a value."""
    said: dict[str, str] = {}
    place = 0
    # Where a value is there twice, the second time it is in Unicode.
    while match := _VALUE.search(group, place):
        place = end_of_group(group, match.end())
        value = group[match.end() : min(place, match.end() + _LONGEST)]
        date = _DATE.match(value)
        said[match[1]] = f"{date[1]}-{date[2]:0>2}-{date[3]:0>2}" if date else text_of(value)
    return metadata.properties(
        title=said.get("title"),
        author=said.get("author"),
        date=said.get("creatim"),
        keywords=said.get("keywords"),
        description=said.get("doccomm"),
        own={"subject": said.get("subject")},
    )


def end_of_group(raw: str, place: int) -> int:
    """Where the group ends that a place is in."""
    depth = 1
    for brace in _BRACE.finditer(raw, place):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return len(raw)
