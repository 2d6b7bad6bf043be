"""Read PowerPoint files: titles as headings, text, tables, charts and notes, slide by slide.

Names are compared without namespaces, which differ between the two variants of the standard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from xml.etree.ElementTree import Element

from milepost.documents.readers import metadata, office
from milepost.documents.readers.archive import Archive, attribute, every, local, number
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.grid import Cell, Grid
from milepost.documents.readers.numbering import numeral
from milepost.documents.readers.shapes import TITLES, Box, list_styles, ordered, places
from milepost.documents.readers.shapes import shapes as found
from milepost.errors import UnreadableFile
from milepost.types import Document

_FURNITURE = frozenset(("dt", "ftr", "hdr", "sldNum", "sldImg"))
"""Placeholders that are skipped: date, footer, header, slide number, picture of the slide."""


def read_slides(data: bytes, name: str, source: str | None) -> Document:
    """Read a deck in presentation order, including hidden slides."""
    archive = Archive(data, name)
    slides = _slides(archive)
    text = TextBuilder()
    notes: list[str] = []
    for count, part in enumerate(slides, 1):
        try:
            slide = archive.xml(part)
            links = office.links(archive, part)
        except UnreadableFile as error:
            notes.append(f"slide {count}: {error.problem}")
            continue
        if slide.get("show") in ("0", "false"):
            notes.append(f"slide {count} is hidden, but read")
        text.place("slide", str(count))
        _Slide(archive, links, text, notes).read(slide)
    if slides and len(notes) >= len(slides) and not text.text:
        raise UnreadableFile(f"{name} has no slide that can be read", "save it again")
    return text.document(name, source, tuple(notes), metadata.of_office(archive))


def _slides(archive: Archive) -> list[str]:
    deck, _ = office.main_part(archive) or ("ppt/presentation.xml", "")
    links = office.links(archive, deck)
    order = (attribute(node, "id") for node in every(archive.xml(deck), "sldId"))
    return [links[key][1] for key in order if key in links]


class _Slide:
    """Adds one slide to a text: its title, then the other shapes from top to bottom."""

    def __init__(
        self, archive: Archive, links: office.Links, text: TextBuilder, notes: list[str]
    ) -> None:
        self._links, self._text, self._archive = links, text, archive
        self._drawings = office.Drawings(archive, links, notes)

    def read(self, slide: Element) -> None:
        """Add the slide and the speaker's notes."""
        part = office.target(self._links, "slideLayout")
        above: list[Element] = []  # the layout and its master
        if part in self._archive.parts:
            above = [self._drawings.part(part)]
            with suppress(UnreadableFile):
                if master := office.target(office.links(self._archive, part), "slideMaster"):
                    above.append(self._archive.xml(master))
        layout: dict[tuple[str, str], Box] = {}
        for root in reversed(above):
            layout |= places(root)
        shapes = ordered(slide, layout)
        shapes.sort(key=lambda shape: _placeholder(shape) not in TITLES)  # stable
        for shape in shapes:
            self._shape(shape, list_styles(shape, above))
        for kind, part in self._links.values():
            if kind == "notesSlide":
                for shape, _ in found(self._drawings.part(part)):
                    self._shape(shape)

    def _shape(self, shape: Element, styles: Sequence[Element] = ()) -> None:
        kind = _placeholder(shape)
        if kind in _FURNITURE:
            return
        if local(shape) == "graphicFrame":
            self._frame(shape)
            return
        paragraphs = list(_paragraphs(shape, self._text, styles))
        if kind in TITLES:
            self._text.add(" ".join(paragraphs), level=TITLES[kind])
            return
        self._text.add_lines(paragraphs)

    def _frame(self, frame: Element) -> None:
        grid = Grid()
        header = any(_is_set(look, "firstRow") for look in every(frame, "tblPr"))
        for place, row in enumerate(every(frame, "tr")):
            grid.add(_cells(row, self._text), header=header and not place)
        grid.write(self._text)
        for each in every(frame, "oleObj"):
            self._text.leave_out("x", f"an embedded object ({each.get('progId', 'OLE')})")
        for line, close in self._drawings.lines(frame):
            self._text.add(line, close=close)


def _cells(row: Element, text: TextBuilder) -> Iterator[Cell]:
    """Yield the cells of a row, without those that continue a cell to the left or above."""
    for cell in every(row, "tc"):
        if not (_is_set(cell, "hMerge") or _is_set(cell, "vMerge")):
            said = " ".join(_paragraphs(cell, text))
            yield said, number(cell.get("gridSpan"), 1), number(cell.get("rowSpan"), 1)


def _is_set(cell: Element, key: str) -> bool:
    return cell.get(key) in ("1", "true")


def _paragraphs(
    shape: Element, text: TextBuilder, inherited: Sequence[Element] = ()
) -> Iterator[str]:
    """Yield the paragraphs of a shape or cell; items of a numbered list with their numbers.

    What the shape itself says of its lists comes before what is ``inherited``.
    """
    counts: dict[int, tuple[tuple[str, int], int]] = {}  # level → kind and start, last number
    styles = [*every(shape, "lstStyle"), *inherited]
    for node in every(shape, "p"):
        said = office.words(node, text)
        if not said:
            continue
        own = [each for each in node if local(each) == "pPr"][:1]
        depth = number(own[0].get("lvl"), 0) if own else 0
        own += (each for style in styles for each in style if local(each) == f"lvl{depth + 1}pPr")
        bullet = next((sign for look in own for sign in look if local(sign) in _BULLETS), None)
        counts = {level: count for level, count in counts.items() if level <= depth}
        if bullet is None or local(bullet) != "buAutoNum":
            counts.pop(depth, None)
            yield said
            continue
        kind, start = bullet.get("type", ""), number(bullet.get("startAt"), 1)
        known, count = counts.get(depth, (("", 0), 0))
        count = count + 1 if known == (kind, start) else start
        counts[depth] = (kind, start), count
        yield f"{_numbered(count, kind)} {said}"


def _numbered(count: int, kind: str) -> str:
    """Write the number of an item: ``arabicPeriod`` is 1., ``alphaLcParenBoth`` is (a)."""
    letters = next((sign for name, sign in _LETTERS.items() if kind.startswith(name)), "1")
    said = numeral(count, letters)
    if kind.endswith("Plain"):
        return said
    if kind.endswith("ParenBoth"):
        return f"({said})"
    return said + (")" if kind.endswith("ParenR") else "-" if kind.endswith("Minus") else ".")


_BULLETS = ("buAutoNum", "buNone", "buChar", "buBlip")
_LETTERS = {
    "alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I", "ea1": "一",
    "circleNumWdBlack": "❶", "circleNum": "①", "arabicDb": "１", "arabic1": "أ", "arabic2": "ا",
    "hebrew2": "א", "hindiNum": "१", "thaiNum": "๑", "thaiAlpha": "ก",
}  # fmt: skip


def _placeholder(shape: Element) -> str | None:
    found = every(shape, "ph")
    return found[0].get("type", "body") if found else None
