"""The patterns of ``matches`` in the languages of databases; they mean what ``fnmatch`` does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_SPECIAL = "%_\\"


@dataclass(frozen=True, slots=True)
class Characters:
    """``[abc]``, ``[a-z]``, ``[!a]``: one character.

    Attributes:
        ranges: first and last character of each.
        negated: whether it is one that is in none of them.
    """

    ranges: tuple[tuple[str, str], ...]
    negated: bool


def parts(pattern: str) -> Iterator[str | Characters]:
    r"""Split a pattern: ``*``, ``?``, a set, or a character that stands for itself, as ``\x``.

    >>> list(parts("a*[b-d]"))
    ['\\a', '*', Characters(ranges=(('b', 'd'),), negated=False)]
    """
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        at += 1
        if sign in "*?":
            yield sign
        elif sign == "[" and (end := _end(pattern, at)) >= 0:
            yield _characters(pattern[at:end])
            at = end + 1
        else:
            yield "\\" + sign


def has_characters(pattern: str) -> bool:
    """Whether a set is in it."""
    return any(isinstance(part, Characters) for part in parts(pattern))


def like(pattern: str) -> str:
    r"""A pattern without sets for ``LIKE`` with the escape character ``\``.

    >>> like("50%*/?")
    '50\\%%/_'
    """
    signs = {"*": "%", "?": "_"}
    return "".join(
        signs.get(part) or (part if part[1] in _SPECIAL else part[1])
        for part in parts(pattern)
        if isinstance(part, str)
    )


def sqlite_glob(pattern: str) -> str:
    """A pattern without sets for ``GLOB`` of SQLite.

    >>> sqlite_glob("a[*")
    'a[[]*'
    """
    return "".join(
        part if part in ("*", "?") else "[[]" if part[1] == "[" else part[1]
        for part in parts(pattern)
        if isinstance(part, str)
    )


def advanced_regex(pattern: str) -> str:
    r"""A pattern as a regular expression of PostgreSQL; the whole text fits it.

    >>> advanced_regex("a*[!0-9]")
    '^\\U00000061.*[^\\U00000030-\\U00000039]$'
    """
    return f"^{''.join(map(_regex, parts(pattern)))}$"


def _end(pattern: str, at: int) -> int:
    """Where the set that begins at ``at`` ends; -1 where it does not."""
    at += pattern.startswith("!", at)
    return pattern.find("]", at + pattern.startswith("]", at))


def _characters(inside: str) -> Characters:
    """What stands between the brackets, hyphens read as ``fnmatch`` reads them."""
    chunks = _chunks(inside)
    for at in reversed(range(1, len(chunks))):
        if chunks[at - 1][-1:] > chunks[at][:1]:  # a range of nothing
            chunks[at - 1 : at + 1] = [chunks[at - 1][:-1] + chunks[at][1:]]
    # Each sign, and whether it is a hyphen between two chunks: that makes a range where it can.
    signs = [(sign, False) for sign in chunks[0]]
    for chunk in chunks[1:]:
        signs += [("-", True), *((sign, False) for sign in chunk)]
    negated = signs[:1] == [("!", False)]  # of what is left: as there
    ranges: list[tuple[str, str]] = []
    at = int(negated)
    while at < len(signs):
        first = last = signs[at][0]
        if at + 2 < len(signs) and signs[at + 1][1]:
            last, at = signs[at + 2][0], at + 2
        if first <= last:
            ranges.append((first, last))
        at += 1
    return Characters(tuple(ranges), negated)


def _chunks(rest: str) -> list[str]:
    """Split at the hyphens that make ranges; the one behind a range's last character does not."""
    chunks: list[str] = []
    start, at = 0, rest.find("-", 2 if rest.startswith("!") else 1)
    while at >= 0:
        chunks.append(rest[start:at])
        start, at = at + 1, rest.find("-", at + 3)
    if start < len(rest):
        return [*chunks, rest[start:]]
    return [*chunks[:-1], chunks[-1] + "-"] if chunks else [""]


def _regex(part: str | Characters) -> str:
    if isinstance(part, str):
        return {"*": ".*", "?": "."}.get(part) or _code(part[1])
    if not part.ranges:
        return "." if part.negated else "(?!)"
    listed = "".join(
        _code(first) if first == last else f"{_code(first)}-{_code(last)}"
        for first, last in part.ranges
    )
    return f"[{'^' if part.negated else ''}{listed}]"


def _code(character: str) -> str:
    return f"\\U{ord(character):08x}"
