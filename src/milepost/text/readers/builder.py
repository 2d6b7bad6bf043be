"""Build the text of a document: paragraphs, with their boundaries and headings."""

from __future__ import annotations

from milepost.types import Mark


class TextBuilder:
    """Collects units of text; each starts a block, and headings leave a mark."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[int] = []
        self._marks: list[Mark] = []

    @property
    def text(self) -> str:
        """Everything added so far."""
        return "".join(self._parts)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Marks of the headings added so far."""
        return tuple(self._marks)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Where each unit starts, ascending."""
        return tuple(self._blocks)

    def add(self, unit: str, *, close: bool = False, level: int = 0) -> None:
        """Add one unit: a paragraph, a list item, a row, a line of code.

        Args:
            unit: its text; blank units are skipped.
            close: separate it from the unit before by a newline instead of a blank line.
            level: 1-6 for a heading, 0 for other units.
        """
        if not unit.strip():
            return
        if self._parts:
            self._put("\n" if close else "\n\n")
        self._blocks.append(self._length)
        if level:
            self._marks.append(Mark(self._length, "heading", " ".join(unit.split()), level))
        self._put(unit)

    def _put(self, part: str) -> None:
        self._parts.append(part)
        self._length += len(part)
