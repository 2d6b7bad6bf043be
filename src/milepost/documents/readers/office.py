"""Find the parts of Office packages (docx, pptx, xlsx), and read the words of their drawings.

The names of the parts are free: Word writes ``word/document.xml``, other programs do not have to.
The drawings are diagrams (SmartArt), charts and text boxes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from xml.etree.ElementTree import Element

from milepost.documents.readers.archive import Archive, attribute, every, local, number, path_in
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.fonts import unsymboled
from milepost.documents.readers.formulas import linear
from milepost.documents.readers.scripts import LOWERED, RAISED, shown, signed
from milepost.documents.readers.sheet_values import number_shown
from milepost.errors import UnreadableFile

_TYPES = "[Content_Types].xml"
_KINDS = (
    ("wordprocessingml", "docx"),
    ("ms-word", "docx"),
    ("presentationml", "slides"),
    ("ms-powerpoint", "slides"),
    ("spreadsheetml", "sheets"),
    ("ms-excel", "sheets"),
)
_USUAL = (
    ("word/document.xml", "docx"),
    ("xl/workbook.xml", "sheets"),
    ("xl/workbook.bin", "sheets"),
    ("ppt/presentation.xml", "slides"),
)

SCRIPTS = {"superscript": RAISED, "subscript": LOWERED, "baseline": ""}
"""The sign before letters of each ``vertAlign``."""

Links = dict[str, tuple[str, str]]
"""Relationship id → type, without its address, and path of the target in the package."""


def links(archive: Archive, part: str) -> Links:
    """Map the relationships of a part, or of the package if ``part`` is empty."""
    folder, base = posixpath.split(part)
    listed = archive.find(posixpath.join(folder, "_rels", f"{base}.rels"))
    if listed is None:
        return {}
    found: Links = {}
    for node in every(archive.xml(listed), "Relationship"):
        if node.get("TargetMode") != "External":
            target = node.get("Target", "").replace("\\", "/")
            path = path_in("" if target.startswith("/") else folder, target).lstrip("/")
            kind = node.get("Type", "").rpartition("/")[2]
            found[node.get("Id", "")] = (kind, archive.find(path) or path)
    return found


def target(links: Links, kind: str) -> str:
    """Return the path of the first part of a kind; empty if there is none."""
    return next((part for known, part in links.values() if known == kind), "")


def main_part(archive: Archive) -> tuple[str, str] | None:
    """Return the path and format of the main part; None if the file is not of Office."""
    held = next(((part, kind) for name, kind in _USUAL if (part := archive.find(name))), None)
    try:
        mains = [path for kind, path in links(archive, "").values() if kind == "officeDocument"]
    except UnreadableFile:
        return held
    for path in mains:
        if path not in archive.parts:
            continue
        if held is not None and held[0] == path:
            return held
        said = content_type(archive, path)
        kind = next((kind for name, kind in _KINDS if name in said), None)
        if kind is not None:
            return path, kind
    return held


def content_type(archive: Archive, path: str) -> str:
    """Return what the list of types says of a part."""
    suffix = path.rpartition(".")[2].lower()
    default = ""
    for node in archive.xml_or_none(_TYPES):
        if (node.get("PartName") or "").lstrip("/").lower() == path.lower():
            return node.get("ContentType", "")
        if (node.get("Extension") or "").lower() == suffix:
            default = node.get("ContentType", "")
    return default


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
            if kind in ("chart", "chartEx"):
                yield from _chart(self.part(part))
                with suppress(UnreadableFile):
                    boxes = target(links(self._archive, part), "chartUserShapes")
                    for point in every(self.part(boxes), "p") if boxes else ():
                        yield words(point), False
            elif kind == "diagramData" or local(node) == "lockedCanvas":  # that of older slides
                parts = _diagram(self.part(part)) if part else every(node, "p")
                for line in map(words, parts):
                    yield line, True

    def part(self, part: str) -> Element:
        """Parse a part; a damaged part is reported and treated as empty."""
        return self._archive.xml_or_none(part, self._notes)


def _diagram(data: Element) -> Iterator[Element]:
    """Yield the paragraphs of a diagram, a part before those below it.

    The file lists parts as they were made: first all heads, then all that is said of them.
    """
    below: dict[str, list[tuple[int, str]]] = {}
    for link in every(data, "cxn"):
        if link.get("type", "parOf") == "parOf":
            place = number(link.get("srcOrd"), 0), link.get("destId", "")
            below.setdefault(link.get("srcId", ""), []).append(place)
    inner = {key for keys in below.values() for _, key in keys}
    points = {point.get("modelId", str(n)): point for n, point in enumerate(every(data, "pt"))}
    waiting = sorted(points, key=inner.__contains__)[::-1]  # the top of the tree is the last
    while waiting:
        key = waiting.pop()
        if point := points.pop(key, None):
            yield from every(point, "p")
            waiting += [each for _, each in sorted(below.get(key, ()), reverse=True)]


def _chart(chart: Element) -> Iterator[tuple[str, bool]]:
    """Yield the titles of a chart, and its values, one row per series that is not filtered out."""
    for extension in every(chart, "ext"):
        extension[:] = [node for node in extension if not local(node).startswith("filtered")]
    for title in every(chart, "title"):
        typed = map(words, every(title, "p"))
        linked = (node.text or "" for node in every(title, "v"))
        yield " ".join(filter(None, (*typed, *linked))), False
    for point in every(chart, "dLbl"):  # with words typed in place of a value
        yield " ".join(filter(None, map(words, every(point, "p")))), False
    is_1904 = any(node.get("val", "1") in ("1", "true") for node in every(chart, "date1904"))
    for series in every(chart, "ser") + every(chart, "data"):
        label, names, values = (
            _points(series, tags, is_1904)
            for tags in (("tx",), ("cat", "xVal", "strDim"), ("val", "yVal", "numDim"))
        )
        beside = _labels(series)
        pairs = (
            (f"{names[k]}: " if k in names else "")
            + said
            + (f" ({beside[k]})" if k in beside else "")
            for k, said in values.items()
        )
        yield " | ".join([*label.values(), *pairs]), True


def _labels(series: Element) -> dict[int, str]:
    """Map the numbers of points to what cells say of them, if this is shown."""
    if {node.get("val", "1") for node in every(series, "showDataLabelsRange")} == {"0"}:
        return {}
    held = every(series, "datalabelsRange")
    return _points(held[0], ("dlblRangeCache",), is_1904=False) if held else {}


def _points(series: Element, kinds: tuple[str, ...], is_1904: bool) -> dict[int, str]:
    """Map the numbers of the points of a series to what is shown; empty points have none.

    Names in several levels are joined, the outer ones, which stand once for a group, in front.
    """
    found: dict[int, str] = {}
    for part in (node for node in series if local(node) in kinds):
        for level in every(part, "lvl") or [part]:  # from the inner to the outer
            code = next((node.text for node in every(level, "formatCode")), level.get("formatCode"))
            inner, found = found, {}
            for place, point in enumerate(every(level, "pt") or every(level, "v")):
                said = "".join(point.itertext()).strip()
                shown = _number(said, point.get("formatCode") or code, is_1904)
                found[number(point.get("idx"), place)] = shown
            groups = {k: max((at for at in found if at <= k), default=-1) for k in inner}
            found = {k: f"{found.get(groups[k], '')} {inner[k]}".strip() for k in inner} or found
    return {k: said for k, said in sorted(found.items()) if said}


def _number(said: str, code: str | None, is_1904: bool) -> str:
    """Write the value of a chart as its format does; one that is no number as it is."""
    with suppress(ValueError):
        return number_shown(float(said), code, is_1904=is_1904) if code else said
    return said


_PLACEHOLDER = re.compile("slidenum|[A-Z]+$")  # CELLRANGE, in place of what a chart shows


def words(paragraph: Element, text: TextBuilder | None = None) -> str:
    """Return a paragraph's text in one line, without numbers of slides and placeholders of charts.

    ``text`` takes note of what is struck out.
    """
    return " ".join(shown("".join(_pieces(paragraph, text))).split())


def _pieces(parent: Element, text: TextBuilder | None) -> Iterator[str]:
    for node in parent:
        tag = local(node)
        if tag in ("br", "tab"):
            yield " "
        elif tag == "r" or (tag == "fld" and not _PLACEHOLDER.match(node.get("type", ""))):
            yield _run(node, text)
        elif tag == "t":
            yield node.text or ""
        elif tag in ("oMath", "oMathPara"):
            yield linear(node)
        elif tag not in ("fld", "pPr", "endParaRPr"):
            yield from _pieces(node, text)


def _run(run: Element, text: TextBuilder | None) -> str:
    said = "".join(node.text or "" for node in run if local(node) == "t")
    for node in run:
        if local(node) == "rPr":
            if node.get("strike", "noStrike") != "noStrike":
                if text is not None:
                    text.leave_out(said)
                return ""
            fonts = {local(font): font.get("typeface", "") for font in node}
            is_sign = not any(each.isascii() and each.isalnum() for each in said)
            said = unsymboled(said, (is_sign and fonts.get("sym")) or fonts.get("latin", ""))
            baseline = node.get("baseline", "0").rstrip("%")
            if baseline.lstrip("-").isdigit() and int(baseline):
                return signed(said, LOWERED if baseline.startswith("-") else RAISED)
    return said
