"""How passages and indexes look in a Python prompt and in a notebook.

The HTML takes all colours from the page around it, so that it can be read in light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING

from milepost.wording import CONTROL, percentage

if TYPE_CHECKING:
    from milepost.types import Passage

_SHORT = 70
_FRAME = "border-left:3px solid;padding:.2em 0 .2em .8em;margin:.4em 0"


def passage_line(passage: Passage) -> str:
    """Probability, document, place and the beginning of the sentence that answers."""
    about = _where(passage)
    answer = " ".join((passage.best.text if passage.hits else passage.text).split())
    shown = answer if len(answer) <= _SHORT else f"{answer[:_SHORT]}…"
    return (
        f"<Passage {percentage(passage.score)}, {about}, {passage.start}:{passage.end}: {shown!r}>"
    )


def plain(text: str) -> str:
    """A text as a terminal and JSON can show it: names of files may hold any bytes."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def passage_html(passage: Passage) -> str:
    """The text of a passage with the sentence that answers in bold, below where it stands."""
    text, low, high = passage.text, 0, 0
    if passage.hits:
        low, high = passage.best.start - passage.start, passage.best.end - passage.start
    before, answer, after = map(_lines, (text[:low], text[low:high], text[high:]))
    return (
        f'<div style="{_FRAME}">'
        f"<div><b>{percentage(passage.score)}</b> {escape(_where(passage))}</div>"
        f'<div>{before}<b style="text-decoration:underline">{answer}</b>{after}</div></div>'
    )


def index_html(line: str, documents: Sequence[tuple[str, int]], more: int) -> str:
    """A line about an index, and a table of some of its documents with their sentences."""
    rows = "".join(
        f'<tr><td style="text-align:left">{escape(plain(name))}</td><td>{sentences:,}</td></tr>'
        for name, sentences in documents
    )
    left = f"<div>and {more:,} more</div>" if more > 0 else ""
    head = '<tr><th style="text-align:left">document</th><th>sentences</th></tr>'
    table = f"<table>{head}{rows}</table>" if rows else ""
    return f'<div style="{_FRAME}"><div>{escape(line)}</div>{table}{left}</div>'


def _where(passage: Passage) -> str:
    name = PurePath(passage.document).name or passage.document
    return plain(", ".join(filter(None, (name, passage.place, passage.heading))))


def _lines(text: str) -> str:
    return "<br>".join(escape(plain(line)) for line in text.split("\n"))
