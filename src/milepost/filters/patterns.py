"""The patterns of ``matches`` as PostgreSQL reads them; they mean what ``fnmatch`` does."""

from __future__ import annotations

import re
from fnmatch import translate

_PARTS = re.compile(r"\[!?+\]?+[^\]]*\]|.", re.DOTALL)
"""A set such as ``[!a-z]``, or one character."""


def advanced_regex(pattern: str) -> str:
    r"""A pattern as a regular expression of PostgreSQL; the whole text fits it.

    >>> advanced_regex("a*[!0-9]")
    '^\\U00000061.*[^0-9]$'
    """
    return f"^{''.join(map(_regex, _PARTS.findall(pattern)))}$"


def _regex(part: str) -> str:
    if len(part) > 1:
        return translate(part).removeprefix("(?s:")[: -len(r")\Z")]
    return {"*": ".*", "?": "."}.get(part) or f"\\U{ord(part):08x}"
