"""What a language model thinks before it answers: ``<think>…</think>``, set apart from the answer.

It is neither an answer nor cited, and its drafts would be checked as if they were.
"""

from __future__ import annotations

import re
from collections.abc import Generator

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
    return (yield from _closed(_opened(pieces)))


def _closed(pieces: Generator[str, None, str]) -> Generator[str, None, str]:
    """Set apart a thought that nothing opened."""
    held, line_begins, searching, begun = "", True, True, True
    try:
        while True:
            try:
                piece = next(pieces)
            except StopIteration as end:
                if held:
                    yield held
                return str(end.value)
            if isinstance(piece, Thought):
                searching = False
            if not searching:
                piece = piece if begun else piece.lstrip()
                begun = begun or bool(piece)
                if piece:
                    yield piece
                continue
            held += piece
            before = "" if line_begins else "."
            match = _UNOPENED.search(before + held)
            if match:
                yield Restart(held[: match.start() - len(before)])
                held = held[match.end() - len(before) :].lstrip()
                searching, begun = False, bool(held)
                if held:
                    yield held
                held = ""
                continue
            decided, held = held[: _undecided(held)], held[_undecided(held) :]
            if decided:
                _, broken, line = decided.rpartition("\n")
                line_begins = not line.strip(" \t") and (line_begins or bool(broken))
                yield decided
    finally:
        pieces.close()


def _undecided(text: str) -> int:
    """Where the end of a text begins that may become a closing tag at the end of a line."""
    whole = text.rfind(_CLOSE)
    if whole >= 0 and not text[whole + len(_CLOSE) :].strip(" \t"):
        return whole
    return len(text) - _overlap(text)


def _opened(pieces: Generator[str, None, str]) -> Generator[str, None, str]:
    """Set apart a thought at the beginning, between both tags."""
    held, thinking, answered, thought_of = "", False, False, False
    try:
        while True:
            try:
                held += next(pieces)
            except StopIteration as end:
                if held:
                    yield Thought(held) if thinking else held
                return str(end.value)
            if thought_of and not answered:
                held = held.lstrip()
                answered = bool(held)
            if not (thinking or answered or thought_of):
                begun = held.lstrip()
                if begun.startswith(_OPEN):
                    thinking, held = True, begun.removeprefix(_OPEN)
                elif begun and not _OPEN.startswith(begun[: len(_OPEN)]):
                    answered = True
                else:
                    continue  # it may still become the tag
            if thinking:
                thought, closed, rest = held.partition(_CLOSE)
                # The tag may have come in part.
                kept = 0 if closed else _overlap(held)
                thought = thought if closed else held[: len(held) - kept]
                if thought:
                    yield Thought(thought)
                held = rest.lstrip() if closed else held[len(held) - kept :]
                if not closed:
                    continue
                thinking, thought_of, answered = False, True, bool(held)
            if held:
                yield held
                held = ""
    finally:
        pieces.close()


def _overlap(text: str) -> int:
    """How many characters at the end of a text may begin the closing tag."""
    return next((n for n in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:n])), 0)
