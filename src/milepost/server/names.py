"""Names of files on one line: file systems allow any bytes but a slash."""

from __future__ import annotations

import re

CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""Controls, line breaks, changes of direction and halves of surrogate pairs, for a character
class: they break lines, reorder text, or cannot be written as UTF-8."""

_NOT_SHOWN = re.compile(f"[{CONTROLS}]")


def one_line(name: str) -> str:
    r"""Make a name fit for people and for JSON; its length stays.

    >>> one_line("a\nb\udce9")
    'a�b�'
    """
    return _NOT_SHOWN.sub("\N{REPLACEMENT CHARACTER}", name)
