"""Pages of ordered lines → the text of the document, and the offsets of each printed line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from milepost.documents.readers.pdf.breaks import Break, Flow, continues
from milepost.documents.readers.pdf.headings import Heading
from milepost.documents.readers.pdf.line_joiner import LineJoiner
from milepost.documents.readers.pdf.page import Page
from milepost.documents.readers.pdf.records import Line
from milepost.documents.readers.pdf.tables import Unit, find_tables
from milepost.types import Mark

SMALL = 0.92  # of the body's size: footnotes
_NOTE = re.compile(r"\(?\d{1,3}|[*†‡§¶∗]")

Printed = tuple[int, int, int, int]  # start and end in the text; page; index in the page's frame


@dataclass(slots=True)
class Joined:
    """The text, and the offsets of its parts.

    Attributes:
        parts: pieces of the text.
        length: number of characters so far.
        printed: one entry for each printed line, in text order.
        blocks: offsets where paragraphs, rows, items and headings begin.
        pages: number of each page with text, and the offset where its text begins.
        headings: offset of each heading, and the heading.
        tables: the marks of tables, see ``tables.py``.
    """

    parts: list[str] = field(default_factory=list)
    length: int = 0
    printed: list[Printed] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    pages: list[tuple[int, int]] = field(default_factory=list)
    headings: list[tuple[int, Heading]] = field(default_factory=list)
    tables: list[Mark] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Append to the text."""
        self.parts.append(text)
        self.length += len(text)


@dataclass(slots=True)
class _Paragraph:
    """Lines that form one block of the text, and the break before it."""

    lines: list[tuple[int, Line, Break]]  # page, line, break before the line
    before: Break
    heading: Heading | None = None


def join_pages(pages: Sequence[Page], headings: dict[int, Heading], size: float) -> Joined:
    """Join the text of the pages; a paragraph that crosses a page break stays whole."""
    paragraphs: list[_Paragraph] = []
    carried: Flow | None = None  # the flow that ended with the last paragraph of the body text
    held: list[_Paragraph] = []  # notes of the previous page
    for page in pages:
        body, asides = _flows(page, size)
        flows = [Flow(lines) for lines in body]
        made: list[_Paragraph] = []
        for flow in flows:
            start = _paragraphs(page.number, flow, headings)
            tail = made[-1] if made else (paragraphs[-1] if paragraphs else None)
            # The notes go before the paragraph that continues, so that the text of a page stays
            # together; if it began on an earlier page, it does not continue.
            if (
                carried
                and tail
                and _joins(tail, start[0], carried, flow)
                and (not held or tail.lines[0][0] == held[0].lines[0][0])
            ):
                paragraphs[-1:-1] = held
                held = []
                tail.lines += start.pop(0).lines
            paragraphs += held
            held = []
            made += start
            carried = flow
        paragraphs += [*held, *made]
        held = [p for lines in asides for p in _paragraphs(page.number, Flow(lines), headings)]
    return _written([*paragraphs, *held], pages)


def _flows(page: Page, size: float) -> tuple[list[list[Line]], list[list[Line]]]:
    """Flows of running text without the furniture; footnotes and sideways text apart."""
    body, asides = [], []
    main = page.frame.lines[0].angle if page.frame.lines else 0
    heads: list[Line] = []
    whole = all(line.size <= SMALL * size for line in page.lines())  # then nothing is a note
    for flow in page.flows:
        if flow[0].angle != main:
            asides.append(flow)
            continue
        lines = [line for line in flow if id(line) not in page.heads]
        heads += [line for line in flow if id(line) in page.heads]
        cut = len(lines)
        while cut and not whole and lines[cut - 1].size <= SMALL * size:
            cut -= 1
        notes = lines[cut:]
        low = notes and min(x.base for x in notes) > 0.35 * page.frame.height
        if low and any(_NOTE.match(x.text) for x in notes):
            asides.append(notes)
        else:
            cut = len(lines)
        if cut:
            body.append(lines[:cut])
    return body, [*asides, *([line] for line in heads)]


def _paragraphs(page: int, flow: Flow, headings: dict[int, Heading]) -> list[_Paragraph]:
    made: list[_Paragraph] = []
    row: list[Line] = []
    lead: float | None = None
    inside: Heading | None = None  # the heading whose lines are being read
    for at, line in enumerate(flow.lines):
        opened = headings.get(id(line))
        is_inside = inside is not None and id(line) in inside.lines
        if at == 0 or opened or (inside and inside.alone and not is_inside):
            between = Break.PARAGRAPH
        else:
            between = Break.NONE if is_inside else flow.between(at, row, lead)
        if opened or not is_inside:
            inside = opened
        if between in (Break.PARAGRAPH, Break.ROW):
            made.append(_Paragraph([(page, line, Break.NONE)], between, opened))
            row, lead = [line], None
            continue
        made[-1].lines.append((page, line, between))
        if between is Break.CELL:
            row.append(line)
        else:
            lead = line.base - flow.lines[at - 1].base
            row = [line] if len(row) == 1 else [row[0], line]
    return made


def _joins(tail: _Paragraph, first: _Paragraph, flow: Flow, after: Flow) -> bool:
    if tail.heading or first.heading or tail.lines[-1][1] is not flow.lines[-1]:
        return False
    return continues(flow, after, 0)


def _written(paragraphs: list[_Paragraph], pages: Sequence[Page]) -> Joined:
    joiner = LineJoiner(line.text for page in pages for line in page.lines())
    places = {id(line): k for page in pages for k, line in enumerate(page.frame.lines)}
    out = Joined()
    units: list[Unit] = []
    seen = 0
    for paragraph in paragraphs:
        if out.length:
            out.add(paragraph.before.value)
        out.blocks.append(out.length)
        if paragraph.heading:
            out.headings.append((out.length, paragraph.heading))
        lines, start = paragraph.lines, out.length
        for k, (page, line, _) in enumerate(lines):
            if page > seen:
                out.pages.append((page, out.length))
                seen = page
            text, joint = line.text, ""
            if k + 1 < len(lines):
                _, after, between = lines[k + 1]
                cell = between is Break.CELL
                dropped, joint = (0, " ") if cell else joiner.join(line.text, after.text)
                text = text[: len(text) - dropped]
            out.printed.append((out.length, out.length + len(text), page, places[id(line)]))
            out.add(text + joint)
        cells = [line for _, line, _ in lines]
        units.append(Unit(start, out.length, lines[0][0], cells, paragraph.heading is not None))
    out.tables += find_tables(units)
    return out
