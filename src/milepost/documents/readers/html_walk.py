"""Walk over the tree of a web page and write its visible text, block by block."""

from __future__ import annotations

import re
from typing import Any

from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.grid import Cell, Grid
from milepost.documents.readers.numbering import numeral
from milepost.documents.readers.scripts import END, LOWERED, NOTE, RAISED, shown

_UNREAD = frozenset(
    """
    head script style template noscript iframe object canvas svg audio video select datalist
    textarea input dialog rt rp rtc annotation annotation-xml
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
_STRUCK = frozenset(("del", "s", "strike"))
_BLOCKS = frozenset(
    """
    address article aside blockquote body center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu
    nav ol optgroup p pre search section summary table caption tbody thead tfoot tr td th ul
    colgroup
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_APART = frozenset(("button", "label", "a"))
"""Elements of a line that are set apart if nothing is written between them."""

_INLINE = frozenset(("br", "sup", "sub", "q", "math", *_APART))
"""Elements of a line that change how it is written."""

_SCRIPTS = {
    "msup": (RAISED,), "msub": (LOWERED,), "msubsup": (LOWERED, RAISED), "mfrac": ("/",),
}  # fmt: skip
"""Signs before the second and third part of a formula."""

_SPACES = re.compile(r"[ \t\n\r\f]+")
_PILCROW = re.compile(r"\s*[¶#§🔗\U000f0c6b]\s*$")
_HIDING = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_STRIKING = re.compile(r"text-decoration(?:-line)?\s*:[^;]*line-through", re.I)
_SET_APART = re.compile(r"display\s*:\s*(?:block|flex|grid|list-item|table|flow-root)\b", re.I)
_RAISING = re.compile(r"vertical-align\s*:\s*(super|sub)\b", re.I)
_BARE = re.compile(r"list-style(?:-type)?\s*:[^;]*none", re.I)
_QUOTES = "“”‘’"
_MARKS = frozenset("\"'“”„«»‘’‚‹›「『")
_EMPTY: Cell = ("", 1, 1)


class Walk:
    """One pass over a page in document order, without recursion, because pages nest deeply."""

    def __init__(self, text: TextBuilder, unread: set[int]) -> None:
        self._text = text
        self._unread = unread
        self._words: list[str] = []
        self._grids: list[tuple[int, Grid]] = []  # of the open tables, with their ids
        self._cells: list[list[Cell]] = []  # of the open table rows
        self._lists: list[list[Any]] = []  # of each open list: type, next number, step
        self._pre = self._quoted = self._formula = 0
        self._bullet = ""
        self._after: dict[int, str] = {}  # id of an open element → what is written at its end

    def walk(self, body: Any) -> None:
        """Read ``body`` and its descendants."""
        node, depth = body, 0
        while node is not None:
            child = None
            if node.is_text_node:
                self._words.append(node.text_content or "")
            elif node.is_element_node:
                tag, attributes = node.tag, node.attributes
                if not self._is_hidden(node, tag, attributes):
                    if tag in _BLOCKS:
                        self._enter(node, tag, attributes)
                    elif tag in _INLINE or "-" in tag or "style" in attributes or self._formula:
                        self._inline(node, tag, attributes)
                    child = node.first_child
                    if child is None:
                        self._leave(node)
            if child is not None:
                node, depth = child, depth + 1
                continue
            while node.next is None and depth:
                node, depth = node.parent, depth - 1
                self._leave(node)
            node = node.next if depth else None

    def _is_hidden(self, node: Any, tag: str, attributes: dict[str, str | None]) -> bool:
        if tag in _UNREAD or node.mem_id in self._unread:
            return True
        if not attributes:
            return tag in _STRUCK and self._strike(node)
        style = attributes.get("style")
        if tag in _STRUCK or (style and _STRIKING.search(style)):
            return self._strike(node)
        if "hidden" in attributes or (style and _HIDING.search(style)):
            return True
        return tag not in _BLOCKS and attributes.get("aria-hidden") == "true"

    def _strike(self, node: Any) -> bool:
        self._text.struck += bool(node.text(deep=True).strip())
        return True

    def _enter(self, node: Any, tag: str, attributes: dict[str, str | None]) -> None:
        self._flush()
        if tag == "pre":
            self._pre += 1
        elif tag == "table":
            self._grids.append((node.mem_id, Grid()))
        elif tag == "tr" and _is_data(node):
            self._cells.append([])
        elif tag in ("td", "th") and self._cells:
            self._cells[-1].append(("", *_spans(attributes)) if attributes else _EMPTY)
        elif tag in ("ol", "ul", "menu", "dir"):
            self._open_list(node, tag, attributes)
        elif tag == "li":
            self._bullet = self._numbered(attributes)

    def _inline(self, node: Any, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "br":
            self._words.append("\0")
        elif tag in ("sup", "sub"):
            is_note = node.parent.tag == "a" or node.css_first("a") is not None
            sign = LOWERED if tag == "sub" else (NOTE if is_note else RAISED)
            self._wrap(node, sign, END)
        elif tag == "q":
            at = 2 * (self._quoted % 2)
            self._quoted += 1
            marked = node.text(deep=True).strip()[:1] in _MARKS
            self._wrap(node, *("", "") if marked else _QUOTES[at : at + 2])
        elif tag == "math":
            self._formula += 1
            self._after[node.mem_id] = ""
        elif self._formula and (signs := _SCRIPTS.get(node.parent.tag)):
            self._part(node, signs)
        style = attributes.get("style")
        if style and (found := _RAISING.search(style)) and tag not in ("sup", "sub"):
            self._wrap(node, RAISED if found[1].lower() == "super" else LOWERED, END)
        if (style and _SET_APART.search(style)) or ("-" in tag and _has_twin(node)):
            self._flush()
            self._after[node.mem_id] = "\1"
        elif tag in _APART and self._words and not self._words[-1][-1:].isspace():
            before = node.prev
            if before is not None and before.is_element_node and before.tag in _APART:
                self._words.append(" ")

    def _wrap(self, node: Any, before: str, after: str) -> None:
        self._words.append(before)
        self._after[node.mem_id] = after

    def _part(self, node: Any, signs: tuple[str, ...]) -> None:
        """Open a part of a formula, which stands above, below or under the part before it."""
        place, before = 0, node.prev
        while before is not None:
            place, before = place + before.is_element_node, before.prev
        if 0 < place <= len(signs):
            sign = signs[place - 1]
            self._wrap(node, sign, "" if sign == "/" else END)

    def _leave(self, node: Any) -> None:
        tag = node.tag
        if tag not in _BLOCKS:
            if self._after and (after := self._after.pop(node.mem_id, None)) is not None:
                if after == "\1":
                    self._flush()
                else:
                    self._words.append(after)
                    self._quoted -= tag == "q"
                    self._formula -= tag == "math"
            return
        words = self._flush(int(tag[1]) if tag in _HEADINGS else 0)
        if tag == "pre":
            self._pre -= 1
        elif tag == "li":
            self._bullet = ""
        elif tag in ("ol", "ul", "menu", "dir"):
            if self._lists:
                self._lists.pop()
        elif tag == "caption":
            if self._grids:
                self._grids[-1][1].caption = words
        elif tag == "table":
            if self._grids and self._grids[-1][0] == node.mem_id:
                self._grids.pop()[1].write(self._text)
        elif tag == "tr" and self._cells and _is_data(node):
            cells = self._cells.pop()
            if self._grids:
                self._grids[-1][1].add(cells, header=_is_header(node))

    def _open_list(self, node: Any, tag: str, attributes: dict[str, str | None]) -> None:
        style = attributes.get("style") or ""
        if tag != "ol" or _BARE.search(style):
            self._lists.append(["", 0, 0])
            return
        kind = attributes.get("type") or "1"
        back = "reversed" in attributes
        items = sum(child.tag == "li" for child in node.iter()) if back else 1
        self._lists.append([kind, _number(attributes.get("start"), items), -1 if back else 1])

    def _numbered(self, attributes: dict[str, str | None]) -> str:
        if not self._lists or not self._lists[-1][0]:
            return "- "
        counted = self._lists[-1]
        number = _number(attributes.get("value"), counted[1])
        counted[1] = number + counted[2]
        return f"{numeral(number, counted[0])}. "

    def _flush(self, level: int = 0) -> str:
        """Add the text collected since the last block boundary, and return what was added."""
        if not self._words:
            return ""
        raw = "".join(self._words)
        self._words.clear()
        if not self._pre and raw.isspace():  # most text is between blocks
            return ""
        raw = shown(raw)
        if self._pre and not self._cells:
            self._write_table()
            for number, line in enumerate(raw.replace("\0", "\n").strip("\n").split("\n")):
                self._text.add(line.rstrip(), close=number > 0)
            return ""
        lines = (_SPACES.sub(" ", line).strip() for line in raw.split("\0"))
        words = "\n".join(line for line in lines if line)
        if not words:
            return ""
        if self._cells and self._cells[-1]:
            cell, columns, rows = self._cells[-1][-1]
            self._cells[-1][-1] = (f"{cell} {words}".strip().replace("\n", " "), columns, rows)
            return ""
        self._write_table()
        if level:
            words = _PILCROW.sub("", words)
        self._text.add(self._bullet + words, close=bool(self._bullet), level=level)
        self._bullet = ""
        return words

    def _write_table(self) -> None:
        """Write the rows above a text that is outside of rows: a caption, the layout of a page."""
        for _, grid in self._grids:
            grid.write(self._text)


def _is_data(row: Any) -> bool:
    """Whether a table row contains cells of data, not the layout of a page."""
    return row.css_first("table, h1, h2, h3, h4, pre, p + p + p") is None


def _is_header(row: Any) -> bool:
    """Whether a table row names columns: it is in the head, or all its cells are headers."""
    if row.parent.tag == "thead":
        return True
    cells = [cell.tag for cell in row.iter()]
    return len(cells) > 1 and all(tag == "th" for tag in cells)


def _has_twin(node: Any) -> bool:
    """Whether an element of the author's own has one of its kind directly beside it."""
    return any(
        beside is not None and beside.is_element_node and beside.tag == node.tag
        for beside in (node.prev, node.next)
    )


def _spans(attributes: dict[str, str | None]) -> tuple[int, int]:
    """Return how many columns and rows a cell covers; zero rows are all that are left."""
    columns, rows = (_number(attributes.get(key), 1) for key in ("colspan", "rowspan"))
    return columns, rows if rows > 0 else 1 << 16


def _number(said: str | None, default: int) -> int:
    try:
        return int(said or "")
    except ValueError:
        return default
