"""Names of files, and notes about them, on one line: file systems allow any bytes but a slash."""

from __future__ import annotations

from milepost._display import plain
from milepost.wording import without_options


def one_line(name: str) -> str:
    r"""Make a name fit for people and for JSON; its length stays.

    >>> one_line("a\nb\udce9")
    'a�b�'
    """
    return plain(name)


def note_line(note: str) -> str:
    """A note of a document in one line, for people who gave no command."""
    return one_line(without_options(note))
