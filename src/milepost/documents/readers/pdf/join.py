"""Pages of ordered lines → the text of the document, and the offsets of each printed line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from milepost.documents.readers.pdf.breaks import (
    Break,
    Flow,
    continues,
    cuts_sentence,
    ends_sentence,
)
from milepost.documents.readers.pdf.cells import Unit
from milepost.documents.readers.pdf.headings import Heading
from milepost.documents.readers.pdf.line_joiner import LineJoiner
from milepost.documents.readers.pdf.page import Page
from milepost.documents.readers.pdf.records import Line
from milepost.documents.readers.pdf.rules import Row, Ruled
from milepost.documents.readers.pdf.tables import are_words, find_tables
from milepost.types import Mark

SMALL = 0.92  # of the body's size: footnotes
_NOTE = re.compile(r"\(?\d{1,3}|[*†‡§¶∗]")
_MARKED = re.compile(r"\d{1,3}(?![\d.,)])|[*†‡§¶∗]")  # no item of a list, no reference
_REACH = 24  # paragraphs that may stand between the two halves of a sentence

Printed = tuple[int, int, int, int]  # start and end in the text; page; index in the page's frame


@dataclass(slots=True)
class Joined:
    """The text, and the offsets of its parts."""

    parts: list[str] = field(default_factory=list)  # pieces of the text
    length: int = 0  # number of characters so far
    # one entry for each printed line, in text order
    printed: list[Printed] = field(default_factory=list)
    # offsets where paragraphs, rows, items and headings begin
    blocks: list[int] = field(default_factory=list)
    # number of each page, and the offset where its text begins; without text, that of the next
    pages: list[tuple[int, int]] = field(default_factory=list)
    # offset of each heading, and the heading
    headings: list[tuple[int, Heading]] = field(default_factory=list)
    tables: list[Mark] = field(default_factory=list)  # the marks of tables, see ``tables.py``

    def add(self, text: str) -> None:
        """Append to the text."""
        self.parts.append(text)
        self.length += len(text)


@dataclass(slots=True)
class _Paragraph:
    """Lines that form one block of the text, and the break before it."""

    lines: list[tuple[int, Line, Break]]  # page, line, and the break before the line
    before: Break  # the break before all of them
    flow: Flow  # the flow of the last line
    last: int  # number of the last line in the flow
    heading: Heading | None = None  # the heading that it is
    apart: bool = False  # whether it stands apart from the running text, as a footnote does
    table: Ruled | None = None  # the ruled table of which it is a row

    @property
    def page(self) -> int:
        """The page on which it begins."""
        return self.lines[0][0]

    @property
    def first(self) -> int:
        """Number of its first line in the flow, if all are in one."""
        return self.last + 1 - len(self.lines)

    @property
    def _is_marked(self) -> bool:
        return bool(_MARKED.match(self.lines[0][1].text))

    @property
    def is_ended(self) -> bool:
        """Whether its last line ends a sentence."""
        return ends_sentence(self.lines[-1][1])

    @property
    def is_running(self) -> bool:
        """Whether it has lines of running text, and not of a row; it may end after its first."""
        if self.apart or self.heading or self._is_marked:
            return False
        if len(self.lines) == 1:
            return self.is_ended
        return all(between is not Break.CELL for _, _, between in self.lines)

    def goes_on(self, rest: _Paragraph) -> bool:
        """Whether ``rest``, the first of the next flow, is the rest of this one, the last."""
        text = not self.heading and not rest.heading
        return text and continues(self.flow, self.last, rest.flow, rest.first)

    def goes_on_behind(self, rest: _Paragraph, between: Sequence[_Paragraph]) -> bool:
        """Whether a sentence goes on in ``rest``, interrupted by what stands between the two."""
        line = self.lines[-1][1]
        return cuts_sentence(self.flow, self.last, rest.flow, rest.first) and all(
            each.interrupts(line) for each in between
        )

    def interrupts(self, line: Line) -> bool:
        """Whether it is no running text of the kind of ``line``: a note, a caption, a table."""
        alike = any(
            0.97 < x.size / line.size < 1.03 and x.bold == line.bold and x.width > 0.6 * line.width
            for _, x, _ in self.lines
        )
        return self.apart or not (alike or self.heading) or self._is_marked


def join_pages(pages: Sequence[Page], headings: dict[int, Heading], size: float) -> Joined:
    """Join the text of the pages; a paragraph that crosses a page break stays whole."""
    paragraphs: list[_Paragraph] = []
    for page in pages:
        body, asides = _flows(page, size)
        for lines in body:
            start = _paragraphs(page.number, Flow(lines), headings)
            halves = _halves(paragraphs, start)
            if halves:
                start = _joined(paragraphs[halves[0] :], start, halves[1])
                del paragraphs[halves[0] :]
            paragraphs += start
        for lines in asides:
            notes = _paragraphs(page.number, Flow(lines), headings)
            for note in notes:
                note.apart = True
            paragraphs += notes
    return _written(_in_rows(paragraphs, pages), pages)


def _in_rows(paragraphs: list[_Paragraph], pages: Sequence[Page]) -> list[_Paragraph]:
    """Make a paragraph of each row of a ruled table of words, its cells from left to right."""
    of_page: dict[int, list[int]] = {}
    for number, paragraph in enumerate(paragraphs):
        for page_number in {page for page, _, _ in paragraph.lines}:
            of_page.setdefault(page_number, []).append(number)
    made = [[paragraph] for paragraph in paragraphs]
    for page in pages:
        for ruled in page.ruled:
            table = ruled.filled(page.lines())
            rows = table.in_rows(page.lines())
            if not are_words(table, rows) or table.is_crossed(page.lines()):
                continue
            flow = paragraphs[of_page[page.number][0]].flow
            new = [_row(table, page.number, row, flow) for row in rows]
            inside = {id(line) for row in rows for cell in row.values() for line in cell}
            for number in of_page[page.number]:
                parts = [part for old in made[number] for part in _without(old, inside, new)]
                made[number] = parts
    return [each for parts in made for each in parts]


def _without(old: _Paragraph, inside: Set[int], rows: list[_Paragraph]) -> Iterator[_Paragraph]:
    """Take the lines of a table out of a paragraph; where the first was are now the ``rows``."""
    at = next((k for k, (_, line, _) in enumerate(old.lines) if id(line) in inside), None)
    if at is None or old.table:
        yield old
        return
    before, after = old.lines[:at], [each for each in old.lines[at:] if id(each[1]) not in inside]
    if before:
        yield replace(old, lines=before)
    elif rows:
        rows[0].before = old.before
    yield from rows
    rows.clear()
    if after:
        yield replace(old, lines=after, before=Break.PARAGRAPH, heading=None)


def _row(table: Ruled, page: int, row: Row, flow: Flow) -> _Paragraph:
    lines = [
        (page, line, Break.NONE if number else Break.CELL)
        for cell in row.values()
        for number, line in enumerate(cell)
    ]
    return _Paragraph(lines, Break.ROW, flow, 0, table=table)


def _halves(done: list[_Paragraph], start: list[_Paragraph]) -> tuple[int, int] | None:
    """Find the paragraph that goes on at the start of a flow: its place, and that of the rest."""
    last = len(done) - 1
    while last >= 0 and done[last].apart:
        last -= 1
    near = last >= 0 and done[last].goes_on(start[0])
    running = near and done[last].is_running and start[0].is_running
    if running and not done[last].is_ended and start[0].lines[0][1].text[0].islower():
        return last, 0
    page = start[0].page
    cut = [
        place
        for place in range(len(done) - 1, max(-1, len(done) - 1 - _REACH), -1)
        if page <= done[place].lines[-1][0] + 1 and done[place].is_running
    ]
    for at, rest in enumerate(start[:_REACH]):
        goes_on = rest.lines[0][1].text[0].islower() and rest.is_running
        for place in cut if goes_on else ():
            if done[place].goes_on_behind(rest, [*done[place + 1 :], *start[:at]]):
                return place, at
    return (last, 0) if near else None


def _joined(done: list[_Paragraph], start: list[_Paragraph], at: int) -> list[_Paragraph]:
    """Join the first paragraph of ``done`` and number ``at`` of ``start``.

    What stood between the two goes before the paragraph if it began on the same page, so that the
    text of a page stays together, else behind it.
    """
    whole, rest = done[0], start[at]
    between = [*done[1:], *start[:at]]
    whole.lines += rest.lines
    whole.flow, whole.last = rest.flow, rest.last
    return [
        *(each for each in between if each.page == whole.page),
        whole,
        *(each for each in between if each.page != whole.page),
        *start[at + 1 :],
    ]


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
        lines = [line for line in flow if not line.head]
        heads += [line for line in flow if line.head]
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
            made.append(_Paragraph([(page, line, Break.NONE)], between, flow, at, opened))
            row, lead = [line], None
            continue
        made[-1].lines.append((page, line, between))
        made[-1].last = at
        if between is Break.CELL:
            row.append(line)
        else:
            lead = line.base - flow.lines[at - 1].base
            row = [line] if len(row) == 1 else [row[0], line]
    return made


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
        if paragraph.table:
            out.add(paragraph.table.bars(lines[0][1]))
        for k, (page, line, _) in enumerate(lines):
            if page > seen:
                out.pages += [(each, out.length) for each in range(seen + 1, page + 1)]
                seen = page
            text, joint = line.text, ""
            if k + 1 < len(lines):
                _, after, between = lines[k + 1]
                cell = between is Break.CELL
                dropped, joint = (0, " ") if cell else joiner.join(line.text, after.text)
                text = text[: len(text) - dropped]
                if cell and paragraph.table:
                    joint = paragraph.table.bars(after, line)
            out.printed.append((out.length, out.length + len(text), page, places[id(line)]))
            out.add(text + joint)
        cells = [line for _, line, _ in lines]
        heading = paragraph.heading is not None
        units.append(Unit(start, out.length, lines[0][0], cells, heading, paragraph.table))
    out.pages += [(page.number, out.length) for page in pages if page.number > seen]
    out.tables += find_tables(units, {page.number: page.drawn for page in pages})
    return out
