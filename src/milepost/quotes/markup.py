"""Find the signs of markup that stand between the words of a text and are not part of them.

They are the prefixes of lines that go on in a quoted mail or a comment (``>``, ``#``, ``//``), and
the signs of emphasis, code, links and notes in Markdown. A quotation of the words leaves them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_PREFIX = re.compile(r"^[ \t]*((?:>[ \t]?)+|#+|//[/!]?|;+|%+|\*)(?=[ \t\n]|\w|$)", re.MULTILINE)
_STARS = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])[^*]{1,400}?(?<=[^\s*\\])(\1)(?![\w*])")
_LINES = re.compile(r"(?<![\w_\\])(_{1,2})(?=[^\s_])[^_\n]{1,400}?(?<=[^\s_\\])(\1)(?![\w_])")
_TICKS = re.compile(r"(?<!`)(`{1,2})(?![`\s])[^`'\n]{1,200}?(\1)(?!`)")
_LINK = re.compile(r"(!?\[)[^\[\]]{1,400}(\]\((?:[^()\s]*[./:#][^()\s]*)(?:[ \t]+\"[^\"\n]*\")?\))")
_NOTE = re.compile(r"\[\^[^\]\s]{1,40}\]")


def signs(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sign of markup."""
    if "\n" in text:
        yield from _prefixes(text)
    if "*" in text:
        yield from _pairs(_STARS, text)
    if "_" in text:
        yield from _pairs(_LINES, text)
    if "`" in text:
        yield from _pairs(_TICKS, text)
    if "](" in text:
        yield from _pairs(_LINK, text)
    if "[^" in text:
        yield from (match.span() for match in _NOTE.finditer(text))


def _pairs(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text):
        if "\n\n" not in match[0]:
            yield match.span(1)
            yield match.span(2)


def _prefixes(text: str) -> Iterator[tuple[int, int]]:
    """Yield the prefixes of lines whose line before has the same one."""
    if not any(sign in text for sign in ("\n>", "\n#", "//", "\n;", "\n%", " >", "#", "/*")):
        return
    block = "/*" in text
    end, before = -1, ""
    for match in _PREFIX.finditer(text):
        mark = match[1].strip().replace(" ", "")
        if mark == "*" and not block:
            continue
        if match.start() == end + 1 and mark[0] == before[:1]:
            yield match.span(1)
        before = mark
        end = text.find("\n", match.end())
        if end < 0:
            return
