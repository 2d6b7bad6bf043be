"""Read the styles of OpenDocument texts: raised, hidden and struck-out letters, list numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from xml.etree.ElementTree import Element

from milepost.documents.readers.archive import attribute, local, number
from milepost.documents.readers.numbering import numeral
from milepost.documents.readers.scripts import LOWERED, PLAIN, RAISED, Look

_BOLD = ("bold", "600", "700", "800", "900")
_DEPTH = 20  # styles that are based on each other, which may be a circle


class Styles:
    """The styles of a document by name.

    Attributes:
        lists: the levels of each list style, from 1.
        outline: the levels of the numbers of headings.
    """

    def __init__(self, roots: Iterable[Element]) -> None:
        self.lists: dict[str, dict[int, Element]] = {}
        self.outline: dict[int, Element] = {}
        self._known: dict[str, Element] = {}
        self._looks: dict[str, Look] = {}
        for part in (part for root in roots for part in root if local(part) != "body"):
            for node in part.iter():
                tag = local(node)
                if tag == "style":
                    self._known[attribute(node, "name") or ""] = node
                elif tag == "list-style":
                    self.lists[attribute(node, "name") or ""] = _levels(node)
                elif tag == "outline-style":
                    self.outline = _levels(node)

    def look(self, name: str | None) -> Look:
        """Return how the letters of a style are shown."""
        if not name:
            return PLAIN
        if name not in self._looks:
            self._looks[name] = self._read(name)
        return self._looks[name]

    def struck(self) -> frozenset[str | None]:
        """Return the names of the styles that strike letters out."""
        return frozenset(name for name in self._known if self.look(name).struck)

    @cached_property
    def unseen(self) -> frozenset[str | None]:
        """The names of the styles whose tables or slides are not shown."""
        parts = ((name, node) for name, style in self._known.items() for node in style)
        return frozenset(
            name
            for name, node in parts
            if attribute(node, "display") == "false" or attribute(node, "visibility") == "hidden"
        )

    def _read(self, name: str) -> Look:
        look = PLAIN
        for style in self._chain(name):
            for node in style:
                if local(node) == "text-properties":
                    display = attribute(node, "display")
                    line = attribute(node, "text-line-through-style")
                    line = line or attribute(node, "text-line-through-type")
                    weight = attribute(node, "font-weight")
                    own = Look(
                        None if display is None else display == "none",
                        None if line is None else line != "none",
                        _script(attribute(node, "text-position")),
                        attribute(node, "font-name") or attribute(node, "font-family"),
                        None if weight is None else weight in _BOLD,
                    )
                    look = look.over(own)
        return look

    def _chain(self, name: str) -> Iterator[Element]:
        """Yield a style and those that it is based on."""
        for _ in range(_DEPTH):
            style = self._known.get(name)
            if style is None:
                return
            yield style
            name = attribute(style, "parent-style-name") or ""

    def list_name(self, paragraph: Element) -> str | None:
        """Return the list that the style of a paragraph names; None if it says nothing of lists.

        An empty name says that it is in no list, not even in the outline.
        """
        styles = self._chain(attribute(paragraph, "style-name") or "")
        names = (attribute(style, "list-style-name") for style in styles)
        return next((name for name in names if name is not None), None)


_POSITIONS = {"super": RAISED, "sub": LOWERED}


def _script(position: str | None) -> str | None:
    """Return the sign before letters in a position: ``super 58%``, ``-33% 58%``."""
    if position is None:
        return None
    first, *size = position.split() or [""]
    if first in _POSITIONS:
        return _POSITIONS[first]
    with suppress(ValueError):
        by = float(first.rstrip("%")) if size else 0.0  # without a size, it only shifts the line
        return RAISED if by > 0 else LOWERED if by < 0 else ""
    return ""


def _levels(style: Element) -> dict[int, Element]:
    found = {}
    for node in style:
        said = attribute(node, "level") or ""
        if said.isdigit() and local(node).endswith(("-number", "level-style")):
            found[int(said)] = node
    return found


class Counter:
    """Counts the items of a list and the lists in it."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def next(self, levels: dict[int, Element], level: int, start: str | None) -> str:
        """Count an item of a level; returns its number with a space, or "" for a bullet."""
        own = levels.get(level)
        self._counts = {k: count for k, count in self._counts.items() if k <= level}
        if own is None or not (attribute(own, "num-format") or ""):
            return ""
        first = number(attribute(own, "start-value"), 1)
        count = self._counts.get(level, first - 1) + 1
        self._counts[level] = number(start, count)
        shown = min(number(attribute(own, "display-levels"), 1), level)
        looks = [levels.get(k, own) for k in range(level - shown + 1, level + 1)]
        numbers = [
            numeral(
                self._counts.get(k, number(attribute(look, "start-value"), 1)),
                (attribute(look, "num-format") or "1").split(",")[0],
                repeated=attribute(own, "num-letter-sync") == "true",
            )
            for k, look in enumerate(looks, level - shown + 1)
        ]
        before, after = (attribute(own, f"num-{key}") or "" for key in ("prefix", "suffix"))
        return f"{before}{'.'.join(numbers)}{after}".strip() + " "
