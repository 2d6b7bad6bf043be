"""What can be known of a file without reading it whole: that it cannot be read, and its pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost.errors import UnreadableFile
from milepost.text.encoding import decode
from milepost.text.readers import ole
from milepost.text.readers.formats import format_of
from milepost.types import ReadOptions

_HEAD = 65_536
"""Bytes that are read of a file."""

_PAGE = 3_000
"""Bytes of plain text that make about one printed page."""

_TEXTS = {"plain", "rows", "underlined", "markdown", "delimited"}
"""Formats whose size is about that of their text."""


@dataclass(frozen=True, slots=True)
class Glance:
    """What a glance at a file says.

    Attributes:
        pages: how many it has; None where only reading would say.
        exact: whether they were counted, not estimated.
    """

    pages: int | None = None
    exact: bool = False


def glance(path: Path, options: ReadOptions) -> Glance:
    """Look at the beginning of a file; of a PDF, count the pages.

    Args:
        path: the file.
        options: how it would be read.

    Raises:
        UnreadableFile: it is certain that the file cannot be read. One that passes may prove to be
            damaged later.
    """
    try:
        if path.is_char_device() or path.is_block_device() or path.is_fifo():
            raise UnreadableFile(f"{path} is a device", "a file")
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise UnreadableFile(
            f"{path} cannot be read: {error.strerror or error}", "check the path"
        ) from error
    if not head:
        raise UnreadableFile(f"{path} is empty (0 bytes)", "save or download it again")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", ole.MAGIC)):
        return Glance()  # the list of what is in it is at its end
    kind = format_of(head, str(path), options)
    if kind == "pdf":
        from milepost.text.readers.pdf.file import count_pages
        from milepost.text.readers.pdf.glyphs import PDFIUM

        with PDFIUM:
            return Glance(count_pages(path), exact=True)
    if kind not in _TEXTS:
        return Glance()
    whole_lines = head[: head.rfind(b"\n") + 1] if size > len(head) else head
    decode(whole_lines or head, str(path))
    return Glance(max(1, round(size / _PAGE)))
