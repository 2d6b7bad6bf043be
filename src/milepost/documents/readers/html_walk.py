"""Walk over the tree of a web page and write its visible text, block by block."""

from __future__ import annotations

import re
from typing import Any

from milepost.documents.readers import html_nodes as nodes
from milepost.documents.readers import html_styles as css
from milepost.documents.readers.archive import parsed
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.formulas import linear
from milepost.documents.readers.grid import Cell, Grid
from milepost.documents.readers.html_content import Content
from milepost.documents.readers.numbering import numeral
from milepost.documents.readers.scripts import END, LOWERED, NOTE, RAISED, shown
from milepost.errors import UnreadableFile

_UNREAD = frozenset(
    """
    head script style template noscript iframe object canvas audio video datalist rt rp rtc
    title desc metadata defs
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
_STRUCK = frozenset(("del", "s", "strike"))
_BLOCKS = frozenset(
    """
    address article aside blockquote body center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu
    nav ol p pre search section summary table caption tbody thead tfoot tr td th ul colgroup text
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_APART = frozenset(("button", "label", "a", "option"))
"""Elements of a line that are set apart if nothing is written between them."""

_FIELDS = frozenset(("input", "select", "textarea"))
_INLINE = frozenset(("br", "img", "sup", "sub", "q", *_APART, *_FIELDS))
"""Elements of a line that change how it is written."""

_TABLE = frozenset("table caption thead tbody tfoot tr td th".split())  # noqa: SIM905
_MAX_INNER = 300  # characters of a row with a table in a cell
_SPACES = re.compile(r"[ \t\n\r\f]+")
_PILCROW = re.compile(r"\s*[¶#§🔗\U000f0c6b]\s*$")
_REFERENCE = re.compile(r"\b(?:doc-)?noteref\b")
_NOTE = re.compile(r"\b(?:foot|end|rear)note\b")
_QUOTES = "“”‘’"
_MARKS = frozenset("\"'“”„«»‘’‚‹›「『")
_GONE = ("hidden", "collapse")
_WHOLE = frozenset(("body", "main", "article"))
"""Elements that a script shows when the page is complete."""


class Walk:
    """One pass over a page in document order, without recursion, because pages nest deeply."""

    def __init__(
        self, text: TextBuilder, unread: set[int], styles: dict[int, str], content: Content | None
    ) -> None:
        self._text = text
        self._unread = unread
        self._styles = styles
        self._content = content
        self._words: list[str] = []
        # Of the open tables, with their ids, and whether a row names columns.
        self._grids: list[tuple[int, Grid, bool]] = []
        self._cells: list[list[Cell]] = []  # of the open table rows
        self._inner = 0  # open tables in a cell of these rows
        self._parts: dict[int, str] = {}  # ids of those by their role → tag
        self._lists: list[list[Any]] = []  # of each open list: type, next number, step
        self._pre = self._quoted = 0
        self._is_code = False  # the open ``pre``
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
                if "role" in attributes or tag in nodes.LINED:
                    self._parts[node.mem_id] = tag = nodes.tag_of(node)
                said = self._styles.get(node.mem_id, "") + (attributes.get("style") or "")
                if "baseline-shift" in attributes:  # of SVG
                    said += f";baseline-shift:{attributes['baseline-shift']}"
                style = css.declared(said) if said else css.PLAIN
                if tag == "math":
                    self._formula(node)
                elif not self._is_hidden(node, tag, attributes, style):
                    before = ""
                    if self._content is not None and not self._pre:
                        before, after = self._content.around(node, tag, style, depth)
                        if after:
                            self._after[node.mem_id] = after
                    if tag in _BLOCKS:
                        self._enter(node, tag, attributes, style)
                    elif tag in _INLINE or "-" in tag or style:
                        self._inline(node, tag, attributes, style)
                    if before and tag == "li":
                        self._bullet = f"{self._bullet.removeprefix('- ')}{before.strip()} "
                    elif before:
                        self._words.append(before)
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

    def _is_hidden(
        self, node: Any, tag: str, attributes: dict[str, str | None], style: dict[str, str]
    ) -> bool:
        if tag in _UNREAD or node.mem_id in self._unread:
            if (attributes.get("type") or "").startswith("math/"):
                self._text.leave_out(node.text(deep=True), "a formula in TeX")
            return True
        if attributes and tag not in ("td", "th") and nodes.is_count(node, attributes):
            return True
        line = style.get("text-decoration", "")
        if (tag in _STRUCK and line != "none") or "line-through" in line:
            self._text.leave_out(node.text(deep=True))
            return True
        if _NOTE.search(attributes.get("epub:type") or ""):  # opens where it is referred to
            return False
        is_block = tag in _BLOCKS or css.SET_APART.match(style.get("display", "")) is not None
        is_gone = style.get("display") == "none" or style.get("visibility") in _GONE
        if is_gone or (style and nodes.is_unseen(node, style, is_block=is_block)):
            if tag in ("td", "th") and self._cells and style.get("display") != "none":
                self._cells[-1].append(("", *nodes.spans(attributes)))
            if nodes.is_picture(node.next) and node.css_first("math") is not None:
                return False  # the same formula follows as a picture
            own = css.declared(attributes.get("style") or "")
            if not is_gone or not own.keys() & {"display", "visibility"}:
                if tag in _WHOLE:
                    return False
                self._text.leave_out(node.text(deep=True), "text that the style sheet hides")
            return True
        if (tag == "option" and "selected" not in attributes) or (
            tag == "dialog" and "open" not in attributes
        ):
            return True
        # What a screen reader is not to read is shown, except the second form of a formula.
        is_silent = attributes.get("aria-hidden") == "true"
        near = nodes.beside(node) if is_silent else ()
        return "hidden" in attributes or any(x.tag == "math" or x.css_first("math") for x in near)

    def _formula(self, node: Any) -> None:
        try:
            words = linear(parsed(node.html.encode(), "a page", "a formula"))
        except UnreadableFile:
            words = node.text(deep=True)
        self._words.append(words)
        if not words.strip():
            self._text.leave_out(node.text(deep=True), "a formula in TeX")

    def _enter(
        self, node: Any, tag: str, attributes: dict[str, str | None], style: dict[str, str]
    ) -> None:
        self._flush()
        if style:
            self._set_apart(node, style)
        if tag == "p" or tag in _HEADINGS:
            self._join_placed(node)
        if self._cells and tag in _TABLE and (self._inner or tag == "table"):
            self._inner += tag == "table"
        elif tag == "pre":
            self._pre += 1
            self._is_code = "class" in attributes or node.css_first("code, span") is not None
        elif tag == "table":
            grid = Grid(nodes.caption_of(node))
            self._grids.append((node.mem_id, grid, nodes.names_columns(node)))
        elif tag == "tr" and self._is_data(node):
            self._cells.append([])
        elif tag in ("td", "th") and self._cells:
            self._cells[-1].append(("", *nodes.spans(attributes)))
        elif tag in ("ol", "ul", "menu", "dir"):
            self._open_list(node, tag, attributes, style)
        elif tag == "li":
            outer = self._bullet.removeprefix("- ")  # of an item that begins with a list
            own = self._numbered(attributes, style)
            self._bullet = outer + (own.removeprefix("- ") if outer else own)

    def _inline(
        self, node: Any, tag: str, attributes: dict[str, str | None], style: dict[str, str]
    ) -> None:
        sign = ""
        if tag == "br":
            self._words.append("\0")
        elif tag in ("sup", "sub"):
            sign = LOWERED if tag == "sub" else RAISED
        elif tag == "q":
            at = 2 * (self._quoted % 2)
            self._quoted += 1
            marked = node.text(deep=True).strip()[:1] in _MARKS
            self._wrap(node, *("", "") if marked else _QUOTES[at : at + 2])
        elif tag == "a" and _REFERENCE.search(
            f"{attributes.get('epub:type')} {attributes.get('role')}"
        ):
            if node.parent.tag != "sup" and node.css_first("sup") is None:
                self._wrap(node, NOTE, END)
        elif tag in _FIELDS:
            self._wrap(node, f" {nodes.typed(attributes)}" if tag == "input" else " ", " ")
        elif tag == "button":
            is_apart = bool(self._words) and self._words[-1][-1:].isspace()
            self._wrap(node, "" if is_apart else " ", " ")
        elif tag == "img" and nodes.is_picture(node) and node.parent.css_first("math") is None:
            self._text.leave_out("x", "a picture of a formula")
        if sign := sign or (css.script(style) if style else ""):
            is_note = "a" in (tag, node.parent.tag) or node.css_first("a") is not None
            self._wrap(node, NOTE if is_note and sign == RAISED else sign, END)
        self._set_apart(node, style)
        is_placed = style.get("position") in ("absolute", "fixed")
        is_placed = is_placed and not sign and not css.is_clipped(style)
        is_block = css.SET_APART.match(style.get("display", "")) and not css.is_initial(node, style)
        if is_block or is_placed or ("-" in tag and nodes.has_twin(node)):
            self._flush()
            self._wrap(node, "", "\1")
        elif css.is_roomy(node, style):
            self._wrap(node, " ", " ")
        elif tag in _APART and self._words and not self._words[-1][-1:].isspace():
            before = node.prev
            if before is not None and before.is_element_node and before.tag in _APART:
                self._words.append(" ")

    def _set_apart(self, node: Any, style: dict[str, str]) -> None:
        """Set the parts of a box apart if its style does: one below the other, or with room."""
        kind = style.get("display", "")
        if not kind.endswith(("grid", "flex")):
            return
        way = style.get("flex-direction", "") + style.get("flex-flow", "")
        apart = "display:block" if kind.endswith("grid") or "column" in way else "margin:1em"
        if apart == "display:block" or css.has_room(style):
            for child in node.iter():
                said = self._styles.get(child.mem_id, "")
                self._styles[child.mem_id] = f"{apart};{said}"

    def _join_placed(self, paragraph: Any) -> None:
        """Join the words of a paragraph, if the page places them one by one."""
        parts = [*paragraph.iter()]
        if len(parts) > 1 and all(map(nodes.has_place, parts)):
            has_spaces = any(part.text(deep=True)[-1:].isspace() for part in parts)
            said = f"position:static!important;margin:{0 if has_spaces else 1}em;"
            for part in parts:
                self._styles[part.mem_id] = self._styles.get(part.mem_id, "") + said

    def _wrap(self, node: Any, before: str, after: str) -> None:
        self._words.append(before)
        self._after[node.mem_id] = after + self._after.get(node.mem_id, "")

    def _leave(self, node: Any) -> None:
        tag = (self._parts and self._parts.get(node.mem_id)) or node.tag
        if self._after and (after := self._after.pop(node.mem_id, None)) is not None:
            self._words.append(after.removeprefix("\1"))
            if after.startswith("\1"):
                self._flush()
            self._quoted -= tag == "q"
        if tag not in _BLOCKS:
            return
        words = self._flush(tag)
        if self._inner and tag in _TABLE:
            self._inner -= tag == "table"
        elif tag == "pre":
            self._pre -= 1
        elif tag == "li":
            self._bullet = ""
        elif tag in ("ol", "ul", "menu", "dir") and self._lists:
            self._lists.pop()
        elif tag == "caption" and self._grids:
            self._grids[-1][1].caption = words
        elif tag in ("thead", "tbody", "tfoot") and self._grids:
            self._grids[-1][1].end_group()
        elif tag == "table" and self._grids and self._grids[-1][0] == node.mem_id:
            self._grids.pop()[1].write(self._text)
        elif tag == "tr" and self._cells and self._is_data(node):
            cells = self._cells.pop()
            if self._grids:
                header, key = nodes.headings(node)
                self._grids[-1][1].add(cells, header=header, key=key)

    def _open_list(
        self, node: Any, tag: str, attributes: dict[str, str | None], style: dict[str, str]
    ) -> None:
        kind = (attributes.get("type") or "1") if tag == "ol" else ""
        kind = css.list_kind(style, kind)
        back = "reversed" in attributes
        items = sum(child.tag == "li" for child in node.iter()) if back else 1
        self._lists.append([kind, nodes.integer(attributes.get("start"), items), -1 if back else 1])

    def _numbered(self, attributes: dict[str, str | None], style: dict[str, str]) -> str:
        if not self._lists:
            return "- "
        counted = self._lists[-1]
        number = nodes.integer(attributes.get("value"), counted[1])
        counted[1] = number + counted[2]
        kind = css.list_kind(style, attributes.get("type") or counted[0])
        if style.get("display", "list-item") != "list-item":
            kind = ""
        return f"{numeral(number, kind)}. " if kind else "- "

    def _flush(self, tag: str = "") -> str:
        """Add the text collected since the last block boundary, and return what was added."""
        if not self._words:
            return ""
        raw = "".join(self._words)
        self._words.clear()
        if not self._pre and raw.isspace():  # most text is between blocks
            return ""
        raw = shown(raw)
        if self._pre and not self._cells:
            self._write_tables()
            add = self._text.add_lines if self._is_code else self._text.add_wrapped
            add(raw.replace("\0", "\n").strip("\n").split("\n"))
            return ""
        lines = (_SPACES.sub(" ", line).strip() for line in raw.split("\0"))
        words = "\n".join(line for line in lines if line)
        if not words:
            return ""
        if self._cells and self._cells[-1]:
            cell, columns, rows = self._cells[-1][-1]
            words = self._bullet.removeprefix("- ") + words
            self._bullet = ""
            self._cells[-1][-1] = (f"{cell} {words}".strip().replace("\n", " "), columns, rows)
            return ""
        self._write_tables(tag)
        level = int(tag[1]) if tag in _HEADINGS else 0
        if level:
            words = _PILCROW.sub("", words)
        self._text.add(self._bullet + words, close=bool(self._bullet), level=level)
        self._bullet = ""
        return words

    def _is_data(self, row: Any) -> bool:
        """Whether a table row contains cells of data, not the layout of a page.

        In a table with names of columns, they may hold headings, paragraphs and small tables.
        """
        if not (self._grids and self._grids[-1][2]):
            return row.css_first("table, h1, h2, h3, h4, pre, p + p + p") is None
        is_small = len(row.text(deep=True)) < _MAX_INNER
        return row.css_first("pre" if is_small else "table, pre") is None

    def _write_tables(self, tag: str = "") -> None:
        """Write the rows above a text that is outside of rows; a caption stands above its own."""
        for _, grid, _ in self._grids[: -1 if tag == "caption" else None]:
            grid.write(self._text)
