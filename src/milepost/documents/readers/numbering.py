"""Write the numbers of list items: 1, a, iv, 一."""

from __future__ import annotations

import unicodedata

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN = 4000
_LETTERS = {
    "a": "abcdefghijklmnopqrstuvwxyz",
    "α": "αβγδεζηθικλμνξοπρστυφχψω",
    "а": "абвгдежзиклмнопрстуфхцчшщыэюя",
    "ア": "アイウエオカキクケコサシスセソタチツテトナニヌネノ"
    "ハヒフヘホマミムメモヤユヨラリルレロワヲン",
    "イ": "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰ"
    "ノオクヤマケフコエテアサキユメミシヱヒモセス",
    "가": "가나다라마바사아자차카타파하",
    "ㄱ": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
    "ก": "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ",
    "أ": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "ا": "ابجدهوزحطيكلمنسعفصقرشتثخذضظغ",
    "甲": "甲乙丙丁戊己庚辛壬癸",
    "子": "子丑寅卯辰巳午未申酉戌亥",
}
for _kana in "アイ":
    _LETTERS[chr(ord(_kana) - 96)] = "".join(chr(ord(sign) - 96) for sign in _LETTERS[_kana])
_HEBREW = ("", *"אבגדהוזחט"), ("", *"יכלמנסעפצ"), ("", *"קרשת")
_ENCLOSED = {"①": 20, "⑴": 20, "⒈": 20, "❶": 10, "㊀": 10}  # and how many there are
_COUNTS = "〇一二三四五六七八九十"
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "one hundred"
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip


def numeral(number: int, kind: str, *, repeated: bool = False) -> str:
    """Write a number in a kind that its first number names: 1, 01, 1st, a, A, i, α, 一, ①, ア, १.

    Other kinds are written as 1. After z comes aa; then ab, or if letters are ``repeated``, bb. One
    and First are English words up to a hundred.

    >>> numeral(4, "i"), numeral(28, "A"), numeral(3, "01"), numeral(12, "一"), numeral(12, "१")
    ('iv', 'AB', '03', '十二', '१२')
    >>> numeral(42, "One"), numeral(42, "First"), numeral(20, "First")
    ('Forty-two', 'Forty-second', 'Twentieth')
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
    if 0 < number <= _ENCLOSED.get(kind, 0):
        return chr(ord(kind) + number - 1)
    if kind == "א" and 0 < number < 500:
        rest = number % 100
        low = f"{_HEBREW[1][rest // 10]}{_HEBREW[0][rest % 10]}"
        return f"{_HEBREW[2][number // 100]}{low}".replace("יה", "טו").replace("יו", "טז")
    if len(kind) == 1 and unicodedata.decimal(kind, 0) == 1:
        written = "".join(chr(ord(kind) - 1 + int(digit)) for digit in str(abs(number)))
        return "-" * (number < 0) + written
    if kind in ("One", "First") and 0 <= number <= 100:
        return _in_words(number, is_ordinal=kind == "First")
    if kind == "1st":
        last = 0 if number // 10 % 10 == 1 else number % 10
        return f"{number}{('th', 'st', 'nd', 'rd')[last] if last < 4 else 'th'}"
    if kind == "- 1 -":
        return kind.replace("1", str(number))
    return f"{number:02}" if kind == "01" else str(number)


def _in_words(number: int, *, is_ordinal: bool) -> str:
    tens, ones = divmod(number, 10)
    words = [_SMALL[number]] if number < 20 else [_TENS[tens - 2], *([_SMALL[ones]] * (ones > 0))]
    if is_ordinal:
        last = words[-1]
        words[-1] = _ORDINALS.get(last) or f"{last.removesuffix('y')}{'ie' * last.endswith('y')}th"
    return "-".join(words).capitalize()
