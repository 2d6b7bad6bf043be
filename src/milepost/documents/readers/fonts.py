"""The fonts of an RTF file and the encodings of their letters; characters of symbol fonts.

The codes of the fonts Symbol and Wingdings are not those of their letters.
"""

from __future__ import annotations

import codecs
import re

_FONT = re.compile(
    r"\\f(\d{1,9})|\\fcharset(\d{1,9})|\\cpg(\d{1,9})|([^\\{};]+);|\\[a-zA-Z*]+-?\d* ?"
)
_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
    204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_CODE_PAGES = {
    "936": "gb18030", "10000": "mac_roman", "20127": "ascii", "20866": "koi8_r", "21866": "koi8_u",
    "50220": "iso2022_jp", "51932": "euc_jp", "51949": "euc_kr", "54936": "gb18030",
    "65001": "utf-8", **{str(28590 + n): f"iso8859_{n}" for n in range(1, 16)},
}  # fmt: skip
"""Code pages whose codecs have other names."""
_SYMBOL_CHARSET = 2

_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"
    "‾αβχδεφγηιϕκλµνοπθρστυϖωξψζ{|}∼"
)
_SYMBOL_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"
    "⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\0〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
# Signs of several weights, and those that fonts rarely have, are written as the plain sign.
_WINGDINGS = {
    0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x46: "☞", 0x4A: "☺", 0x4C: "☹", 0x56: "✞", 0x58: "✠",
    0x59: "✡", 0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "□", 0x70: "□", 0x71: "❑", 0x72: "❒",
    0x73: "⬧", 0x74: "⧫", 0x75: "◆", 0x76: "❖", 0x77: "⬩", 0x78: "⌧", 0x7A: "⌘", 0x7F: "▯",
    0x9E: "·", 0x9F: "•", 0xA0: "▪", 0xA1: "○", 0xA2: "○", 0xA3: "○", 0xA4: "◉", 0xA5: "◎",
    0xA6: "❍", 0xA7: "▪", 0xA8: "◻", 0xAA: "✦", 0xAB: "★", 0xAC: "✶", 0xAD: "✴", 0xAE: "✹",
    0xAF: "✵", 0xB1: "⌖", 0xB2: "⟡", 0xB5: "✪", 0xB6: "✰", 0xB7: "•", 0xD8: "➢", 0xDF: "←",
    0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE3: "↖", 0xE4: "↗", 0xE5: "↙", 0xE6: "↘", 0xE7: "⬅",
    0xE8: "➔", 0xE9: "⬆", 0xEA: "⬇", 0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧", 0xF2: "⇩", 0xF3: "⬄",
    0xF4: "⇳", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
    **dict(enumerate("⓪➀➁➂➃➄➅➆➇➈➉⓿➊➋➌➍➎➏➐➑➒➓", 0x80)),
}  # fmt: skip
_WINGDINGS_2 = {
    0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x55: "⊗", 0x56: "⊗",
    **dict(enumerate("⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿", 0x69)),
    **dict(enumerate("·••●○○○○⊙⦿▪▪◾■□□□□▣▣▣▣⬩⬩⬩⬥◇◈◈◈◈⬪⬪⬪⬧◊◊◖◗", 0x95)),
    0xBE: "■", 0xBF: "◆", 0xC0: "⬟", 0xC2: "⬣", 0xC3: "⬢", **dict.fromkeys(range(0xC6, 0xCD), "✚"),
    **dict.fromkeys(range(0xCD, 0xD4), "✕"), **dict.fromkeys(range(0xD4, 0xE0), "✱"),
    **dict.fromkeys(range(0xE0, 0xE5), "✳"),
    **dict(enumerate("✦✦★★✶✶✴✴✹✹", 0xE7)), 0xF3: "✯", 0xF8: "※", 0xF9: "⁂",
}  # fmt: skip
_SYMBOLS = re.compile(r"symbol$|(?:wing|web)dings", re.I)
_CODES = re.compile("[!-ÿ\uf020-\uf0ff]")  # what stands for a symbol
_UNKNOWN = "\ufffd"


class Fonts:
    """The encoding of each font; fonts that are not known have that of the file."""

    def __init__(self, codec: str) -> None:
        self.codec = codec  # encoding of the file
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
            elif match[4] and charset == _SYMBOL_CHARSET:
                self._names[font] = match[4].strip()

    def decoder(self, font: int) -> codecs.IncrementalDecoder:
        """Make a decoder for the bytes of a font."""
        return codecs.getincrementaldecoder(self._codecs.get(font, self.codec))("replace")

    def shown(self, words: str, font: int) -> str:
        """Return words as their font shows them, if that is a font of symbols."""
        name = self._names.get(font)
        return words if name is None else _CODES.sub(lambda code: symbol(ord(code[0]), name), words)

    def has_symbols(self, font: int) -> bool:
        """Whether a font is one of symbols."""
        return font in self._names


def code_page(number: str) -> str | None:
    """Return the codec of a Windows code page; None if Python has none."""
    try:
        return codecs.lookup(_CODE_PAGES.get(number, f"cp{number}")).name
    except LookupError:
        return None


def symbol(code: int, font: str) -> str:
    """Return the character of a code in a symbol font, U+FFFD if it is not known.

    The code of a letter that cannot be printed gives an empty text.

    >>> symbol(0xF06D, "Symbol"), symbol(0xFC, "Wingdings")
    ('µ', '✓')
    """
    if 0xF000 <= code <= 0xF0FF:
        code -= 0xF000
    named = font.lower()
    if "dings" in named:
        known = {"wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}.get(named.strip(), {})
        return known.get(code, _UNKNOWN)
    if "symbol" in named:
        if 0x20 <= code < 0x20 + len(_SYMBOL):
            return _SYMBOL[code - 0x20]
        if 0xA0 <= code < 0xA0 + len(_SYMBOL_HIGH):
            return _SYMBOL_HIGH[code - 0xA0].replace("\0", _UNKNOWN)
        return _UNKNOWN
    return chr(code) if code < 0xE000 and chr(code).isprintable() else ""


def unsymboled(text: str, font: str) -> str:
    """Replace the letters of a text in a symbol font, and private characters in any."""
    first = "!" if _SYMBOLS.match(font) else "\uf020"
    if all(each < first for each in text):
        return text
    return "".join(symbol(ord(each), font) if first <= each <= "\uf0ff" else each for each in text)
