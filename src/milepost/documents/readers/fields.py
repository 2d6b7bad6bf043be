"""What Word shows of fields that have no result in the file, in docx and RTF."""

from __future__ import annotations

import re

from milepost.documents.readers.fonts import symbol

_SYMBOL = re.compile(
    r"\s*SYMBOL\s+(0x[0-9a-f]{1,5}|\d{1,6})(?:.*?\\f\s*\"?([^\"\\]+))?", re.I | re.S
)
_BUTTON = re.compile(r"\s*(?:MACRO|GOTO)BUTTON\s+\S+\s+([^\\]*)", re.I)
_OVER = re.compile(
    r"\s*EQ\s.*\\o\s*\\a[a-z]\s*\((?:\\s\\up\s*\d+\s*\(.*?\)|[^,;()]*)[,;](.*)\)\s*$", re.I | re.S
)
"""A reading above its word, or a sign around it: only the word is text."""

_LONGEST = 2000  # characters of an instruction that is read
_LEFT_OUT = (
    (re.compile(r"\s*EQ\s", re.I), "a formula in a field"),
    (re.compile(r"\s*(?:AUTONUM|LISTNUM)", re.I), "a number of a paragraph in a field"),
)


def resolved(instruction: str) -> str:
    r"""Show a field by its instruction, if that says how.

    >>> resolved(' SYMBOL 109 \\f "Symbol" \\s 10 '), resolved("MACROBUTTON No [name]")
    ('µ', '[name]')
    """
    if len(instruction) > _LONGEST:
        return ""
    if match := _SYMBOL.match(instruction):
        return symbol(int(match[1], 0), match[2] or "")
    match = _BUTTON.match(instruction) or _OVER.match(instruction)
    return match[1].strip() if match else ""


def unresolved(instruction: str) -> str:
    """Say what is left out of the text with a field that is not read; empty if nothing is."""
    return next((what for form, what in _LEFT_OUT if form.match(instruction)), "")
