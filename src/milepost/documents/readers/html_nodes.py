"""Tell what elements of a web page are: names of columns, page numbers, fields, unseen."""

from __future__ import annotations

import re
from typing import Any

from milepost.documents.readers.html_styles import declared, is_clipped, is_cut, is_far, is_zero

_PARTS = {
    "table": "table", "grid": "table", "treegrid": "table", "row": "tr",
    "cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th",
}  # fmt: skip
"""Roles of elements that are parts of tables."""

LINED = frozenset(("textarea", "xmp", "listing", "plaintext"))
"""Elements whose text has its own lines."""

_FORMULA = re.compile(r"\b(?:math|tex|latex|equation)(?![a-z])", re.I)
_COUNTER = re.compile(
    r"\b(?:(?:doc-)?pagebreak|lnum|(?:page|line)[-_]?(?:num(?:ber)?|no))\b", re.IGNORECASE
)
"""Classes and roles of the numbers of printed pages and lines; hiding them joins their sentence."""

_COUNT = re.compile(r"\W*(?:pg?\W*|page)?(?:\d+|[ivxlcdm]+)?\W*", re.IGNORECASE)
_INTEGER = re.compile(r"\s*([+-]?\d{1,9})")

_NOT_TYPED = frozenset("hidden password submit button reset image file color range".split())  # noqa: SIM905
_MOVING = ("transition", "animation", "transform")
_BOLD = frozenset(("b", "br", "em", "i", "strong", "u"))
_NEAR = 4  # elements around another that may be a cell of it alone


def tag_of(node: Any) -> str:
    """Return the name of an element, or of that which it is like: by role, or by its lines."""
    tag: str = node.tag
    if tag in LINED and "\n" in node.text(deep=True).strip():
        return "pre"
    return _PARTS.get(node.attributes.get("role") or "", tag) if tag in ("div", "span") else tag


def caption_of(table: Any) -> str:
    """Return the caption of the figure that a table is in; empty if it has none."""
    node = table.parent if table.parent.tag == "figure" else table.parent.parent
    said = node.css("figure > figcaption") if node is not None and node.tag == "figure" else []
    return " ".join(said[0].text(deep=True).split()) if len(said) == 1 else ""


def headings(row: Any) -> tuple[bool, bool]:
    """Whether a table row names columns (in the head, or all headers), and whether a value."""
    tags = [tag_of(cell) for cell in row.iter()]
    is_key = tags.count("th") == 1 and tags[0] == "th"
    return row.parent.tag == "thead" or 1 < len(tags) == tags.count("th"), is_key


def names_columns(table: Any) -> bool:
    """Whether a row of a table itself, not of one in a cell, names columns."""
    cell = table.css_first("thead th, thead td, th + th")
    return cell is not None and table.mem_id in (
        cell.parent.parent.mem_id,
        cell.parent.parent.parent.mem_id,
    )


def is_count(node: Any, attributes: dict[str, str | None]) -> bool:
    """Whether an element holds nothing but the numbers of printed pages or lines."""
    said = " ".join(attributes.get(key) or "" for key in ("class", "role", "epub:type"))
    return bool(_COUNTER.search(said)) and all(map(_COUNT.fullmatch, node.text(deep=True).split()))


def typed(attributes: dict[str, str | None]) -> str:
    """Return what a field shows that somebody has filled in."""
    kind = (attributes.get("type") or "text").lower()
    if kind in ("checkbox", "radio"):
        return "☒" if "checked" in attributes else ""
    return "" if kind in _NOT_TYPED else attributes.get("value") or ""


def is_picture(node: Any) -> bool:
    """Whether a node is the picture of a formula."""
    if node is None or not node.is_element_node or node.tag != "img":
        return False
    return _FORMULA.search(node.attributes.get("class") or "") is not None


def has_place(node: Any) -> bool:
    """Whether an element itself says where on the page its words stand, as of fixed layouts."""
    style = declared(node.attributes.get("style") or "")
    return style.get("position") == "absolute" and "left" in style and not is_clipped(style)


def beside(node: Any) -> list[Any]:
    """The elements directly beside another."""
    return [each for each in (node.prev, node.next) if each is not None and each.is_element_node]


def has_twin(node: Any) -> bool:
    """Whether an element of the author's own has another one directly beside it."""
    return any("-" in each.tag for each in beside(node))


def spans(attributes: dict[str, str | None]) -> tuple[int, int]:
    """Return how many columns and rows a cell covers; zero rows are all that are left."""
    columns, rows = (integer(attributes.get(key), 1) for key in ("colspan", "rowspan"))
    return columns, rows if rows > 0 else 1 << 16


def integer(said: str | None, default: int) -> int:
    """Return the whole number that an attribute begins with."""
    found = _INTEGER.match(said or "")
    return int(found[1]) if found else default


def is_unseen(node: Any, style: dict[str, str], *, is_block: bool) -> bool:
    """Whether nobody sees the words of an element although it is displayed.

    What is transparent or flat is so only within a sentence; scripts show other elements later.
    """
    if is_clipped(style):
        return node.css_first("math, input, select, textarea") is None and not _fills_cell(node)
    if is_zero(style, "font-size"):  # parts may have sizes of their own
        return all(child.tag in _BOLD and not child.attributes for child in node.iter())
    if (is_block or "display" in style) and is_far(style, "text-indent"):
        return True
    if is_block or any(key.startswith(_MOVING) for key in style):
        return False
    is_flat = is_zero(style, "height", "max-height") and style.get("display") == "inline-block"
    around = [each for each in (node.prev, node.next) if each is not None and each.is_text_node]
    in_sentence = any((each.text_content or "").strip() for each in around)
    return in_sentence and (is_zero(style, "opacity") or (is_flat and is_cut(style)))


def _fills_cell(node: Any) -> bool:
    """Whether a table cell has no words but those of an element, such as what a sign means."""
    words = node.text(deep=True).strip()
    for _ in range(_NEAR):
        if node is None or node.text(deep=True).strip() != words:
            return False
        if node.tag in ("td", "th"):
            return True
        node = node.parent
    return False
