"""Read Markdown: the source, with the blocks and headings that the parser finds.

Only tables in HTML are changed: their rows are written as those of pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from milepost.documents import plain_yaml
from milepost.documents.encoding import decode
from milepost.documents.readers import html, metadata
from milepost.documents.readers.builder import TextBuilder, caption_in, table_marks
from milepost.documents.readers.plain import drawn_tables
from milepost.documents.vaults import readable, vault_of
from milepost.properties import EMPTY, Properties
from milepost.table_rows import cells_of
from milepost.types import Document, Mark, Span

_FRONT = re.compile(r"---\n((?:.*\n)*?)(?:---|\.\.\.)\n")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_EMPHASIS = re.compile(r"\\([!-/:-@\[-`{-~])|[`*]+|(?<!\w)_+|_+(?!\w)|<[^>]+>")
_HTML_TABLE = re.compile(r"<(/?)table\b[^<>]*>", re.I)
_INK = re.compile(r"[^\s#]")
_NOTE = re.compile(  # of Material for MkDocs: a note, one to unfold, a tab
    r"(?:!!!|\?\?\?\+?) ?[\w-]+(?: +[\w-]+)*(?: +\"[^\n]*\")?(?: +(?:inline|end))*[ \t]*$"
    r"|===[!+]? +\"[^\n]*\"[ \t]*$"
)
_DEEPER = 4  # columns by which the body of a note is indented

_UNITS = frozenset(
    ("paragraph_open", "list_item_open", "tr_open", "heading_open", "hr", "html_block", "note")
)
_LINES = frozenset(("fence", "code_block"))


def read_markdown(data: bytes, name: str, source: str | None) -> Document:
    """Read a Markdown file; in Obsidian notes, links and comments change (``readable``)."""
    text, notes = decode(data, name)
    if source is not None and vault_of(source) is not None:
        text = readable(text)
    pieces = _pieces(text, name)
    text = "".join(each if isinstance(each, str) else each.text for each in pieces)
    marks, blocks = _structure(
        "".join(each if isinstance(each, str) else "\n" * len(each.text) for each in pieces)
    )
    start = 0
    for each in pieces:
        if isinstance(each, Document):
            marks += [replace(mark, offset=start + mark.offset) for mark in each.marks]
            blocks += [start + block for block in each.blocks or ()]
            notes += each.notes if each.text else ()
        start += len(each if isinstance(each, str) else each.text)
    properties, said = _front_matter(text)
    return Document(
        name,
        text,
        tuple(sorted(marks, key=lambda mark: mark.offset)),
        source,
        notes=notes + said,
        blocks=tuple(sorted(blocks)),
        properties=properties,
    )


def _pieces(text: str, name: str) -> list[str | Document]:
    """Split a text into tables in HTML, as they are read, and what is around them."""
    if not _HTML_TABLE.search(text):
        return [text]
    pieces: list[str | Document] = []
    last = 0
    for start, end in _html_tables(text):
        built = TextBuilder()
        html.write(text[start:end], built)
        inline = text[text.rfind("\n", 0, start) + 1 : start].strip()
        pieces += text[last:start] + "\n" * bool(inline), built.document(name, None)
        last = end
        if text[last : last + 1] not in ("", "\n"):
            pieces.append("\n")
    return [*pieces, text[last:]]


def _html_tables(text: str) -> Iterator[Span]:
    """Yield where tables in HTML are, with no Markdown inside."""
    tokens, offsets = _parsed(text)
    for is_html, group in groupby(tokens, lambda token: token.type == "html_block"):
        lines = [line for token in group if is_html for line in token.map]
        if not lines:
            continue
        start = depth = 0
        for tag in _HTML_TABLE.finditer(text, offsets[lines[0]], offsets[lines[-1]]):
            start = start if depth else tag.start()
            depth += -1 if tag[1] else 1
            if not depth:
                yield start, tag.end()
            depth = max(depth, 0)


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


def _front_lines(text: str) -> int:
    front = _FRONT.match(text)
    return text[: front.end()].count("\n") if front else 0


def _parsed(text: str) -> tuple[list[Any], list[int]]:
    """Return the parser's tokens, whose lines are those of the text, and where lines begin."""
    from markdown_it import MarkdownIt

    # Inline markup is not needed here, and takes most of the parsing time.
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    parser.block.ruler.before("fence", "note", _note, {"alt": ["paragraph"]})
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    skipped = _front_lines(text)
    return parser.parse("\n" * skipped + text[offsets[skipped] :]), offsets


def _note(state: Any, first: int, last: int, silent: bool) -> bool:
    """Parse a note: its title in one line, and an indented body of blocks."""
    start = state.bMarks[first] + state.tShift[first]
    depth, end = state.sCount[first] + _DEEPER, first + 1
    if state.is_code_block(first) or not _NOTE.match(state.src[start : state.eMarks[first]]):
        return False
    while end < last and (state.isEmpty(end) or state.sCount[end] >= depth):
        end += 1
    if all(map(state.isEmpty, range(first + 1, end))):
        return False
    if not silent:
        state.push("note", "", 0).map = [first, first + 1]
        outer = state.blkIndent, state.lineMax
        state.blkIndent, state.lineMax = depth, end
        state.md.block.tokenize(state, first + 1, end)
        state.blkIndent, state.lineMax = outer
        state.line = end
    return True


def _structure(text: str) -> tuple[list[Mark], list[int]]:
    tokens, offsets = _parsed(text)
    marks: list[Mark] = []
    blocks = set(offsets[: _front_lines(text)])
    for number, token in enumerate(tokens):
        if token.map is None:
            continue
        first, last = token.map
        if token.type in _LINES:
            blocks.update(offsets[first:last])
        elif token.type in _UNITS:
            blocks.add(offsets[first])
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
    return marks, [block for block in blocks if text[block : block + 1].strip("\n")]


def _plain(words: str) -> str:
    return " ".join(_EMPHASIS.sub(r"\1", _LINK.sub(r"\1", words)).split())
