"""Show superscripts and subscripts, so that 10 to the power of 6 is not read as 106.

Readers put signs around raised and lowered words; ``shown`` replaces the signs when the paragraph
is complete, because the right form depends on what is before and after: ``10^6``, ``x^(n+1)``,
``word[3]`` for the mark of a note. What cannot be misread is joined: 1st, H2O, Na+.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from milepost.documents.abbreviations import OPENERS

RAISED, LOWERED, NOTE, END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
"""Signs before raised words, lowered words and the mark of a note, and after each of them. They are
noncharacters, which no file may contain."""

_SIGNED = re.compile(f"([{RAISED}-{NOTE}])([^{RAISED}-{END}]*){END}")
_SIGN = re.compile(f"[{RAISED}-{END}]")
_LED = re.compile(f"([{RAISED}-{NOTE}])\\s+")
_SPLIT = re.compile(f"{END}([{RAISED}-{NOTE}])")
_NUMBERS = re.compile(r"\d{1,3}(?:(?:\s*[,;–-]\s*|\s+)\d{1,3})*[,;]?")
_LETTERED = re.compile(  # no ending: XIV^e, 2^d
    r"(?:[a-cf-h]|[a-z]{1,2}\d{1,2}|[a-z](?=,))(?:,\s*(?:[a-z]\d{0,2}|\d{1,3}|[*†‡§¶]))*,?"
)
_NOTE_MARK = re.compile(rf"{_NUMBERS.pattern}|{_LETTERED.pattern}|[a-zA-Z]")
_ROMAN = re.compile(r"[IVXLCDM]+")
_ORDINAL = re.compile(
    r"st|nd|rd|th|e|er|re|ère|ers|res|es|d|de|nde|ème|eme|me|o|a|os|as|ter|bis|[ªº]|TM|®", re.I
)
_COUNT = re.compile(r"(?<![\d.,$€£¥−])(?<![\d$€£¥]\s)\d{1,3}$")
"""A whole number of few digits, behind which a single letter may make an ordinal."""
_POWER = re.compile(r"[+\-−–±]?\d|[+\-−–±]\w")
_TERMS = re.compile(r".[+\-−–±*/=·]\w")
_OWNER = re.compile(r"[\w.,;:!?)\]\"”’%]\s+$")
_APART = re.compile(rf"[+\-−–]?{_NUMBERS.pattern}")
_BEHIND = re.compile(r"[\s.,;:!?]|$")
"""A word, a mark that is apart from it and no part of a fraction, and what follows."""
_LETTERS = re.compile(r"[^\W\d_]+$")
_WORD = re.compile(r"[^\W\d_]{4}")
_REACH = 60  # characters before a mark that decide its form
_UNIT = 3  # letters of the longest units and symbols that have powers: km², cos²


class Look(NamedTuple):
    """How letters are shown; None if it is not said."""

    hidden: bool | None = None  # whether they are not shown
    struck: bool | None = None  # whether they are struck out
    script: str | None = None  # ``RAISED``, ``LOWERED``, or an empty string for neither
    font: str | None = None  # name of their font
    bold: bool | None = None

    def over(self, base: Look) -> Look:
        """Return this look, with that of ``base`` where it says nothing."""
        pairs = zip(self, base, strict=True)
        return Look._make(theirs if own is None else own for own, theirs in pairs)


PLAIN = Look()


def signed(words: str, sign: str | None) -> str:
    """Put a sign before words and the end of it after them."""
    return f"{sign}{words}{END}" if sign and words.strip() else words


raised, lowered = partial(signed, sign=RAISED), partial(signed, sign=LOWERED)
"""Put signs around a superscript or a subscript."""


def shown(text: str) -> str:
    """Replace the signs of a paragraph.

    >>> shown(f"10{raised('6')} bees and {raised('14')}C{raised('[1]')} in H{lowered('2')}O")
    '10^6 bees and ^14C[1] in H2O'
    """
    if not (END in text or RAISED in text or LOWERED in text or NOTE in text):
        return text
    text = _LED.sub(r"\1", text)
    # A superscript may be stored in several pieces.
    text = _SPLIT.sub(
        lambda m: "" if text.rfind(m[1], 0, m.start()) == _opened(text, m.start()) else m[0], text
    )
    parts: list[str] = []
    last = 0
    for place, form in forms(text):
        parts += [text[last:place], form]
        last = place + 1
    return "".join([*parts, text[last:]])


def _opened(text: str, end: int) -> int:
    return max(text.rfind(sign, 0, end) for sign in (RAISED, LOWERED, NOTE))


def forms(text: str) -> Iterator[tuple[int, str]]:
    """Yield the place of each sign in a paragraph, ascending, and what it is replaced by."""
    last = 0
    for match in _SIGNED.finditer(text):
        yield from ((stray.start(), "") for stray in _SIGN.finditer(text, last, match.start()))
        before = _SIGN.sub("", text[max(0, match.start() - _REACH) : match.start()])
        after = text[match.end() : match.end() + _REACH]
        opening, closing = _form(match[1], before, match[2].strip(), after)
        yield match.start(), opening
        yield match.end() - 1, closing
        last = match.end()
    yield from ((stray.start(), "") for stray in _SIGN.finditer(text, last))


def _form(kind: str, before: str, mark: str, after: str) -> tuple[str, str]:
    left, right = before[-1:], _SIGN.sub("", after)[:1]
    if not mark:
        return "", ""
    if kind == LOWERED:
        if mark[-1].isdigit() and right.isdigit() and after[:1] == right:
            return "_(", ")"
        return ("_", "") if left.isdigit() and mark[0].isdigit() else ("", "")
    if mark[0] in "[(*†‡§¶":
        return "", ""
    if after[:1] in ("/", "⁄") and after[1:2] == LOWERED:
        return (" ", "") if left.isdigit() else ("", "")  # 2 1/2
    if _OWNER.search(before) and _APART.fullmatch(mark) and _BEHIND.match(after):
        before = before.rstrip()
        left = before[-1]
    if not left or left.isspace() or left in "([":
        begins = not before.rstrip() or before.rstrip()[-1] in ".!?"
        return _in_front(mark, after, begins=begins)
    if _NOTE_MARK.fullmatch(mark) and (kind == NOTE or _is_note(before, mark)):
        return "[", "]"
    if not _is_power(before, mark, after):
        return "", ""
    grouped = bool(_TERMS.search(mark)) or (mark[-1].isdigit() and right.isdigit())
    return ("^(", ")") if grouped else ("^", "")


def _in_front(mark: str, after: str, *, begins: bool) -> tuple[str, str]:
    """Write a mark in front of a word: of an isotope (^14C), or the number of a note or verse.

    ``begins`` says that a sentence begins, which "In" and "He" may, too.
    """
    follower = re.match(r"[^\W\d_]+", after)
    if not mark[-1].isdigit() or not (follower or after[:1].isdigit()):
        return "", ""
    name = follower[0] if follower else ""
    symbol = len(name) < _UNIT and name[:1].isupper()
    if begins and len(mark) < _UNIT and name.lower() in OPENERS:
        symbol = False
    return ("^", "") if symbol else ("", " ")


def _is_note(before: str, mark: str) -> bool:
    """Whether a mark is that of a note, which stands after a word or a punctuation mark."""
    is_lettered = _LETTERED.fullmatch(mark) is not None
    if not (is_lettered or _NUMBERS.fullmatch(mark)):
        return False
    left = before[-1]
    if left in ")]":
        opened = max(before.rfind("("), before.rfind("["))
        return bool(_WORD.search(before, max(0, opened)))
    word = _LETTERS.search(before)
    if left.isdigit() or word is None or left > "\u2e80":
        return not left.isdigit()
    name = word[0]
    if is_lettered and _ROMAN.fullmatch(name):
        return False
    if is_lettered and "," in mark:  # no power
        return len(name) > 1
    return len(name) > _UNIT or (len(name) == _UNIT and name[0].isupper())


def _is_power(before: str, mark: str, after: str) -> bool:
    if _POWER.match(mark):
        return True
    if before[-1].isdigit() and not _TERMS.search(mark):
        return mark.isalpha() and not _is_ordinal(before, mark, after)
    word = _LETTERS.search(before)
    variable = word is not None and len(word[0]) == 1 and word[0].islower()
    return bool(_TERMS.search(mark)) or (variable and len(mark) == 1 and mark in "nmkijtTxyz")


def _is_ordinal(before: str, mark: str, after: str) -> bool:
    """Whether letters belong to the number in front of them; a, d and e may mark notes, too."""
    if not _ORDINAL.fullmatch(mark):
        return False
    if len(mark) > 1 or not mark.isascii():
        return True
    count = _COUNT.search(before)
    is_cell = count is not None and count[0] == before.strip() and not after.strip()
    return count is not None and not (is_cell and mark in "adAD")  # 2e may be alone, as in French
