"""Write the numbers of list items: 1, a, iv."""

from __future__ import annotations

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN = 4000


def numeral(number: int, kind: str) -> str:
    """Write a number in one of the kinds 1, a, A, i, I and 01; other kinds are written as 1.

    >>> numeral(4, "i"), numeral(28, "A"), numeral(3, "01")
    ('iv', 'AB', '03')
    """
    if kind in ("i", "I") and 0 < number < _MAX_ROMAN:
        letters = ""
        for value, sign in _ROMAN:
            letters += sign * (number // value)
            number %= value
        return letters.upper() if kind == "I" else letters
    if kind in ("a", "A") and 0 < number < 1 << 16:
        letters = ""
        while number:
            number, rest = divmod(number - 1, 26)
            letters = chr(ord(kind) + rest) + letters
        return letters
    return f"{number:02}" if kind == "01" else str(number)
