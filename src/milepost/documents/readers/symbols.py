"""The characters of the fonts Symbol and Wingdings, whose codes are not those of their letters."""

from __future__ import annotations

_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"
    "‾αβχδεφγηιϕκλµνοπθρστυϖωξψζ{|}∼"
)
_SYMBOL_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"
    "⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\0〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
_WINGDINGS = {
    0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x46: "☞", 0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6D: "❍",
    0x6E: "■", 0x6F: "□", 0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x74: "⧫", 0x75: "◆", 0x76: "❖",
    0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "◻", 0xB7: "•", 0xD8: "➢", 0xDF: "←", 0xE0: "→",
    0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip


def symbol(code: int, font: str) -> str:
    """Return the character of a code in a symbol font; empty if it is not known.

    >>> symbol(0xF06D, "Symbol"), symbol(0xFC, "Wingdings")
    ('µ', '✓')
    """
    if 0xF000 <= code <= 0xF0FF:
        code -= 0xF000
    named = font.lower()
    if "wingdings" in named:
        return _WINGDINGS.get(code, "") if named.strip() == "wingdings" else ""
    if "symbol" in named:
        if 0x20 <= code < 0x20 + len(_SYMBOL):
            return _SYMBOL[code - 0x20]
        if 0xA0 <= code < 0xA0 + len(_SYMBOL_HIGH):
            return _SYMBOL_HIGH[code - 0xA0].strip("\0")
        return ""
    return chr(code) if code < 0xE000 and chr(code).isprintable() else ""


def unsymboled(text: str, font: str) -> str:
    """Replace the private characters of a text in a symbol font, U+F020 to U+F0FF."""
    if not any("\uf020" <= each <= "\uf0ff" for each in text):
        return text
    return "".join(
        symbol(ord(each), font) if "\uf020" <= each <= "\uf0ff" else each for each in text
    )
