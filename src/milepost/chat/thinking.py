"""What a language model thinks before it answers: ``<think>…</think>``, set apart from the answer.

It is neither an answer nor cited, and its drafts would be checked as if they were.
"""

from __future__ import annotations

import re
from collections.abc import Generator

_OPEN, _CLOSE = "<think>", "</think>"
_ALONE = re.compile(rf"^\s*{_CLOSE}\s*\n\s*", re.MULTILINE)


class Thought(str):
    """A piece of a stream that is not a part of the answer."""

    __slots__ = ()


def without_thoughts(text: str) -> str:
    r"""Give an answer without what was thought.

    The prompt of some models ends in the opening tag, so that only the closing one comes, on a line
    of its own.

    >>> without_thoughts("<think>Which one?</think>\n\nPlymouth [1].")
    'Plymouth [1].'
    """
    if text.lstrip().startswith(_OPEN):
        return text.partition(_CLOSE)[2].lstrip()
    return _ALONE.split(text)[-1]


def apart(pieces: Generator[str, None, str]) -> Generator[str, None, str]:
    """The pieces of a stream, those of a thought as ``Thought``.

    Only a thought at the beginning counts: an answer may speak of the tag. White space between the
    thought and the answer is left out.
    """
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
