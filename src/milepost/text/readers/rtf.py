"""Read rich text (RTF): paragraphs and table rows."""

from __future__ import annotations

import re

from milepost.errors import UnreadableFile
from milepost.text.readers.builder import TextBuilder
from milepost.types import Document

_FONTS = re.compile(r"\\fonttbl")
_FONT = re.compile(r"\\f(\d+)|\\fcharset(\d+)")
_BRACE = re.compile(r"[{}]")


def read_rtf(data: bytes, name: str, source: str | None) -> Document:
    """Read the visible text; the addresses of links are left out.

    Raises:
        UnreadableFile: the file is damaged.
    """
    from striprtf.striprtf import rtf_to_text

    # The library finds links and fonts with patterns that take hours on a hostile file. Renamed
    # fields are read without these patterns, and a short font table takes no time.
    raw = _short_fonts(data.decode("latin-1").replace("\0", "").replace(r"\field", r"\fieldx "))
    try:
        words = rtf_to_text(raw, encoding="cp1252", errors="replace")
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise UnreadableFile(f"{name} is damaged: {error}", "save it as docx or txt") from error
    # Characters beyond the first plane are written as surrogate pairs.
    words = words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = TextBuilder()
    for line in words.replace("\xad", "").split("\n"):
        cells = [" ".join(cell.split()) for cell in line.split("|")]
        filled = [cell for cell in cells if cell]
        row = len(cells) > 1 and not cells[-1]  # the library ends every cell with a bar
        words = " | ".join(filled) if row else " ".join(line.split())
        text.add(words, close=len(filled) > 1 and row)
    return text.document(name, source)


def _short_fonts(raw: str) -> str:
    """Reduce each font in the font table to its number and character set."""
    begins = _FONTS.search(raw)
    if begins is None:
        return raw
    depth, end = 1, len(raw)
    for brace in _BRACE.finditer(raw, begins.end()):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            end = brace.start()
            break
    sets: dict[str, str] = {}
    font = ""
    for match in _FONT.finditer(raw, begins.end(), end):
        font = match[1] or font
        if match[2] and font:
            sets.setdefault(font, match[2])
    fonts = "".join(rf"\f{font}\fcharset{charset} x;" for font, charset in sets.items())
    return raw[: begins.end()] + fonts + raw[end:]
