"""What style sheets say of the elements of a page: raised, set apart, numbered."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from milepost.documents.readers.scripts import LOWERED, RAISED

SET_APART = re.compile(r"(?:block|flex|grid|list-item|table|flow-root)\b")
_ROOMY = re.compile(r"(?<![\d.-])(?:(?:[4-9]|\d\d+)(?:\.\d+)?px|(?:[1-9]|0?\.[3-9])[\d.]*r?em)")
"""Room beside an element that sets it apart from its neighbour."""

_SMALL = re.compile(r"smaller|(?:x+-)?small|0?\.[1-8]\d*r?em|[1-8]\d%")
_LENGTH = re.compile(r"(-?)(\d*\.?\d+)(em|rem|ex|px|pt|%)")
_RAISED_FAR = {"em": 0.2, "rem": 0.2, "ex": 0.4, "px": 3.0, "pt": 2.0, "%": 20.0}
LISTS = {
    "decimal": "1", "decimal-leading-zero": "01", "lower-roman": "i", "upper-roman": "I",
    "lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A",
    "lower-greek": "α", "cjk-ideographic": "一", "cjk-decimal": "一", "none": "", "disc": "",
    "circle": "", "square": "", "hebrew": "א", "hiragana": "あ", "hiragana-iroha": "い",
    "katakana": "ア", "katakana-iroha": "イ", "cjk-heavenly-stem": "甲", "cjk-earthly-branch": "子",
    "arabic-indic": "١", "persian": "۱", "devanagari": "१", "bengali": "১", "thai": "๑",
}  # fmt: skip

_INITIAL = re.compile(r"\W*[^\W\d_]{1,2}")
_CLIPPED = re.compile(r"rect\((?:[01](?:px|r?em)?[\s,]*){4}\)|inset\((?:50|100)%\)")
_DOT = re.compile(r"[01](?:px)?")
_FAR = re.compile(r"-(?:9\d\d|\d{4,})(?:\.\d+)?p[xt]|-\d{3,}(?:\.\d+)?r?em")
_ZERO = re.compile(r"0*\.?0+(?:px|pt|r?em|%)?")


@lru_cache(maxsize=4096)
def declared(style: str) -> dict[str, str]:
    """Return the last value of each property in a style, under the shortest name of it.

    A value that is marked as important goes before those that are not.

    >>> declared("display:none !important; display:block")
    {'display': 'none'}
    """
    found: dict[str, str] = {}
    important: dict[str, str] = {}
    for part in style.lower().split(";"):
        key, _, value = part.partition(":")
        key = key.strip().removesuffix("-line" if "decoration" in key else "-type")
        held = important if "!important" in value else found
        held[key] = value.replace("!important", "").strip()
    return found | important


PLAIN: dict[str, str] = {}


def script(style: dict[str, str]) -> str:
    """Return the sign before letters that a style raises or lowers, or an empty string."""
    align = style.get("vertical-align") or style.get("baseline-shift", "")
    align = style.get("font-variant-position", align)
    if align in ("top", "bottom") and _SMALL.match(style.get("font-size", "")):
        return RAISED if align == "top" else LOWERED
    if align in ("super", "text-top", "sub"):
        return LOWERED if align == "sub" else RAISED
    moved, downwards = _LENGTH.fullmatch(align), False
    if style.get("position") == "relative" and moved is None:
        downwards = "top" in style
        moved = _LENGTH.fullmatch(style.get("top", style.get("bottom", "")))
    if moved is None or float(moved[2]) < _RAISED_FAR[moved[3]]:
        return ""
    return LOWERED if bool(moved[1]) != downwards else RAISED


def has_room(style: dict[str, str]) -> bool:
    """Whether the style of a box leaves room between its parts."""
    gaps = (style.get(key, "0")[:1] for key in ("gap", "column-gap"))
    return any(gap in "123456789." for gap in gaps) or "space-" in style.get("justify-content", "")


def is_initial(node: Any, style: dict[str, str]) -> bool:
    """Whether an element is one or two large letters, which the rest of their word flows around."""
    words = node.text(deep=True).strip() if style.get("float") == "left" else ""
    if not _INITIAL.fullmatch(words) or words.islower() or node.next is None:
        return False
    rest = node.next.text(deep=True).lstrip("'’")
    return bool(rest[:1].islower() or rest[:2].isupper())


def is_roomy(node: Any, style: dict[str, str]) -> bool:
    """Whether there is room beside an element; an initial that words flow around has none."""
    if is_initial(node, style):
        return False
    if style.get("float") in ("left", "right") and len(node.text(deep=True).strip()) > 1:
        return True
    return any(
        key.startswith(("margin", "padding")) and _ROOMY.search(value)
        for key, value in style.items()
    )


def list_kind(style: dict[str, str], kind: str) -> str:
    """Return the kind of numbers that a style gives a list or an item, else ``kind``."""
    for word in style.get("list-style", "").split():
        kind = "" if word[0] in "\"'" else LISTS.get(word, kind)
    return kind


def is_clipped(style: dict[str, str]) -> bool:
    """Whether a style leaves nothing of an element on the page, as of words for screen readers."""
    if style.get("position") not in ("absolute", "fixed"):
        return False
    return (
        (is_cut(style) and all(_DOT.fullmatch(style.get(key, "")) for key in ("width", "height")))
        or any(_CLIPPED.match(style.get(key, "")) for key in ("clip", "clip-path"))
        or is_far(style, "left", "top")
    )


def is_cut(style: dict[str, str]) -> bool:
    """Whether words that are larger than their box are cut off."""
    return style.get("overflow") in ("hidden", "clip")


def is_far(style: dict[str, str], *keys: str) -> bool:
    """Whether one of some properties moves words off the page."""
    return any(_FAR.match(style.get(key, "")) for key in keys)


def is_zero(style: dict[str, str], *keys: str) -> bool:
    """Whether one of some properties is zero."""
    return any(_ZERO.fullmatch(style.get(key, "")) for key in keys)
