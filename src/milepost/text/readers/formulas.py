"""Write formulas in one line: ``(a+b)/2``, ``x^2``, ``√(n)``. Reads MathML and Office Math."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

from milepost.text.readers.archive import attribute, local
from milepost.text.readers.scripts import lowered

_UNREAD = frozenset(("annotation", "annotation-xml", "rPr", "ctrlPr", "phantom", "mphantom"))


def linear(node: Element) -> str:
    """Write a formula and what is inside of it; subscripts have the signs of ``scripts``."""
    tag = local(node)
    if tag in _UNREAD or tag.endswith("Pr"):
        return ""
    if tag in ("t", "mi", "mn", "mo", "mtext", "ms"):
        return "".join(node.itertext())
    parts = [child for child in node if not local(child).endswith("Pr")]
    write = _FORMS.get(tag)
    if write is None or len(parts) < _LEAST.get(tag, 1):
        return "".join(map(linear, parts))
    return write(node, parts)


def _grouped(node: Element) -> str:
    words = linear(node).strip()
    return words if len(words) < 2 or words.isalnum() else f"({words})"


def _fraction(_: Element, parts: list[Element]) -> str:
    return f"{_grouped(parts[0])}/{_grouped(parts[1])}"


def _power(_: Element, parts: list[Element]) -> str:
    return f"{linear(parts[0])}^{_grouped(parts[1])}"


def _index(_: Element, parts: list[Element]) -> str:
    return linear(parts[0]) + lowered(linear(parts[1]))


def _both(_: Element, parts: list[Element]) -> str:
    return f"{linear(parts[0])}{lowered(linear(parts[1]))}^{_grouped(parts[2])}"


def _root(node: Element, parts: list[Element]) -> str:
    if local(node) == "msqrt":
        return f"√({''.join(map(linear, parts))})"
    return f"^{_grouped(parts[1])}√({linear(parts[0])})"


def _radical(_: Element, parts: list[Element]) -> str:
    degree = linear(parts[0]).strip() if len(parts) > 1 else ""
    return f"{degree and f'^{degree}'}√({linear(parts[-1])})"


def _delimited(node: Element, parts: list[Element]) -> str:
    signs = {local(each): attribute(each, "val") for each in node.iter() if each is not node}
    opening, closing = signs.get("begChr", "("), signs.get("endChr", ")")
    return f"{opening or ''}{'|'.join(map(linear, parts))}{closing or ''}"


def _sum(node: Element, parts: list[Element]) -> str:
    sign = next((attribute(each, "val") for each in node.iter() if local(each) == "chr"), "∫")
    low, high, inner = (linear(part).strip() for part in parts[:3])
    return f"{sign or ''}{low and f'_({low})'}{high and f'^({high})'} {inner}"


def _rows(_: Element, parts: list[Element]) -> str:
    return "; ".join(filter(None, (linear(part).strip() for part in parts)))


def _cells(_: Element, parts: list[Element]) -> str:
    return " ".join(filter(None, (linear(part).strip() for part in parts)))


_FORMS: dict[str, Callable[[Element, list[Element]], str]] = {
    **dict.fromkeys(("f", "mfrac"), _fraction),
    **dict.fromkeys(("sSup", "msup", "limUpp", "mover"), _power),
    **dict.fromkeys(("sSub", "msub", "limLow", "munder"), _index),
    **dict.fromkeys(("sSubSup", "msubsup", "munderover"), _both),
    **dict.fromkeys(("msqrt", "mroot"), _root),
    "rad": _radical,
    "d": _delimited,
    "nary": _sum,
    **dict.fromkeys(("m", "eqArr", "mtable"), _rows),
    **dict.fromkeys(("mr", "mtr"), _cells),
}
_LEAST = {
    **dict.fromkeys(("f", "mfrac", "sSup", "msup", "limUpp", "mover", "mroot"), 2),
    **dict.fromkeys(("sSub", "msub", "limLow", "munder"), 2),
    **dict.fromkeys(("sSubSup", "msubsup", "munderover", "nary"), 3),
}
"""Parts without which a form is damaged, and its parts are written one after the other."""
