"""Strings as stores keep them that hold valid Unicode alone: any string, and back again.

PostgreSQL takes no NUL, no store half of a surrogate pair; a file name that is not UTF-8 has some.
"""

from __future__ import annotations

import json


def escape(value: str) -> str:
    """Make of a string what every store can hold: no NUL, no half of a surrogate pair.

    Such strings (names of files that are not UTF-8) are written as JSON behind a character 1.
    """
    try:
        value.encode()
        plain = "\0" not in value and not value.startswith("\x01")
    except UnicodeEncodeError:
        plain = False
    return value if plain else "\x01" + json.dumps(value)


def unescape(value: str) -> str:
    """Turn back what ``escape`` has made."""
    return json.loads(value[1:]) if value.startswith("\x01") else value
