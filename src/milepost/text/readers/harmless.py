"""Make names and notes safe to show in a terminal or page: one line, no control characters."""

from __future__ import annotations

import re
from dataclasses import replace

from milepost.types import Document

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that end a line, control a terminal or change the direction of the writing."""


def one_line(words: str) -> str:
    r"""Put words in one line, without control characters.

    >>> one_line("plan\x1b[2J.pdf")
    'plan [2J.pdf'
    """
    return " ".join(_CONTROL.sub(" ", words).split())


def harmless(document: Document) -> Document:
    """Put headings, places and notes of a document in one line; its text is not changed.

    Callers print them in messages, where a name in a mail must not control the terminal.
    """
    notes = tuple(map(one_line, document.notes))
    marks = document.marks
    if any(_CONTROL.search(mark.value) for mark in marks):
        marks = tuple(replace(mark, value=one_line(mark.value)) for mark in marks)
    return replace(document, notes=notes, marks=marks)
