"""Write the numbers of list items: 1, a, iv, 一."""

from __future__ import annotations

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN = 4000
_LETTERS = {
    "a": "abcdefghijklmnopqrstuvwxyz",
    "α": "αβγδεζηθικλμνξοπρστυφχψω",
    "а": "абвгдежзиклмнопрстуфхцчшщыэюя",
}
_COUNTS = "〇一二三四五六七八九十"


def numeral(number: int, kind: str, *, repeated: bool = False) -> str:
    """Write a number in one of the kinds 1, 01, 1st, a, i, α, а, their capitals, 一 and ①.

    Other kinds are written as 1. After z comes aa; then ab, or if letters are ``repeated``, bb.

    >>> numeral(4, "i"), numeral(28, "A"), numeral(3, "01"), numeral(12, "一")
    ('iv', 'AB', '03', '十二')
    """
    if kind in ("i", "I") and 0 < number < _MAX_ROMAN:
        letters = ""
        for value, sign in _ROMAN:
            letters += sign * (number // value)
            number %= value
        return letters.upper() if kind == "I" else letters
    alphabet = _LETTERS.get(kind.lower())
    if alphabet and 0 < number < 1 << 16:
        letters = ""
        if repeated:
            times, rest = divmod(number - 1, len(alphabet))
            letters = alphabet[rest] * min(times + 1, _MAX_ROMAN)
        while number and not repeated:
            number, rest = divmod(number - 1, len(alphabet))
            letters = alphabet[rest] + letters
        return letters.upper() if kind.isupper() else letters
    if kind == "一" and 0 < number < 100:
        tens, ones = divmod(number, 10)
        ten = _COUNTS[tens] * (tens > 1) + "十" * (tens > 0)
        return ten + _COUNTS[ones] * (ones > 0)
    if kind == "①" and 0 < number <= 20:
        return chr(ord(kind) + number - 1)
    if kind == "1st":
        last = 0 if number // 10 % 10 == 1 else number % 10
        return f"{number}{('th', 'st', 'nd', 'rd')[last] if last < 4 else 'th'}"
    return f"{number:02}" if kind == "01" else str(number)
