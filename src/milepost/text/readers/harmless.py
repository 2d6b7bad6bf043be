"""Names and notes that a terminal or a page can show: one line, no control characters."""

from __future__ import annotations

import re
from dataclasses import replace

from milepost.types import Document

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""What ends a line, moves the cursor of a terminal or turns the direction of what follows."""


def one_line(words: str) -> str:
    r"""Words in one line, without control characters.

    >>> one_line("plan\x1b[2J.pdf")
    'plan [2J.pdf'
    """
    return " ".join(_CONTROL.sub(" ", words).split())


def harmless(document: Document) -> Document:
    """The document with headings, places and notes in one line; its text stays as it is.

    Others print them beside their own words: a name in a mail must not act on their terminal.
    """
    notes = tuple(map(one_line, document.notes))
    marks = document.marks
    if any(_CONTROL.search(mark.value) for mark in marks):
        marks = tuple(replace(mark, value=one_line(mark.value)) for mark in marks)
    return replace(document, notes=notes, marks=marks)
