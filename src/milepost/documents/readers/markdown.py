"""Read Markdown: the unchanged source, with the blocks and headings that the parser finds."""

from __future__ import annotations

import re
from typing import Any

from milepost.documents import plain_yaml
from milepost.documents.encoding import decode
from milepost.documents.readers import metadata
from milepost.documents.readers.builder import caption_in, table_marks
from milepost.documents.readers.plain import drawn_tables
from milepost.documents.vaults import readable, vault_of
from milepost.properties import EMPTY, Properties
from milepost.table_rows import cells_of
from milepost.types import Document, Mark

_FRONT = re.compile(r"---\n((?:.*\n)*?)(?:---|\.\.\.)\n")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_EMPHASIS = re.compile(r"[`*]+|(?<!\w)_+|_+(?!\w)|<[^>]+>")
_HTML_ROW = re.compile(r"<tr\b", re.I)
_INK = re.compile(r"[^\s#]")

_UNITS = frozenset(
    ("paragraph_open", "list_item_open", "tr_open", "heading_open", "hr", "html_block")
)
_LINES = frozenset(("fence", "code_block"))


def read_markdown(data: bytes, name: str, source: str | None) -> Document:
    """Read a Markdown file; its text is not changed, except in Obsidian notes (``readable``)."""
    text, notes = decode(data, name)
    if source is not None and vault_of(source) is not None:
        text = readable(text)
    marks, blocks = _structure(text)
    properties, said = _front_matter(text)
    return Document(
        name, text, marks, source, notes=notes + said, blocks=blocks, properties=properties
    )


def _front_matter(text: str) -> tuple[Properties, tuple[str, ...]]:
    """Parse the properties in the front matter; a note says if it is not valid YAML."""
    front = _FRONT.match(text)
    if front is None or ":" not in front[1]:  # text between two rules
        return EMPTY, ()
    try:
        values = plain_yaml.load(front[1])
    except ValueError as error:
        return EMPTY, (f"the front matter is not YAML and gives no properties: {error}",)
    return (metadata.front_matter(values) if isinstance(values, dict) else EMPTY), ()


def _structure(text: str) -> tuple[tuple[Mark, ...], tuple[int, ...]]:
    from markdown_it import MarkdownIt

    # Inline markup is not needed here, and takes most of the parsing time.
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    front = _FRONT.match(text)
    skipped = text[: front.end()].count("\n") if front else 0
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    marks: list[Mark] = []
    blocks: set[int] = set(offsets[:skipped])
    tokens: list[Any] = parser.parse(text[offsets[skipped] :])
    for number, token in enumerate(tokens):
        if token.map is None:
            continue
        first, last = (line + skipped for line in token.map)
        if token.type in _LINES:
            blocks.update(offsets[first:last])
        elif token.type in _UNITS:
            blocks.add(offsets[first])
        if token.type == "html_block":
            blocks.update(
                row.start() for row in _HTML_ROW.finditer(text, offsets[first], offsets[last])
            )
        if token.type == "table_open":
            start, end = offsets[first], min(offsets[last], len(text))
            names = [_plain(text[a:b]) for a, b in cells_of(text, start, offsets[first + 1])]
            follows = number > 1 and tokens[number - 1].type == "paragraph_close"
            caption = caption_in(_plain(tokens[number - 2].content)) if follows else ""
            marks += table_marks(start, offsets[first + 2], end, names, caption)
        if token.type == "heading_open":
            ink = _INK.search(text, offsets[first])
            words = _plain(tokens[number + 1].content)
            if ink and words:
                marks.append(Mark(ink.start(), "heading", words, int(token.tag[1])))
    marks += drawn_tables(text)
    inside = tuple(sorted(block for block in blocks if block < len(text)))
    return tuple(sorted(marks, key=lambda mark: mark.offset)), inside


def _plain(words: str) -> str:
    return " ".join(_EMPHASIS.sub("", _LINK.sub(r"\1", words)).split())
