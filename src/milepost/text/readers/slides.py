"""Read PowerPoint files: titles as headings, text, tables, charts and notes, slide by slide.

Names are compared without namespaces, which differ between the two variants of the standard.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from milepost.errors import UnreadableFile
from milepost.text.readers import metadata
from milepost.text.readers.archive import Archive, attribute, every, local, path_in
from milepost.text.readers.builder import TextBuilder
from milepost.types import Document

_DECK = "ppt/presentation.xml"
_TITLES = {"ctrTitle": 1, "title": 2}
"""Heading level of each title placeholder: of the deck, of a slide."""

_FURNITURE = frozenset(("dt", "ftr", "hdr", "sldNum", "sldImg"))
"""Placeholders that are skipped: date, footer, header, slide number, picture of the slide."""


def read_slides(data: bytes, name: str, source: str | None) -> Document:
    """Read a deck in presentation order, including hidden slides.

    Raises:
        UnreadableFile: the package or its list of slides is damaged, or no slide can be read.
    """
    archive = Archive(data, name)
    slides = _slides(archive)
    text = TextBuilder()
    notes: list[str] = []
    for number, part in enumerate(slides, 1):
        try:
            slide = archive.xml(part)
            links = _links(archive, part)
        except UnreadableFile as error:
            notes.append(f"slide {number}: {error.problem}")
            continue
        text.place("slide", str(number))
        _Slide(archive, links, text, notes).read(slide)
    if slides and len(notes) >= len(slides) and not text.text:
        raise UnreadableFile(f"{name} has no slide that can be read", "save it again")
    return text.document(name, source, tuple(notes), metadata.of_office(archive))


def _slides(archive: Archive) -> list[str]:
    """List the parts of the slides in the order of the deck."""
    links = _links(archive, _DECK)
    order = (attribute(node, "id") for node in every(archive.xml(_DECK), "sldId"))
    return [links[key][1] for key in order if key in links]


def _links(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Map the relationship ids of a part to the type and path of each target in the package."""
    folder, base = posixpath.split(part)
    listed = f"{folder}/_rels/{base}.rels"
    if listed not in archive.parts:
        return {}
    return {
        node.get("Id", ""): (
            node.get("Type", "").rpartition("/")[2],
            path_in(folder, node.get("Target", "")).lstrip("/"),
        )
        for node in every(archive.xml(listed), "Relationship")
        if node.get("TargetMode") != "External"
    }


class _Slide:
    """Adds one slide to a text: its title, then the other shapes in the order of the file."""

    def __init__(
        self,
        archive: Archive,
        links: dict[str, tuple[str, str]],
        text: TextBuilder,
        notes: list[str],
    ) -> None:
        self._archive, self._links, self._text, self._notes = archive, links, text, notes

    def read(self, slide: Element) -> None:
        """Add the slide and the speaker's notes."""
        shapes = list(_shapes(slide))
        shapes.sort(key=lambda shape: _placeholder(shape) not in _TITLES)  # stable
        for shape in shapes:
            self._shape(shape)
        for kind, part in self._links.values():
            if kind == "notesSlide":
                for shape in _shapes(self._part(part)):
                    self._shape(shape)

    def _part(self, part: str) -> Element:
        """Parse a part of the slide; a damaged part is reported and treated as empty."""
        try:
            return self._archive.xml(part)
        except UnreadableFile as error:
            self._notes.append(error.problem)
            return Element("damaged")

    def _shape(self, shape: Element) -> None:
        kind = _placeholder(shape)
        if kind in _FURNITURE:
            return
        if local(shape) == "graphicFrame":
            self._frame(shape)
            return
        paragraphs = [words for node in every(shape, "p") if (words := _words(node))]
        if kind in _TITLES:
            self._text.add(" ".join(paragraphs), level=_TITLES[kind])
            return
        for number, words in enumerate(paragraphs):
            self._text.add(words, close=number > 0)

    def _frame(self, frame: Element) -> None:
        """Add a table, a chart or a diagram."""
        for row in every(frame, "tr"):
            cells = [" ".join(map(_words, every(cell, "p"))).strip() for cell in every(row, "tc")]
            self._text.add(" | ".join(cell for cell in cells if cell), close=len(cells) > 1)
        for node in frame.iter():
            key = {"chart": "id", "relIds": "dm"}.get(local(node))
            kind, part = self._links.get((key and attribute(node, key)) or "", ("", ""))
            if kind == "chart":
                self._chart(self._part(part))
            elif kind == "diagramData":
                for point in every(self._part(part), "p"):
                    self._text.add(_words(point), close=True)

    def _chart(self, chart: Element) -> None:
        """Add the titles of a chart, and its values, one row per series."""
        for title in every(chart, "title"):
            self._text.add(" ".join(map(_words, every(title, "p"))))
        for series in every(chart, "ser"):
            label, names, values = (
                [point.text or "" for part in every(series, tag) for point in every(part, "v")]
                for tag in ("tx", "cat", "val")
            )
            pairs = [f"{a}: {b}" for a, b in zip(names, values, strict=False)] or values
            self._text.add(" | ".join([" ".join(label), *pairs]).strip(" |"), close=True)


def _shapes(slide: Element) -> Iterator[Element]:
    """Yield the shapes of a slide, with those in groups, and the first of each alternative."""
    for node in slide:
        tag = local(node)
        if tag in ("sp", "graphicFrame", "cxnSp"):
            yield node
        elif tag == "AlternateContent":
            yield from _shapes(node[0] if len(node) else node)
        else:
            yield from _shapes(node)


def _placeholder(shape: Element) -> str | None:
    """Return the placeholder type of a shape; None if it is not a placeholder of the layout."""
    found = every(shape, "ph")
    return found[0].get("type", "body") if found else None


def _words(paragraph: Element) -> str:
    """Return a paragraph's text in one line, without fields such as slide number and date."""
    parts: list[str] = []
    for node in paragraph:
        tag = local(node)
        if tag in ("br", "tab"):
            parts.append(" ")
        elif tag not in ("fld", "pPr", "endParaRPr"):
            whole = node[0] if tag == "AlternateContent" and len(node) else node
            parts += [text.text or "" for text in every(whole, "t")]
    return " ".join("".join(parts).split())
