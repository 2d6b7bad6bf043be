"""Read the words of diagrams (SmartArt), charts and text boxes in Office drawings."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from milepost.errors import UnreadableFile
from milepost.text.readers.archive import Archive, attribute, every, local
from milepost.text.readers.office import Links
from milepost.text.readers.scripts import lowered, raised, shown

_KEYS = {"chart": "id", "relIds": "dm"}


class Drawings:
    """Reads the drawings of one part; a damaged part is named in ``notes`` and has no text."""

    def __init__(self, archive: Archive, links: Links, notes: list[str]) -> None:
        self._archive, self._links, self._notes = archive, links, notes

    def lines(self, frame: Element) -> Iterator[tuple[str, bool]]:
        """Yield the lines of the charts and diagrams that ``frame`` refers to.

        Each has a flag: whether it continues the block before it.
        """
        for node in frame.iter():
            key = _KEYS.get(local(node)) if isinstance(node.tag, str) else None
            kind, part = self._links.get((key and attribute(node, key)) or "", ("", ""))
            if kind == "chart":
                yield from _chart(self.part(part))
            elif kind == "diagramData":
                for point in every(self.part(part), "p"):
                    yield words(point), True

    def part(self, part: str) -> Element:
        """Parse a part; a damaged part is reported and treated as empty."""
        try:
            return self._archive.xml(part)
        except UnreadableFile as error:
            self._notes.append(error.problem)
            return Element("damaged")


def _chart(chart: Element) -> Iterator[tuple[str, bool]]:
    """Yield the titles of a chart, and its values, one row per series."""
    for title in every(chart, "title"):
        yield " ".join(map(words, every(title, "p"))), False
    for series in every(chart, "ser"):
        label, names, values = (
            [point.text or "" for part in every(series, tag) for point in every(part, "v")]
            for tag in ("tx", "cat", "val")
        )
        pairs = [f"{a}: {b}" for a, b in zip(names, values, strict=False)] or values
        yield " | ".join([" ".join(label), *pairs]).strip(" |"), True


def words(paragraph: Element) -> str:
    """Return a paragraph's text in one line, without fields such as slide number and date."""
    return " ".join(shown("".join(_pieces(paragraph))).split())


def _pieces(parent: Element) -> Iterator[str]:
    from milepost.text.readers.formulas import linear

    for node in parent:
        tag = local(node)
        if tag in ("br", "tab"):
            yield " "
        elif tag == "r":
            yield _run(node)
        elif tag == "t":
            yield node.text or ""
        elif tag == "AlternateContent" and len(node):
            yield from _pieces(node[0])
        elif tag in ("oMath", "oMathPara"):
            yield linear(node)
        elif tag not in ("fld", "pPr", "endParaRPr"):
            yield from _pieces(node)


def _run(run: Element) -> str:
    said = "".join(node.text or "" for node in run if local(node) == "t")
    for node in run:
        if local(node) == "rPr":
            if node.get("strike", "noStrike") != "noStrike":
                return ""
            baseline = node.get("baseline", "0").rstrip("%")
            if baseline.lstrip("-").isdigit() and int(baseline):
                return lowered(said) if baseline.startswith("-") else raised(said)
    return said
