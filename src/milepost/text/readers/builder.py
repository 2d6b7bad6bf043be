"""Build the text of a document: paragraphs with their boundaries, headings and places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from milepost.properties import EMPTY
from milepost.types import Document, Mark, MarkKind, Value


class TextBuilder:
    """Collects units of text; each unit starts a block, and headings and places become marks."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[int] = []
        self._marks: list[Mark] = []
        self._places: dict[MarkKind, str] = {}  # places that begin at the next unit

    @property
    def text(self) -> str:
        """The text added so far."""
        return "".join(self._parts)

    @property
    def length(self) -> int:
        """Number of characters added so far."""
        return self._length

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Marks of the headings and places added so far."""
        return tuple(self._marks)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Start offset of each unit, ascending."""
        return tuple(self._blocks)

    def place(self, kind: MarkKind, value: str) -> None:
        """Begin a page, slide, sheet … at the next unit; outer places must be added first.

        A place without text gets no mark.
        """
        self._places.pop(kind, None)
        self._places[kind] = " ".join(value.split())

    def add(self, unit: str, *, close: bool = False, level: int = 0) -> None:
        """Add one unit: a paragraph, a list item, a row, a line of code.

        Args:
            unit: the text; blank units are skipped.
            close: separate it from the previous unit by a newline instead of a blank line.
            level: 1-6 for a heading, 0 for other units.
        """
        if not unit.strip():
            return
        self._open(close=close)
        self._blocks.append(self._length)
        if level:
            self._marks.append(Mark(self._length, "heading", " ".join(unit.split()), level))
        self._put(unit)

    def include(self, document: Document) -> None:
        """Add the text, blocks and marks of another document, without line boxes."""
        if not document.text.strip():
            return
        self._open(close=False)
        start = self._length
        self._blocks.extend(start + block for block in document.blocks or (0,))
        self._marks += [
            replace(mark, offset=start + mark.offset)
            for mark in document.marks
            if mark.kind != "line"
        ]
        self._put(document.text.rstrip())

    def document(
        self,
        name: str,
        source: str | None,
        notes: tuple[str, ...] = (),
        properties: Mapping[str, Value] = EMPTY,
    ) -> Document:
        """Make the document; a note is added if it has no text."""
        notes = notes if self._parts else (*notes, "no text in it")
        return Document(
            name,
            self.text,
            self.marks,
            source,
            notes=notes,
            blocks=self.blocks,
            properties=properties,
        )

    def _open(self, *, close: bool) -> None:
        if self._parts:
            self._put("\n" if close else "\n\n")
        self._marks += [Mark(self._length, kind, value) for kind, value in self._places.items()]
        self._places.clear()

    def _put(self, part: str) -> None:
        self._parts.append(part)
        self._length += len(part)
