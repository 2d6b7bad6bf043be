"""The fonts of an RTF file and the encodings of their letters."""

from __future__ import annotations

import codecs
import re

from milepost.documents.readers.symbols import symbol

_FONT = re.compile(
    r"\\f(\d{1,9})|\\fcharset(\d{1,9})|\\cpg(\d{1,9})|([^\\{};]+);|\\[a-zA-Z*]+-?\d* ?"
)
_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
    204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_SYMBOLS = 2


class Fonts:
    """The encoding of each font; fonts that are not known have that of the file.

    Attributes:
        codec: encoding of the file.
    """

    def __init__(self) -> None:
        self.codec = "cp1252"
        self._codecs: dict[int, str] = {}
        self._names: dict[int, str] = {}

    def read(self, table: str) -> None:
        """Read the font table."""
        font = charset = None
        for match in _FONT.finditer(table):
            if match[1]:
                font, charset = int(match[1]), None
            elif font is None:
                continue
            elif match[2]:
                charset = int(match[2])
                if charset in _CHARSETS:
                    self._codecs[font] = _CHARSETS[charset]
            elif match[3] and (codec := code_page(match[3])):
                self._codecs[font] = codec
            elif match[4] and charset == _SYMBOLS:
                self._names[font] = match[4].strip()

    def decoder(self, font: int) -> codecs.IncrementalDecoder:
        """Make a decoder for the bytes of a font."""
        return codecs.getincrementaldecoder(self._codecs.get(font, self.codec))("replace")

    def shown(self, letter: str, font: int) -> str:
        """Return a letter as its font shows it, if that is a font of symbols."""
        name = self._names.get(font)
        if name is None or not ("!" <= letter <= "ÿ" or "\uf020" <= letter <= "\uf0ff"):
            return letter
        return symbol(ord(letter), name)

    def has_symbols(self, font: int) -> bool:
        """Whether a font is one of symbols."""
        return font in self._names


def code_page(number: str) -> str | None:
    """Return the codec of a Windows code page; None if Python has none."""
    named = {"65001": "utf-8", "10000": "mac_roman", "936": "gb18030"}.get(number, f"cp{number}")
    try:
        return codecs.lookup(named).name
    except LookupError:
        return None
