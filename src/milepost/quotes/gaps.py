r"""What may differ between two letters, or at the ends of a quotation, and what may not.

White space, hyphens and dashes are not among the folded letters. They are compared here, so that
"exam-\nple" is "example", but "re-sign" is not "resign", "now here" is not "nowhere", and no
number becomes another one: "-5" is not "5", "3. 5" is not "3.5", "1 000" is not "1000".
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

from milepost.language.patterns import is_dash, late
from milepost.language.terms import UNSPACED
from milepost.quotes.folding import Folded

Reason = Literal["white space", "hyphenation", "case", "typography", "cell borders"]
"""What had to be ignored for a quotation to match."""

_UNSPACED = late(UNSPACED)
_HYPHENS = "-\u2010\u2011"
_THOUSANDS = "\u00a0\u2009\u202f\u2007"  # spaces that group digits
_POINTS = ".,:/'"  # between digits they are part of a number, a date or a time
_POWERS = "^\u207a\u207b"


def is_word(letter: str) -> bool:
    """Whether a folded letter belongs to a word or a number."""
    return letter.isalnum() or _continues(letter)


def is_unspaced(letter: str) -> bool:
    """Whether words of the letter's script stand beside each other without a space."""
    return _UNSPACED.match(letter) is not None


def _continues(letter: str) -> bool:
    """Whether a letter is a part of the one before: a combining mark, a vowel of Hangul."""
    return unicodedata.category(letter)[0] == "M" or "\u1160" <= letter <= "\u11ff"


@dataclass(frozen=True, slots=True)
class _Gap:
    """A gap's dashes, whether white space is in front of and behind them, and line breaks."""

    dashes: str
    before: str
    after: str

    @property
    def is_break(self) -> bool:
        """Whether it is what the end of a line leaves: one hyphen, and then white space."""
        return len(self.dashes) == 1 and not self.before and bool(self.after)


def _parsed(gap: str) -> _Gap:
    shown = "".join(each for each in gap if each.isspace() or is_dash(each))
    signs = [at for at, each in enumerate(shown) if not each.isspace()]
    if not signs:
        return _Gap("", shown, "")
    dashes = "".join(shown[at] for at in signs)
    return _Gap(dashes, shown[: signs[0]], shown[signs[-1] + 1 :])


def gap_reason(one: Folded, i: int, other: Folded, j: int) -> Reason | Literal[""] | None:
    """Why the gaps behind two equal letters count as one: "" if equal, None if they do not."""
    notes, marks = one.notes(i), other.notes(j)
    if notes and marks and notes != marks:
        return None
    a, b = one.gap(i), other.gap(j)
    if a == b:
        return ""
    left, right = one.letters[i], one.letters[i + 1]
    here, there = _parsed(a), _parsed(b)
    if here == there:
        return "typography"  # soft hyphens and other invisible characters
    if bool(here.dashes) != bool(there.dashes):
        dashed = here if here.dashes else there
        bare = there if here.dashes else here
        undone = dashed.is_break and not bare.before and left.isalpha() and right.isalpha()
        return "hyphenation" if undone else None
    if here.dashes:
        return _dash_reason(here, there, left, right)
    if bool(here.before) != bool(there.before) and _joins(one, i):
        return None
    return "white space"


def _dash_reason(here: _Gap, there: _Gap, left: str, right: str) -> Reason | None:
    """Why two gaps with dashes are the same; None where they are not."""
    broken = here if here.is_break else there
    whole = there if here.is_break else here
    if broken.is_break and not (whole.before or whole.after) and is_word(left):
        # At the end of a line: "self-\ncontained", "10-\n15".
        if not ("\n" in broken.after or right.isalpha()):
            return None
        return "hyphenation" if broken.dashes in _HYPHENS else "white space"
    spaced = [bool(gap.before) + 2 * bool(gap.after) for gap in (here, there)]
    if spaced[0] == spaced[1]:
        return "typography" if here.dashes != there.dashes else "white space"
    if right.isdigit() or right in _POINTS:
        # The dash may be a minus sign, which white space would part from its number.
        return None if spaced[0] // 2 != spaced[1] // 2 or is_word(left) else "white space"
    # "word—word" is "word – word"; but "man-eating" is not "man - eating".
    close = [gap for gap, room in zip((here, there), spaced, strict=True) if not room]
    if any(len(gap.dashes) == 1 and gap.dashes in _HYPHENS for gap in close):
        return None
    return "typography"


def _joins(text: Folded, i: int) -> bool:
    letters = text.letters
    left, right = letters[i], letters[i + 1]
    if is_word(left) and is_word(right):
        if left.isdigit() and right.isdigit():
            return True
        return not (is_unspaced(left) and is_unspaced(right))
    if left in _POINTS and right.isdigit():
        return i > 0 and letters[i - 1].isdigit()
    if left.isdigit() and right in _POINTS:
        return letters[i + 2 : i + 3].isdigit()
    return False


def is_negative(text: Folded, at: int) -> bool:
    """Whether a number begins at letter ``at`` with a minus sign in front.

    A dash between two words is not a sign, nor is that of "10-15".
    """
    gap = text.gap(at - 1)
    return _is_number(text.letters[at]) and _signed(gap) and not _between(text, at)


def starts_word(given: Folded, text: Folded, at: int) -> bool:
    """Whether a quotation that matches from letter ``at`` on begins where a word of the text does.

    A number may not begin inside of another one, nor lose its sign.
    """
    letters, first = text.letters, given.letters[0]
    gap, left = text.gap(at - 1), letters[at - 1 : at]
    if at and text.places[at - 1] == text.places[at]:
        return False  # the second half of a ligature
    if _signed(given.gap(-1)):
        return _signed(gap) and not _between(text, at)
    if is_negative(text, at):
        return False
    if not left:
        return True
    if not gap and is_word(left) and is_word(first) and not _parted(left, first):
        return False
    if not _is_number(first):
        return True
    if not gap and left in _POWERS and first.isdigit():
        return False  # 10^6 is not 6
    if gap:
        grouped = left.isdigit() and all(each in _THOUSANDS for each in gap)
        return not (grouped and _group(given.letters))
    if first in _POINTS:
        return not (left.isdigit() and given.letters[1:2].isdigit())
    goes_on = left in _POINTS and letters[max(0, at - 2) : at - 1].isdigit()
    return not (goes_on and not text.gap(at - 2))


def ends_word(text: Folded, last: int) -> bool:
    """Whether a quotation whose last letter is ``last`` ends where a word of the text does."""
    letters, final = text.letters, text.letters[last]
    if last + 1 == len(letters):
        return True
    if text.places[last] == text.places[last + 1]:
        return False
    gap, right = text.gap(last), letters[last + 1]
    if not gap and _continues(right):
        return False
    if not gap and is_word(final) and is_word(right) and not _parted(final, right):
        return False
    if not final.isdigit():
        return True
    if gap:
        return not (all(each in _THOUSANDS for each in gap) and _group(letters[last + 1 :]))
    if right in _POWERS:
        return False
    goes_on = right in _POINTS and letters[last + 2 : last + 3].isdigit()
    return not (goes_on and not text.gap(last + 1))


def _is_number(letter: str) -> bool:
    """Whether a number, or an amount of money, may begin with a letter."""
    return letter.isdigit() or letter in _POINTS or unicodedata.category(letter) == "Sc"


def _between(text: Folded, at: int) -> bool:
    """Whether nothing but one dash is between letter ``at`` and a word before it."""
    return at > 0 and len(text.gap(at - 1)) == 1 and is_word(text.letters[at - 1])


def _signed(gap: str) -> bool:
    """Whether a dash stands directly in front of the letter behind a gap."""
    return gap != "" and is_dash(gap[-1])


def _parted(left: str, right: str) -> bool:
    if _continues(right):
        return False
    return is_unspaced(left) or is_unspaced(right)


def _group(letters: str) -> bool:
    """Whether letters begin with a group of three digits and no fourth."""
    group = letters[:3]
    return group.isdecimal() and len(group) == 3 and not letters[3:4].isdecimal()
