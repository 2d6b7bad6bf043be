"""Read OpenDocument texts and presentations (odt, odp): headings, lists, tables, notes, slides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from xml.etree.ElementTree import Element

from milepost.documents.readers import metadata
from milepost.documents.readers.archive import Archive, attribute, every, local, number, parsed
from milepost.documents.readers.fonts import unsymboled
from milepost.documents.readers.formulas import linear
from milepost.documents.readers.grid import Cell, TreeReader
from milepost.documents.readers.opendocument_styles import Counter, Styles
from milepost.documents.readers.scripts import NOTE, PLAIN, Look, shown, signed
from milepost.documents.readers.shapes import Box, around, in_order
from milepost.errors import UnreadableFile, locked
from milepost.types import Document

_MANIFEST = "META-INF/manifest.xml"
_UNREAD = frozenset(
    """
    annotation annotation-end tracked-changes sequence-decls variable-decls user-field-decls forms
    note-citation number page-number header footer date-time header-decl footer-decl
    date-time-decl event-listeners desc script scripts settings ruby-text
    binary-data
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
"""Elements whose text is not part of the document: comments, deletions, headers, footers."""

ANCHORED = frozenset(
    """
    note text-box object object-ole custom-shape rect ellipse circle line polyline polygon path
    connector caption measure regular-polygon
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
"""What is anchored in a paragraph and stands after it."""

_LENGTH = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))\s*(cm|mm|in|pt|pc|px)?")
_MOVED = re.compile(r"translate\s*\(\s*([^\s,)]+)[\s,]+([^\s,)]+)")
"""Place of a frame that is turned."""

_POINTS = {"cm": 28.35, "mm": 2.835, "in": 72.0, "pt": 1.0, "pc": 12.0, "px": 0.75}


def read_opendocument(data: bytes, name: str, source: str | None) -> Document:
    """Read the body; tracked changes are accepted, and footnotes follow their paragraph."""
    archive: Archive | None = None
    styles: list[Element] = []
    if data.startswith(b"PK"):
        archive = Archive(data, name)
        content = content_of(archive)
        styles = [archive.xml("styles.xml")] if "styles.xml" in archive.parts else []
    else:
        content = parsed(data, name, "the file")
    reader = Reader([*styles, content], archive)
    reader.body(content)
    properties = metadata.of_opendocument(archive or content)
    return reader.text.document(name, source, tuple(reader.problems), properties)


def content_of(archive: Archive) -> Element:
    """Parse the content of a document; raises UnreadableFile if it has a password."""
    if _MANIFEST in archive.parts and every(archive.xml(_MANIFEST), "encryption-data"):
        raise locked(archive.name)
    return archive.xml("content.xml")


class Reader(TreeReader):
    """Reads the parts of a document, of which ``roots`` have the styles."""

    def __init__(self, roots: Sequence[Element], archive: Archive | None) -> None:
        super().__init__()
        self.styles, self._archive, self._roots = Styles(roots), archive, roots
        self._slide = 0
        self._lists: dict[str, Counter] = {}  # of lists that others may continue, by id
        self._last: dict[str, Counter] = {}  # the last list of each style
        self._outline = Counter()

    @cached_property
    def _fields(self) -> dict[str | None, Element]:
        forms = (node for root in self._roots for form in every(root, "form") for node in form)
        return {attribute(node, "id"): node for node in forms}

    def body(self, root: Element) -> None:
        """Add the text of a document; those embedded in it have bodies of their own."""
        for node in root:
            if local(node) == "body":
                self.blocks(node)

    def blocks(self, parent: Element) -> None:
        """Add all text under ``parent``."""
        for node in parent:
            self._block(node, local(parent))

    def _block(self, node: Element, parent: str = "") -> None:
        """Add the text of ``node``, which is in an element with the name ``parent``."""
        tag = local(node)
        if tag in _UNREAD or _is_hidden(node):
            return
        if tag == "h":
            self._heading(node)
        elif tag == "p":
            self._paragraph(node)
        elif tag == "list":
            self._list(node, 1, Counter(), {})
        elif tag == "table":
            self.table(self._rows(node), "table")
        elif tag in ("object", "object-ole"):
            self._object(node)
        elif tag == "control":
            self.text.add(self.typed(node))
        elif tag == "page" and parent == "presentation":
            self._page(node)
        elif tag == "g":
            for shape in _ordered(node):
                self._block(shape)
        else:
            self.blocks(node)

    def _page(self, page: Element) -> None:
        """Add a slide: its title, then its other shapes, then the speaker's notes."""
        self._slide += 1
        self.text.place("slide", str(self._slide))
        if attribute(page, "style-name") in self.styles.unseen:
            self.problems.append(f"slide {self._slide} is hidden, but read")
        frames = sorted(_ordered(page), key=lambda node: attribute(node, "class") != "title")
        for frame in frames:
            if attribute(frame, "class") == "title":
                paragraphs = [words for node in every(frame, "p") if (words := self.words(node))]
                self.text.add(" ".join(paragraphs), level=2)
            elif attribute(frame, "class") not in ("header", "footer", "date-time", "page-number"):
                self._block(frame)
        for notes in every(page, "notes"):
            self.blocks(notes)

    def _heading(self, node: Element) -> None:
        level = number(attribute(node, "outline-level"), 1)
        bullet = "".join(f"{''.join(each.itertext())} " for each in node if local(each) == "number")
        if (
            level in self.styles.outline
            and attribute(node, "is-list-header") != "true"
            and self.styles.list_name(node) != ""
        ):
            bullet = self._outline.next(self.styles.outline, level, attribute(node, "start-value"))
        self._paragraph(node, bullet)

    def _paragraph(self, node: Element, bullet: str = "") -> None:
        """Add a paragraph or heading; a heading with a bullet is shown without it."""
        level = 0
        if local(node) == "h":
            level = min(6, max(1, number(attribute(node, "outline-level"), 1)))
            bullet = bullet.removeprefix("- ")
        words = self.words(node)
        self.text.add(words and bullet + words, close=bool(bullet) and not level, level=level)
        for inner in self._inner(node, PLAIN) if words or not _hides(node) else ():
            if local(inner).startswith("object"):
                self._object(inner, inline=True)
            else:
                self.blocks(inner)

    def _list(
        self, items: Element, level: int, counter: Counter, levels: dict[int, Element]
    ) -> None:
        style = attribute(items, "style-name")
        levels = self.styles.lists.get(style or "") or levels
        if level == 1:
            counter = self._counter(items, style or "", counter)
        for item in items:
            start = attribute(item, "start-value")
            # An item that only holds an inner list, which goes on after other text, has no number.
            counted = local(item) == "list-item" and local((*item, item)[0]) != "list"
            if not levels and len(item):
                levels = self.styles.lists.get(self.styles.list_name(item[0]) or "", {})
            bullet = counter.next(levels, level, start) or "- " if counted else ""
            for node in item:
                if local(node) in ("p", "h"):
                    self._paragraph(node, bullet)
                    bullet = ""
                elif local(node) == "list":
                    self._list(node, level + 1, counter, levels)
                else:
                    self._block(node)

    def _counter(self, items: Element, style: str, counter: Counter) -> Counter:
        """Return the counter of a list, which may continue another one."""
        continued = self._lists.get(attribute(items, "continue-list") or "")
        if continued is None and attribute(items, "continue-numbering") == "true":
            continued = self._last.get(style)
        counter = continued or counter
        self._last[style] = counter
        if key := attribute(items, "id"):
            self._lists[key] = counter
        return counter

    def _rows(
        self, table: Element, *, header: bool = False
    ) -> Iterator[tuple[list[Element], Iterator[Cell], bool]]:
        for node in table:
            tag = local(node)
            if tag == "table-row":
                cells = [cell for cell in node if local(cell) == "table-cell"]
                times = number(attribute(node, "number-rows-repeated"), 1)
                for _ in range(min(times, _MAX_REPEATED)):
                    yield cells, self._cells(cells), header
            elif tag in ("table-header-rows", "table-rows", "table-row-group"):
                yield from self._rows(node, header=header or tag == "table-header-rows")

    def _cells(self, cells: list[Element]) -> Iterator[Cell]:
        for cell in cells:
            words = self.cell(cell)
            if not len(cell) and attribute(cell, "formula") is not None:
                self.text.leave_out("x", "a formula without a stored result")
            columns, rows, repeated = (
                number(attribute(cell, f"number-{key}"), 1)
                for key in ("columns-spanned", "rows-spanned", "columns-repeated")
            )
            for _ in range(min(repeated, _MAX_REPEATED)):
                yield words, columns, rows

    def _object(self, node: Element, *, inline: bool = False) -> None:
        """Add a chart or a formula; that of a paragraph (``inline``) stands in its text."""
        root = self.embedded(node)
        if root is None:
            self.text.leave_out("x", "an embedded object")
        elif local(root) != "math":
            self.body(root)
        elif not inline:
            self.text.add(shown(linear(root)))

    def typed(self, control: Element) -> str:
        """Return what a form field shows."""
        field = self._fields.get(attribute(control, "control"))
        if field is None or local(field) in ("hidden", "password"):
            return ""
        for key in ("current-selected", "selected"):
            if chosen := [each for each in field if attribute(each, key) == "true"]:
                return ", ".join(attribute(each, "label") or "" for each in chosen)
        if local(field) in ("checkbox", "radio"):
            keys = ("current-state", "current-selected", "state", "selected")
            said = next((each for key in keys if (each := attribute(field, key))), "")
            return f"{'☒' if said in _ON else '☐'} {attribute(field, 'label') or ''}"
        if local(field) in ("button", "fixed-text", "frame"):
            return attribute(field, "label") or ""
        if paragraphs := [self.words(each) for each in field if local(each) == "p"]:
            return " ".join(paragraphs)
        return attribute(field, "current-value") or attribute(field, "value") or ""

    def embedded(self, node: Element) -> Element | None:
        """Parse the document inside of an object; None if there is none."""
        inside = next((child for child in node if local(child) in ("math", "document")), None)
        if inside is not None or self._archive is None:
            return inside
        folder = (attribute(node, "href") or "").removeprefix("./").strip("/")
        part = self._archive.find(f"{folder}/content.xml") if folder else None
        if part is None:
            return None
        try:
            return self._archive.xml(part)
        except UnreadableFile as error:
            self.problems.append(error.problem)
            return None

    def words(self, paragraph: Element, cell: str | None = None) -> str:
        """Return the text of a paragraph with single spaces; its line breaks are kept.

        ``cell`` is the style of the cell that it is in.
        """
        if _hides(paragraph):
            return ""
        look = self.styles.look(attribute(paragraph, "style-name")).over(self.styles.look(cell))
        lines = shown("".join(self._visible(paragraph, look))).split("\n")
        return "\n".join(words for line in lines if (words := " ".join(line.split())))

    def _inner(self, node: Element, look: Look) -> Iterator[Element]:
        """Yield what is anchored in a paragraph or a part of it, except in hidden words."""
        look = self.styles.look(attribute(node, "style-name")).over(look)
        for child in node:
            tag = local(child)
            if tag in ANCHORED:
                if not look.hidden:
                    yield child
            elif len(child) and tag not in _UNREAD:
                yield from self._inner(child, look)

    def _shown(self, words: str | None, look: Look) -> str:
        words = unsymboled((words or "").replace("\n", " "), look.font or "")
        return "" if look.hidden else self.text.looking(words, look)

    def _visible(self, node: Element, look: Look) -> Iterator[str]:
        yield self._shown(node.text, look)
        for child in node:
            tag = local(child)
            if tag in ("s", "tab"):
                yield " "
            elif tag == "line-break":
                yield "\n"
            elif tag == "object":
                root = self.embedded(child)
                if root is not None and local(root) == "math":
                    yield linear(root)
            elif tag == "control":
                yield self.typed(child)
            elif tag == "fieldmark":
                yield _marked(child)
            elif tag == "note-ref":
                yield signed("".join(child.itertext()), NOTE)
            elif tag not in ANCHORED and tag not in _UNREAD and not _is_hidden(child):
                own = self.styles.look(attribute(child, "style-name")) if tag == "span" else PLAIN
                yield from self._visible(child, own.over(look))
            yield self._shown(child.tail, look)


def _marked(field: Element) -> str:
    """Show the state of a form field that Word made: a box, a list of choices."""
    said: dict[str, list[str]] = {}
    for node in field:
        said.setdefault(attribute(node, "name") or "", []).append(attribute(node, "value") or "")
    if (attribute(field, "type") or "").endswith("CHECKBOX"):
        return "☒" if said.get("Checkbox_Checked") == ["true"] else "☐"
    choices, chosen = said.get("Dropdown_ListEntry", []), said.get("Dropdown_Selected", [""])
    return next(iter(choices[number(chosen[0], 0) :]), "")


_ON = ("checked", "true")
_MAX_REPEATED = 200  # equal cells: a file of a few bytes may claim any number


def _is_hidden(node: Element) -> bool:
    tag = local(node)
    if tag == "title":  # the alternative text of a picture; that of a document is a field
        return "svg" in node.tag
    if tag in ("hidden-paragraph", "hidden-text"):
        return attribute(node, "is-hidden") == "true"
    display = attribute(node, "display")  # of a section or a field
    return display == "none" or (display == "condition" and attribute(node, "is-hidden") == "true")


def _hides(node: Element) -> bool:
    """Whether a field in a paragraph, not in what is anchored in it, hides the paragraph."""
    for child in node:
        tag = local(child)
        if tag == "hidden-paragraph":
            if _is_hidden(child):
                return True
        elif len(child) and tag not in ANCHORED and tag not in _UNREAD and _hides(child):
            return True
    return False


def _shapes(parent: Element) -> list[Element]:
    """List the shapes of a slide or group; lines are shapes if they say a word."""
    return [
        node
        for node in parent
        if local(node) not in _UNREAD
        and local(node) not in ("notes", "glue-point", "title")
        and (attribute(node, "x1") is None or "".join(node.itertext()).strip())
    ]


def _ordered(parent: Element) -> list[Element]:
    """List the shapes of a slide or group in reading order."""
    shapes = _shapes(parent)
    return [shapes[k] for k in in_order([_box(shape) for shape in shapes])]


def _box(frame: Element) -> Box:
    if local(frame) == "g":
        return around([_box(shape) for shape in _shapes(frame)])
    if attribute(frame, "x1") is not None:
        ends = [[_points(attribute(frame, f"{way}{end}")) for way in "xy"] for end in (1, 2)]
        return around([(x, y, x, y) for x, y in ends])
    moved = _MOVED.search(attribute(frame, "transform") or "")
    left, top = map(_points, moved.groups() if moved else (attribute(frame, k) for k in "xy"))
    wide, high = (_points(attribute(frame, key)) for key in ("width", "height"))
    return left, top, left + wide, top + high


def _points(length: str | None) -> float:
    match = _LENGTH.fullmatch(length or "")
    return float(match[1]) * _POINTS[match[2] or "pt"] if match else 0.0
