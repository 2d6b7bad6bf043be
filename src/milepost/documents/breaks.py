"""Find sentence ends inside a paragraph, by its words and punctuation.

For scripts with full stops and spaces, nupunkt, whose trained model knows abbreviations, proposes
sentence ends and the rules here decide. In scripts with their own marks (。 । ؟ ።) the marks decide
alone. Thai, Lao, Khmer and Burmese separate clauses by spaces.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from typing import Any

from milepost.documents import abbreviations
from milepost.documents.cuts import divides
from milepost.language.patterns import late

_CLOSERS = "\"'”’»›)]}」』）〉》】〕〗］｝"
_CLOSING = rf"(?:[{re.escape(_CLOSERS)}]|[ \u00a0\u202f]»(?!\w))*"  # « French » has spaces inside
_CITED = r"(?:[ \u200a]?\[\d{1,4}(?:[,–-]\s?\d{1,4})*\](?::\s?\d{1,5}(?:[–-]\d{1,5})?)?)*"
_BARS = r"(?:\|(?!\S)\s*)*"
"""What parts a cell of a row from the next: a sentence does not begin with it."""
_SPACED = re.compile(
    rf"(?:[.!?…؟۔]|(?<=[\u0370-\u03ff\u1f00-\u1fff])[;\u037e]){_CLOSING}[“«]?{_CITED}"  # „German.“
    rf"\s+{_BARS}(?=\S)"
)
"""A sentence end mark with any closing marks and citations, followed by white space. The question
mark of Greek is a semicolon."""

_OWN = late(
    rf"(?:(?:[。！？｡]|(?<!\d)．)+{_CLOSING}\s*"  # Chinese, Japanese
    r"|[।॥]\s*(?:[\d०-९./-]+\s*॥)?[\"”’)]*\s*"  # Devanagari and its neighbours; verse numbers
    r"|(?<![؟۔])[؟۔]+[\"”’»)]*\s+"  # Arabic, Urdu
    r"|[։።፧፨။។៕᠃᠉꘎꘏༎]+[\"”’»)]*\s*"  # Armenian, Ethiopic, Burmese, Khmer …
    rf"|(?<![!?])[!?]+{_CLOSING}(?=[\u3041-\u30ff\u4e00-\u9fff])){_BARS}"
)
_GOES_ON = re.compile(r"[\u3041-\u309f、，]")
_BY_SPACES = re.compile(r"(?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\s+(?=\S)")
_BEYOND = late("[^\x00-\u0588\u2000-\u2fff\U00010000-\U0010ffff]")
"""A text without these cannot match ``_OWN`` or ``_BY_SPACES``; this test is 13 times faster."""

_MIN_CELL = 40
"""Minimum length of a cell that begins a sentence within its row."""

_SHORTENED = re.compile(r"(?:^|(\| ))[^\W\d_]{1,6}$", re.MULTILINE)
_SHORT_CELL = re.compile(r"[^\n|]{,39}(?: \||\n|\Z)")
"""A word that may be shortened and begins a line or cell, and what ends one soon."""

_MIN_BY_SPACES = 60
"""Minimum length of a Thai sentence that ends at a space, because spaces also separate clauses."""

_WORD = re.compile(r"[^\W_]+")
_OPENING = "\"'“‘«„([{¿¡–—- "
_PREFIXED = _OPENING + "*#/>"  # lines of comments and quoted mail begin so
_ENUMERATOR = re.compile(
    r"[*#/>\s]*[(\[]?(?:[A-Z]?\d{1,3}(?:\.\d{1,3})*|[^\W\d_]|[ivxIVX]{1,5})[.)\]]+\s*"
)
_OF_DATE = re.compile(r"\d{1,4}\.(?!\S)")
_ROMAN = re.compile(r"[IVXLCM]+")
_BRACKET_CHARS = 300  # maximum characters for which an open bracket keeps a sentence together
_WORD_CHARS = 40  # maximum characters of the word before a full stop


class Breaker:
    """Finds the sentence ends of one text, paragraph by paragraph."""

    def __init__(self, text: str) -> None:
        self._text = text
        beyond = bool(_BEYOND.search(text))
        self._own = beyond and bool(_OWN.search(text))
        self._by_spaces = beyond and bool(_BY_SPACES.search(text))
        # In a text without capitals, a lower-case letter is no evidence against a sentence end.
        sample = text[:20_000]
        self._cased = sum(map(str.isupper, sample)) * 200 > sum(map(str.islower, sample))

    def breaks(self, start: int, end: int) -> list[int]:
        """Find the offsets inside ``text[start:end]``, ascending, where a sentence begins."""
        found = set(self._spaced(start, end))
        if self._own:
            found.update(self._marked(start, end))
        if self._by_spaces:
            found.update(self._clauses(start, end, sorted(found)))
        return sorted(offset for offset in found if divides(self._text, offset))

    def _spaced(self, start: int, end: int) -> Iterator[int]:
        """Yield sentence ends at ``.``, ``!``, ``?`` and white space."""
        text = self._text
        matches = [match for match in _SPACED.finditer(text, start, end) if match.end() < end]
        if not matches:
            return
        trained = [first for _, (first, _) in _model().tokenize_with_spans(text[start:end])]
        last, seen, depth = start, start, 0
        for match in matches:
            place = match.end()
            depth += text.count("(", seen, place) - text.count(")", seen, place)
            depth, seen = max(0, depth), place
            # nupunkt may begin a sentence at a closing mark or citation; this splitter does not.
            after = bisect_right(trained, match.start() - start)
            agreed = after < len(trained) and trained[after] <= place - start
            if self._ends(match, last, agreed) and not (depth and self._held(last, place, end)):
                yield place
                last, depth = place, 0

    def _is_short_cell(self, place: int) -> bool:
        """Whether the cell that begins at ``place`` is shorter than a sentence within a row."""
        ahead = self._text[place : place + _MIN_CELL]
        return len(ahead) < _MIN_CELL or "\n" in ahead or " |" in ahead

    def _is_label(self, mark: int, place: int) -> bool:
        """Whether a short cell of a row begins with a short word: "Qty. Ordered", "Co. Cork"."""
        before = _SHORTENED.search(self._text, max(0, mark - 9), mark)
        rest = _SHORT_CELL.match(self._text, place)
        return bool(before and rest and (before[1] or rest[0].endswith("|")))

    def _held(self, last: int, place: int, end: int) -> bool:
        """Whether an open bracket is closed soon enough to keep the sentence together."""
        if place - last > _BRACKET_CHARS:
            return False
        return self._text.find(")", place, min(end, place + _BRACKET_CHARS)) >= 0

    def _ends(self, match: re.Match[str], last: int, agreed: bool) -> bool:
        """Whether a sentence ends at ``match``; ``agreed`` is nupunkt's decision."""
        text, mark, place = self._text, match.start(), match.end()
        if "|" in match[0] and self._is_short_cell(place):
            return False  # a figure or name stays in its row
        if text[mark] == "." and self._is_label(mark, place):
            return False
        if place - last < 16 and _ENUMERATOR.fullmatch(text, last, place):
            return False  # "2. Methods": the number opens the sentence
        ahead = text[place : place + 8].lstrip(_OPENING if "\n" not in match[0] else _PREFIXED)[:4]
        first = ahead[:1]
        if first and first in ".,;:!?…|\n":  # a new line behind a prefix without words
            return False
        small = self._cased and first.islower()
        if text[mark] != "." or (mark and text[mark - 1] in ". "):
            if text[mark] == "." and first.isdigit():
                return False  # the dots that lead to a page number
            return not small  # «Non! dit-il», "Really?" he asked; an ellipsis, closed or spaced
        before = ["", "", *text[max(last, mark - _WORD_CHARS) : mark].split()]
        return self._stop_ends(before, mark, place, first, small, agreed)

    def _stop_ends(
        self, before: list[str], mark: int, place: int, first: str, small: bool, agreed: bool
    ) -> bool:
        """Whether the full stop at ``mark`` ends a sentence, by the words before and after it."""
        text = self._text
        word = _without_article(before[-1].lstrip(_OPENING).rstrip(_CLOSERS))
        bare = word.lower()
        dated = len(bare) < 3 and _OF_DATE.match(before[-2])
        if bare.isdigit() and (dated or _OF_DATE.match(text, place)):
            return False  # 2023. 12. 31.
        following = _WORD.search(text, place, place + _WORD_CHARS)
        follower = following[0] if following else ""
        if bare in abbreviations.LEADING and not (word.isupper() and len(word) < 3):
            return False
        if first.isdigit() or text[place] in "([":
            if bare in abbreviations.NUMBERED or (bare in abbreviations.INNER and first.isdigit()):
                return False
        elif first.isupper():
            return self._before_capital(mark, before, follower.lower(), agreed)
        elif small:
            short = len(bare) <= 2
            return agreed and not (short or "." in bare or bare in abbreviations.INNER)
        elif first.islower() and bare in abbreviations.INNER:
            return False
        elif first.isalpha() and not first.islower():  # a script without capitals
            return agreed or (len(bare) > 1 and "." not in bare)
        return agreed

    def _before_capital(self, mark: int, before: list[str], follower: str, agreed: bool) -> bool:
        """Whether a full stop before a capital letter ends a sentence.

        ``before`` are the words before it, ``follower`` is the next word in lower case.
        """
        word = _without_article(before[-1].lstrip(_OPENING).rstrip(_CLOSERS))
        bare = word.lower()
        counted = before[-2][-1:].isdigit()  # "5 mm.", "75 mM.", "90 min."
        if bare in abbreviations.TITLES and not (counted and word[:1].islower()):
            return False
        if bare.isdigit() and len(bare) < 4 and _is_ordinal(before[-2], follower):
            return False
        initial = len(word) == 1 and word.isupper()
        if follower in abbreviations.OPENERS and (
            len(follower) > 1 or not (initial or bare in abbreviations.NUMBERED)
        ):
            return True
        if initial:
            return False
        if self._text[mark - 1] in ")]" or counted:
            return True
        known = bare in abbreviations.NUMBERED or bare in abbreviations.INNER
        plain = word.isalpha() and ((word.islower() and len(word) > 2) or word.isupper())
        return agreed or (plain and not known and not _ROMAN.fullmatch(word))

    def _marked(self, start: int, end: int) -> Iterator[int]:
        """Yield sentence ends at marks that need no white space after them."""
        text = self._text
        for match in _OWN.finditer(text, start, end):
            place = match.end()
            if place >= end:
                return
            # 「…。」と言った: the sentence continues after the quotation.
            if match[0][-1] in _CLOSERS and _GOES_ON.match(text, place):
                continue
            yield place

    def _clauses(self, start: int, end: int, known: list[int]) -> Iterator[int]:
        """Yield sentence ends at spaces, in scripts without spaces between words."""
        last, reached = start, 0
        for match in _BY_SPACES.finditer(self._text, start, end):
            place = match.end()
            while reached < len(known) and known[reached] <= place:
                last, reached = known[reached], reached + 1
            if place - last >= _MIN_BY_SPACES and end - place >= _MIN_BY_SPACES // 2:
                yield place
                last = place


def _is_ordinal(before: str, follower: str) -> bool:
    """Whether a number with a full stop is one of a sequence, by the words around it."""
    if before.lower().lstrip(_OPENING) in abbreviations.ORDINAL_LEADERS:
        return follower not in abbreviations.OPENERS
    return follower in abbreviations.ORDINAL_FOLLOWERS


def _without_article(word: str) -> str:
    """An abbreviation behind an article that lost its vowel: "dell'art. 3"."""
    behind = word.replace("’", "'").rpartition("'")[2]
    return behind if len(behind) > 2 else word


@cache
def _model() -> Any:
    """Load a private instance, because other callers can change the one that nupunkt shares."""
    from nupunkt.models import load_default_model

    model = load_default_model()
    for word in abbreviations.ORDINARY:
        model.remove_abbreviation(word)
    return model
