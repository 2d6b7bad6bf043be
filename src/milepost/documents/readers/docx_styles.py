"""Read the styles and the numbering of a Word file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from milepost.documents.readers.archive import number
from milepost.documents.readers.numbering import numeral
from milepost.documents.readers.office import SCRIPTS
from milepost.documents.readers.scripts import LOWERED, PLAIN, RAISED, Look

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
VAL = W + "val"

_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_PLACE = re.compile(r"%(\d)")
_OFF = frozenset(("0", "false", "off", "none"))
_KINDS = {
    "lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I",
    "decimalZero": "01", "ordinal": "1st", "russianLower": "а", "russianUpper": "А",
    "decimalEnclosedParen": "⑴", "decimalEnclosedFullstop": "⒈", "ideographEnclosedCircle": "㊀",
    "ideographTraditional": "甲", "ideographZodiac": "子", "ganada": "가", "chosung": "ㄱ",
    "hebrew1": "א", "hebrew2": "א", "arabicAlpha": "أ", "arabicAbjad": "ا", "thaiLetters": "ก",
    "hindiNumbers": "१", "thaiNumbers": "๑", "aiueo": "ア", "aiueoFullWidth": "ア",
    "iroha": "イ", "irohaFullWidth": "イ", "numberInDash": "- 1 -",
    "cardinalText": "One", "ordinalText": "First",
    **dict.fromkeys(("decimalFullWidth", "decimalFullWidth2"), "１"),
    **dict.fromkeys(("decimalEnclosedCircle", "decimalEnclosedCircleChinese"), "①"),
    **dict.fromkeys(
        ("chineseCounting", "chineseCountingThousand", "ideographDigital", "japaneseCounting",
         "taiwaneseCounting", "taiwaneseCountingThousand"), "一"
    ),
}  # fmt: skip
_RAISED = 4  # half points by which letters are moved that are superscripts or subscripts
_DEPTH = 20  # styles that are based on each other, which may be a circle
_LEVELS = 9


def said(node: Element | None, path: str, default: str = "") -> str:
    """Return the value of an element below ``node``; ``default`` if there is none."""
    found = node.find(path) if node is not None else None
    return default if found is None else found.get(VAL, default)


@dataclass(frozen=True, slots=True)
class Style:
    """What a style says of a paragraph or its characters."""

    level: int = 0  # heading level, 0 for none
    listed: tuple[str, str] = ("", "")  # its list and the level in it, each "" if not said
    look: Look = PLAIN  # how its characters are shown


def is_on(properties: Element, tag: str) -> bool | None:
    """Whether a property is set; None if it is not said."""
    node = properties.find(W + tag)
    return None if node is None else (node.get(VAL) or "").lower() not in _OFF


def look_of(properties: Element | None) -> Look:
    """Read the properties of a run that say whether and how it is shown."""
    if properties is None or not len(properties):
        return PLAIN
    struck = is_on(properties, "strike")
    fonts, moved = properties.find(W + "rFonts"), said(properties, W + "position")
    script = SCRIPTS.get(said(properties, W + "vertAlign"))
    if script is None and number(moved.lstrip("-"), 0) >= _RAISED:
        script = LOWERED if moved.startswith("-") else RAISED
    return Look(
        is_on(properties, "vanish"),
        is_on(properties, "dstrike") if struck is None else struck,
        script,
        None if fonts is None else (fonts.get(W + "ascii") or fonts.get(W + "hAnsi")),
        is_on(properties, "b"),
    )


def toggled(style: Look, base: Look) -> Look:
    """Return the look of a style of characters over that of their paragraph.

    What both styles switch on is off (ECMA-376, 17.7.3).
    """
    look = style.over(base)
    for key in ("hidden", "struck", "bold"):
        own = getattr(style, key)
        if own is not None:
            look = look._replace(**{key: own != bool(getattr(base, key))})
    return look


def read_styles(root: Element | None) -> dict[str, Style]:
    """Map the ids of styles to what they and the styles under them say.

    "pStyle" is that of paragraphs that name none, and "docDefaults" is under all of them.
    """
    if root is None:
        return {}
    known = {key: style for style in root.iter(W + "style") if (key := style.get(W + "styleId"))}
    made: dict[str, Style] = {}
    for key in known:
        level, listed, look = 0, ("", ""), PLAIN
        style: Element | None = known[key]
        for _ in range(_DEPTH):
            if style is None:
                break
            level = level or _style_level(style)
            listed = numbered(style.find(W + "pPr"), listed)
            look = look.over(look_of(style.find(W + "rPr")))
            style = known.get(said(style, W + "basedOn"))
        made[key] = Style(level, listed, look)
        is_default = known[key].get(W + "default") in ("1", "true")
        if is_default and known[key].get(W + "type") == "paragraph":
            made["pStyle"] = made[key]
    made["docDefaults"] = Style(look=look_of(root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr")))
    return made


def numbered(properties: Element | None, over: tuple[str, str] = ("", "")) -> tuple[str, str]:
    """Return the list of a paragraph and its level in it, each "" if not said; list 0 means none.

    What ``over`` says comes before it: a list and a level are inherited each for itself.
    """
    listed, level = (said(properties, f"{W}numPr/{W}{tag}") for tag in ("numId", "ilvl"))
    return over[0] or listed, over[1] or level


def outline(properties: Element | None) -> int:
    """Return the heading level that the paragraph properties set themselves, 0 for none."""
    level = said(properties, W + "outlineLvl")
    return int(level) + 1 if level.isdigit() and int(level) < 6 else 0


def _style_level(style: Element) -> int:
    words = said(style, W + "name")
    if match := _HEADING.match(words):
        return min(6, max(1, int(match[1])))
    if words.lower() == "title":
        return 1
    return outline(style.find(W + "pPr"))


class Numbering:
    """Counts the items of the lists of a document."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[str, Element]] = {}  # list → level → its definition
        self._shared: dict[str, str] = {}  # list → the definition that it counts with
        self._starts: dict[tuple[str, str], int] = {}
        self._counts: dict[str, list[int]] = {}
        if root is None:
            return
        defined = {node.get(W + "abstractNumId", ""): node for node in root.iter(W + "abstractNum")}
        of_styles = {said(node, W + "styleLink", "-"): key for key, node in defined.items()}
        for node in root.findall(W + "num"):
            key, shared = node.get(W + "numId", ""), said(node, W + "abstractNumId")
            shared = of_styles.get(said(defined.get(shared), W + "numStyleLink")) or shared
            levels = defined[shared].findall(W + "lvl") if shared in defined else []
            self._levels[key] = {level.get(W + "ilvl", "0"): level for level in levels}
            self._shared[key] = shared
            for override in node.findall(W + "lvlOverride"):
                level = override.get(W + "ilvl", "0")
                start, own = override.find(W + "startOverride"), override.find(W + "lvl")
                if own is not None:
                    self._levels[key][level] = own
                if start is not None:
                    self._shared[key] = key  # the list is counted for itself
                    self._starts[key, level] = number(start.get(VAL), 1)

    def next(self, listed: str, level: str, style: str = "") -> str:
        """Count an item; returns its number as it is shown, a dash for a bullet, "" for none.

        If it is in a list because of its ``style``, the list may say the level of that.
        """
        levels = self._levels.get(listed, {})
        level = next(
            (k for k, node in levels.items() if said(node, W + "pStyle", "-") == style), level
        )
        if listed == "0" or not level.isdigit() or int(level) >= _LEVELS:
            return ""
        own = levels.get(level)
        if own is None or said(own, W + "numFmt") == "bullet":
            return "- "
        at = int(level)
        counts = self._counts.setdefault(
            self._shared[listed], [self._start(listed, str(k)) - 1 for k in range(_LEVELS)]
        )
        counts[at] += 1
        for deeper in range(at + 1, _LEVELS):
            if said(levels.get(str(deeper)), W + "lvlRestart") != "0":
                counts[deeper] = self._start(listed, str(deeper)) - 1
        plain = is_on(own, "isLgl")

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            form = said(levels.get(str(place)), W + "numFmt", "decimal")
            if form == "none":
                return ""
            count = counts[place] if place <= at else 1
            # A level above that no item has reached counts as its first.
            count = max(count, self._start(listed, str(place)))
            return numeral(count, "1" if plain else _KINDS.get(form, "1"), repeated=True)

        words = _PLACE.sub(shown, said(own, W + "lvlText", f"%{at + 1}.")).strip()
        return f"{words} " if words else ""

    def _start(self, listed: str, level: str) -> int:
        usual = number(said(self._levels[listed].get(level), W + "start"), 1)
        return self._starts.get((listed, level), usual)
