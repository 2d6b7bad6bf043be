"""What a language model thinks before it answers: ``<think>…</think>``, set apart from the answer.

It is neither an answer nor cited, and its drafts would be checked as if they were.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import chain

_OPEN, _CLOSE = "<think>", "</think>"
_UNOPENED = re.compile(rf"^[ \t]*{_CLOSE}|{_CLOSE}[ \t]*(?=\n)", re.MULTILINE)
"""The tag where nothing opened it: at the edge of a line, not where an answer speaks of it."""


class Thought(str):
    """A piece of a stream that is not a part of the answer."""

    __slots__ = ()


class Restart(Thought):
    """The end of a thought that nothing opened: all pieces before it were thought, too."""

    __slots__ = ()


def without_thoughts(text: str) -> str:
    r"""Give an answer without what was thought.

    The prompt of some models ends in the opening tag, so that only the closing one comes, at the
    beginning or end of a line.

    >>> without_thoughts("<think>Which one?</think>\n\nPlymouth [1].")
    'Plymouth [1].'
    """
    if text.lstrip().startswith(_OPEN):
        return text.partition(_CLOSE)[2].lstrip()
    unopened = _UNOPENED.search(text)
    return text[unopened.end() :].lstrip() if unopened else text


def apart(pieces: Generator[str, None, str]) -> Generator[str, None, str]:
    """The pieces of a stream, those of a thought as ``Thought``.

    Only a thought at the beginning counts: an answer may speak of the tag. White space between the
    thought and the answer is left out. Where only the closing tag comes, what came before it is
    taken back by a ``Restart``.
    """
    reason = ""

    def text() -> Iterator[str]:
        nonlocal reason
        reason = yield from pieces

    with closing(pieces):
        yield from _closed(_opened(text()))
    return reason


def _closed(pieces: Iterator[str]) -> Iterator[str]:
    """Set apart a thought that nothing opened."""
    held, line_begins = "", True
    for piece in pieces:
        if isinstance(piece, Thought):
            yield piece
            yield from pieces
            return
        held += piece
        before = "" if line_begins else "."
        match = _UNOPENED.search(before + held)
        if match:
            yield Restart(held[: match.start() - len(before)])
            yield from _begun(held[match.end() - len(before) :], pieces)
            return
        decided, held = held[: _undecided(held)], held[_undecided(held) :]
        if decided:
            _, broken, line = decided.rpartition("\n")
            line_begins = not line.strip(" \t") and (line_begins or bool(broken))
            yield decided
    if held:
        yield held


def _undecided(text: str) -> int:
    """Where the end of a text begins that may become a closing tag at the end of a line."""
    whole = text.rfind(_CLOSE)
    if whole >= 0 and not text[whole + len(_CLOSE) :].strip(" \t"):
        return whole
    return len(text) - _overlap(text)


def _opened(pieces: Iterator[str]) -> Iterator[str]:
    """Set apart a thought at the beginning, between both tags."""
    held = ""
    for piece in pieces:
        held += piece
        begun = held.lstrip()
        if begun.startswith(_OPEN):
            yield from _thought(begun.removeprefix(_OPEN), pieces)
            return
        if begun and not _OPEN.startswith(begun[: len(_OPEN)]):
            break  # it can no longer become the tag
    if held:
        yield held
    yield from pieces


def _thought(held: str, pieces: Iterator[str]) -> Iterator[str]:
    """A thought whose first part is ``held``, and what comes after it."""
    while _CLOSE not in held:
        known = len(held) - _overlap(held)  # the tag may have come in part
        if known:
            yield Thought(held[:known])
        held = held[known:]
        piece = next(pieces, None)
        if piece is None:
            if held:
                yield Thought(held)
            return
        held += piece
    thought, _, answer = held.partition(_CLOSE)
    if thought:
        yield Thought(thought)
    yield from _begun(answer, pieces)


def _begun(held: str, pieces: Iterator[str]) -> Iterator[str]:
    """The rest of a stream, from its first character on that is no white space."""
    for piece in chain([held], pieces):
        if begun := piece.lstrip():
            yield begun
            break
    yield from pieces


def _overlap(text: str) -> int:
    """How many characters at the end of a text may begin the closing tag."""
    return next((n for n in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:n])), 0)
