"""Plain text, source code, reStructuredText and anything else that is text already."""

from __future__ import annotations

import re

from milepost.text.encoding import decode
from milepost.types import Document, Mark

_UNDERLINED = re.compile(
    r"^(?P<words>[^\s].*)\n(?P<line>([=\-~^\"'`*+#:.])\3{2,})[ \t]*$", re.MULTILINE
)

_ROW = re.compile(r"^(?=[^\n]*\S)", re.MULTILINE)


def read_plain(data: bytes, name: str, source: str | None) -> Document:
    """Read a text file as it is."""
    text, notes = decode(data, name)
    return Document(name, text, source=source, notes=notes)


def read_rows(data: bytes, name: str, source: str | None) -> Document:
    """Read a text in which every line is a record of its own (CSV, logs, subtitles)."""
    text, notes = decode(data, name)
    blocks = tuple(match.start() for match in _ROW.finditer(text))
    return Document(name, text, source=source, notes=notes, blocks=blocks)


def read_underlined(data: bytes, name: str, source: str | None) -> Document:
    """Read a text whose headings are underlined (reStructuredText).

    Levels go by the underline, in the order in which each kind first appears.
    """
    text, notes = decode(data, name)
    marks: list[Mark] = []
    kinds: list[str] = []
    for match in _UNDERLINED.finditer(text):
        words = match["words"].rstrip()
        if len(match["line"]) < len(words) or not any(map(str.isalnum, words)):
            continue
        kind = match["line"][0]
        if kind not in kinds:
            kinds.append(kind)
        marks.append(Mark(match.start(), "heading", words, min(6, kinds.index(kind) + 1)))
    return Document(name, text, tuple(marks), source, notes=notes)
