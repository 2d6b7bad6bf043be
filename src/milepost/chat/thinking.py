"""What a language model thinks before it answers: ``<think>…</think>``, set apart from the answer.

It is neither an answer nor cited, and its drafts would be checked as if they were.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import closing

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
    return _parts(text, ended=True)[1]


def apart(pieces: Generator[str, None, str]) -> Generator[str, None, str]:
    """The pieces of a stream, those of a thought as ``Thought``.

    Only a thought at the beginning counts: an answer may speak of the tag. White space between the
    thought and the answer is left out. Where only the closing tag comes, what came before it is
    taken back by a ``Restart``.
    """
    text, reason, taken_back = "", None, False
    thought = answer = ""  # what was given of each
    with closing(pieces):
        while reason is None:
            try:
                text += next(pieces)
            except StopIteration as end:
                reason = str(end.value)
            before, behind, unopened = _parts(text, ended=reason is not None)
            if unopened and not taken_back:
                yield Restart(before[len(answer) :])
                answer, taken_back = "", True
            elif not unopened and len(before) > len(thought):
                yield Thought(before[len(thought) :])
                thought = before
            if len(behind) > len(answer):
                yield behind[len(answer) :]
                answer = behind
    return reason


def _parts(text: str, *, ended: bool) -> tuple[str, str, bool]:
    """The thought and the answer of a text, and whether nothing opened the thought.

    Of a text that has not ended, what may yet become a tag belongs to neither.
    """
    begun = text.lstrip()
    if begun.startswith(_OPEN):
        thought, closed, answer = begun.removeprefix(_OPEN).partition(_CLOSE)
        if not closed and not ended:
            thought = thought[: len(thought) - _overlap(thought)]
        return thought, answer.lstrip(), False
    # A stream asks this after each piece: to look for the tag alone is far quicker.
    if _CLOSE in text and (unopened := _UNOPENED.search(text)):
        return text[: unopened.start()], text[unopened.end() :].lstrip(), True
    if ended:
        return "", text, False
    if _OPEN.startswith(begun):
        return "", "", False
    before, closed, behind = text.rpartition(_CLOSE)
    if closed and not behind.strip(" \t"):  # a line may end there
        return "", before, False
    return "", text[: len(text) - _overlap(text)], False


def _overlap(text: str) -> int:
    """How many characters at the end of a text may begin the closing tag."""
    return next((n for n in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:n])), 0)
