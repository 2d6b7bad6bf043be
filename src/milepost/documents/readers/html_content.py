"""What style sheets write before and after the elements of a page: signs, words, numbers."""

from __future__ import annotations

import re
from typing import Any

from milepost.documents.readers import html_styles as css
from milepost.documents.readers.numbering import numeral

_CONTENT = re.compile(
    r"(?<![\w-])content\s*:((?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|[^;\"'])*+)", re.I | re.S
)
_PIECE = re.compile(
    r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|(counters?)\(([^()]*)\)|[^\s\"']+", re.S
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.S)
_COUNTED = re.compile(r"([a-z_][\w-]*)(?:\s+(-?\d{1,6}))?")
_CHANGES = (("counter-reset", 0), ("counter-increment", 1), ("counter-set", 0))
_UNWRITTEN = frozenset(
    """
    html body main article table caption thead tbody tfoot tr colgroup pre q sup sub br hr img
    input select textarea
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
_DRAWN = re.compile(
    "[‹›«»·\u2022\u2023\u2043\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\ue000-\uf8ff"
    "\U0001f000-\U0010ffff]"
)
"""Arrows, bullets, pictures and the signs of icon fonts."""

_JOINING = re.compile(r"[%‰°$€£¥₹()\[\]:;,.…*—\s]+")
_BEFORE = re.compile(r"[-+−–±×~<>=≤≥≈#]\s*(?=[\d$€£¥₹(.])")
_BEHIND = re.compile(r"(?<=[\d%)])\s*[-+−–±×*=]")


class Content:
    """What the style sheets of a page write.

    ``before`` and ``after`` map ids of elements to the styles of what is written there.
    """

    def __init__(self, before: dict[int, str], after: dict[int, str]) -> None:
        self._said = before, after
        self._open: dict[str, list[list[int]]] = {}  # counter → depths and values, outer first

    def around(self, node: Any, tag: str, style: dict[str, str], depth: int) -> tuple[str, str]:
        """Count an element, and return what is written before and after its words."""
        for scopes in self._open.values():
            while scopes and scopes[-1][0] > depth:
                scopes.pop()
        self._count(style, depth)
        before, after = (self._written(node, tag, held, depth + 1) for held in self._said)
        return before, after

    def _count(self, style: dict[str, str], depth: int) -> None:
        for key, usual in _CHANGES:
            for name, said in _COUNTED.findall(style.get(key, "")):
                scopes, number = self._open.setdefault(name, []), int(said or usual)
                if key == "counter-reset" and scopes and scopes[-1][0] == depth:
                    scopes.pop()
                if key == "counter-reset" or not scopes:
                    scopes.append([depth, 0])
                scopes[-1][1] = number + scopes[-1][1] * (key == "counter-increment")

    def _written(self, node: Any, tag: str, held: dict[int, str], depth: int) -> str:
        said = held.get(node.mem_id)
        if said is None or tag in _UNWRITTEN:
            return ""
        style = css.declared(_CONTENT.sub("", said))
        self._count(style, depth)
        values = _CONTENT.findall(said)
        is_gone = style.get("display") == "none" or style.get("visibility") == "hidden"
        if not values or is_gone or css.is_clipped(style) or style.keys() & {"font", "font-family"}:
            return ""
        if css.is_zero(style, "opacity", "height", "font-size"):
            return ""
        words = self._joined(values[-1].replace("!important", ""))
        is_before = held is self._said[0]
        if not words.strip() or not _is_read(words.strip(), node, tag, values[-1], is_before):
            return ""
        room = " " * (style.get("position") == "absolute" or css.is_roomy(node, style))
        room = "\0" if css.SET_APART.match(style.get("display", "")) else room
        return words + room if is_before else room + words

    def _joined(self, value: str) -> str:
        """Return the words of a value; none if it is not made of strings and counters alone."""
        words = ""
        for piece in _PIECE.finditer(value):
            if piece[3]:
                names = [part.strip().strip("\"'") for part in piece[4].split(",")]
                scopes = self._open.get(names[0].lower(), [])
                between = names[1] if piece[3] == "counters" and len(names) > 1 else ""
                kind = css.LISTS.get((names[2 if between else 1 :] or ["decimal"])[0].lower(), "1")
                numbers = [numeral(number, kind) for _, number in scopes if kind]
                words += between.join(numbers if between else numbers[-1:])
                if not numbers and kind:
                    return ""
            elif piece[0][0] in "\"'":
                words += _ESCAPE.sub(_unescaped, piece[1] or piece[2] or "")
            else:
                return ""
        return words


def _unescaped(match: re.Match[str]) -> str:
    number = int(match[1] or "0", 16)
    return chr(number) if 0 < number < 0x110000 else match[2] or ""


def _is_read(words: str, node: Any, tag: str, value: str, is_before: bool) -> bool:
    """Whether words belong to the text of an element, and are no bullet, icon or separator."""
    letters = sum(map(str.isalnum, words))
    if _DRAWN.search(words):
        return False
    if tag == "li" or node.first_child is None:
        return letters > 1 or (tag == "li" and "counter" in value)
    if letters or _JOINING.fullmatch(words):
        return True
    text = node.text(deep=True).strip()
    return bool(_BEFORE.match(words + text) if is_before else _BEHIND.search(text + words))
