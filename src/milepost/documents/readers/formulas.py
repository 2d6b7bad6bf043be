"""Write formulas in one line: ``(a+b)/2``, ``x^2``, ``√(n)``. Reads MathML and Office Math."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from xml.etree.ElementTree import Element

from milepost.documents.readers.archive import attribute, local
from milepost.documents.readers.scripts import lowered

_INVISIBLE = dict.fromkeys((0x2061, 0x2062, 0x2063, 0x2064))
_UNREAD = frozenset(("annotation", "annotation-xml", "rPr", "ctrlPr", "phantom", "mphantom"))


def linear(node: Element) -> str:
    """Write a formula and what is inside of it; subscripts have the signs of ``scripts``."""
    tag = local(node)
    if tag in _UNREAD or tag.endswith("Pr"):
        return ""
    if tag in ("t", "mi", "mn", "mo", "mtext", "ms"):
        return "".join(node.itertext()).translate(_INVISIBLE)
    parts = [child for child in node if not local(child).endswith("Pr")]
    if tag in _WITH_SIGNS:
        return _WITH_SIGNS[tag](node, parts)
    form, least = _FORMS.get(tag, (None, 0))
    if form is None or len(parts) < least:  # of a damaged form, one part after the other
        return _joined(parts)
    return form(parts)


def _joined(parts: list[Element]) -> str:
    """Write parts one after the other; 2 and a half is no 21/2."""
    words = ""
    for part in parts:
        more = linear(part)
        is_mixed = local(part) in ("f", "mfrac") and words[-1:].isdigit() and more[:1].isdigit()
        words += f" {more}" if is_mixed else more
    return words


def _grouped(node: Element) -> str:
    words = linear(node).strip()
    return words if len(words) < 2 or words.isalnum() else f"({words})"


def _radical(parts: list[Element]) -> str:
    degree = linear(parts[0]).strip() if len(parts) > 1 else ""
    return f"{degree and f'^{degree}'}√({linear(parts[-1])})"


def _signs(node: Element) -> dict[str, str]:
    """Return what Office says of a form itself, not of the forms inside of it."""
    held = (sign for child in node if local(child).endswith("Pr") for sign in child)
    return {local(sign): attribute(sign, "val") or "" for sign in held}


def _delimited(node: Element, parts: list[Element]) -> str:
    signs = _signs(node)
    separators = signs.get("sepChr", "|")
    return _fenced(signs.get("begChr", "("), separators, signs.get("endChr", ")"), parts)


def _delimited_of_mathml(node: Element, parts: list[Element]) -> str:
    opening, closing = node.get("open", "(").strip(), node.get("close", ")").strip()
    return _fenced(opening, "".join(node.get("separators", ",").split()), closing, parts)


def _fenced(opening: str, separators: str, closing: str, parts: list[Element]) -> str:
    """Write parts with one separator after the other between them; the last one is repeated."""
    words = opening
    for k, part in enumerate(parts):
        if k and separators:
            sign = separators[:k][-1]
            words += f"{sign} " if sign in ",;" else sign
        words += linear(part).strip()
    return words + closing


def _fraction(node: Element, parts: list[Element]) -> str:
    """Write a fraction; a pair without a line between, as in binomials, is none."""
    if (node.get("linethickness") or "1")[0] == "0" or _signs(node).get("type") == "noBar":
        return _listed("; ", parts)
    return "/".join(map(_grouped, parts))


def _sum(node: Element, parts: list[Element]) -> str:
    if len(parts) < 3:
        return "".join(map(linear, parts))
    low, high, inner = (linear(part).strip() for part in parts[:3])
    return f"{_signs(node).get('chr', '∫')}{low and f'_({low})'}{high and f'^({high})'} {inner}"


def _scripts(parts: list[Element]) -> str:
    """Write pairs of a subscript and a superscript; either may be empty."""
    signs = zip("_^" * len(parts), map(_grouped, parts), strict=False)
    return "".join(sign + words for sign, words in signs if words)


def _around(parts: list[Element]) -> str:
    """Write a base, the scripts after it, and then those before it."""
    places = [k for k, part in enumerate(parts) if local(part) == "mprescripts"] or [len(parts)]
    return _scripts(parts[places[0] + 1 :]) + linear(parts[0]) + _scripts(parts[1 : places[0]])


def _listed(separator: str, parts: list[Element]) -> str:
    return separator.join(filter(None, (linear(part).strip() for part in parts)))


_WITH_SIGNS: dict[str, Callable[[Element, list[Element]], str]] = {
    "d": _delimited, "mfenced": _delimited_of_mathml, "nary": _sum, "f": _fraction,
    "mfrac": _fraction,
}  # fmt: skip
"""Forms whose signs are said in attributes, or in elements of their own."""

_FORMS: dict[str, tuple[Callable[[list[Element]], str], int]] = {
    tag: (form, least)
    for tags, least, form in (
        ("sSup msup limUpp mover", 2, lambda parts: f"{linear(parts[0])}^{_grouped(parts[1])}"),
        ("sSub msub limLow munder", 2, lambda parts: linear(parts[0]) + lowered(linear(parts[1]))),
        (
            "sSubSup msubsup munderover",
            3,
            lambda parts: f"{linear(parts[0])}{lowered(linear(parts[1]))}^{_grouped(parts[2])}",
        ),
        ("msqrt", 1, lambda parts: f"√({''.join(map(linear, parts))})"),
        ("sPre", 3, lambda parts: _scripts(parts[:2]) + linear(parts[2])),
        ("mmultiscripts", 1, _around),
        ("func", 2, lambda parts: f"{linear(parts[0])} {linear(parts[1])}"),
        ("mroot", 2, lambda parts: f"^{_grouped(parts[1])}√({linear(parts[0])})"),
        ("rad", 1, _radical),
        ("m eqArr mtable", 1, partial(_listed, "; ")),
        ("mr mtr", 1, partial(_listed, " ")),
    )
    for tag in tags.split()
}
"""How each form is written, and the least number of its parts."""
