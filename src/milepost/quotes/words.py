"""A text as words that are compared whole: words, numbers, single characters, punctuation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from milepost._numpy import NDArray, np
from milepost.language.amounts import figures
from milepost.language.numbers import others
from milepost.language.patterns import late
from milepost.language.terms import MARKS, UNSPACED
from milepost.quotes.folding import Folded
from milepost.quotes.gaps import is_negative

_HANGUL = r"[\u1100-\u11ff\uac00-\ud7a3]"
"""Letters of words with spaces between them, though terms cut them as those of scripts without."""
_LETTER = rf"(?:(?!{UNSPACED})[^\W_]|{_HANGUL}|{MARKS})"
_HYPHEN = r"[-\u2010\u2011](?:[ \t]*\r?\n\s*)?"
_WORD = late(
    r"\d+(?:[.,]\d+)*"
    rf"|{_LETTER}+(?:(?:['’]|{_HYPHEN}){_LETTER}+)*"
    r"|\S"
)

WORD, SHORT, SIGN = 4, 2, 1
"""Weights of a word or number, of a word of at most three letters, of a punctuation mark."""

AmountSpan = tuple[int, int, str]
"""Start and end of a number with its unit or of a date, and what it is however it is written."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a folded text; what has no folded letter (a dash) is not among them.

    ``firsts`` and ``lasts``, ``(n,)`` int64, are the first letter of each word, and the one behind
    its last; ``values`` those of amounts.
    """

    folded: Folded
    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    forms: list[str]
    values: dict[str, str]

    def start(self, number: int) -> int:
        """Where a word starts in the text, in code points; a number starts with its sign."""
        first = int(self.firsts[number])
        return int(self.folded.places[first]) - is_negative(self.folded, first)

    def end(self, number: int) -> int:
        """Where it ends."""
        return self.folded.end(int(self.lasts[number]) - 1)


def words(folded: Folded, amounts: Sequence[AmountSpan] = ()) -> Words:
    r"""Cut a text into words, of which each of some amounts is one; these may not overlap.

    >>> from milepost.quotes.folding import fold
    >>> words(fold("The self-\ncontained cell costs 3.50.")).forms
    ['the', 'selfcontained', 'cell', 'costs', '3.50', '.']
    """
    spans: list[tuple[int, int]] = []
    at = 0
    for start, end, _ in amounts:
        spans += [match.span() for match in _WORD.finditer(folded.text, at, start)] + [(start, end)]
        at = end
    spans += [match.span() for match in _WORD.finditer(folded.text, at)]
    bounds = np.searchsorted(folded.places, np.array(spans, np.int64).reshape(-1, 2))
    firsts, lasts = bounds[bounds[:, 0] < bounds[:, 1]].T
    letters = folded.letters
    forms = [letters[a:b] for a, b in zip(firsts.tolist(), lasts.tolist(), strict=True)]
    places = np.searchsorted(folded.places, [each[:2] for each in amounts] or np.empty((0, 2)))
    values = {letters[a:b]: each[2] for (a, b), each in zip(places.tolist(), amounts, strict=True)}
    return Words(folded, firsts, lasts, forms, values)


def amounts_in(text: str) -> list[AmountSpan]:
    """The numbers with their units and the dates of a text, in order; a date in all its readings.

    >>> [(text, value) for text in ["on 5 May 2024, 12 km"] for _, _, value in amounts_in(text)]
    [('on 5 May 2024, 12 km', '2024-05-05'), ('on 5 May 2024, 12 km', '12 kilomet')]
    """
    found = [(start, end, form) for form, start, end in others(text)]
    found += ((each.start, each.end, each.key) for each in figures(text))
    kept: list[AmountSpan] = []
    for each in sorted(found, key=lambda each: (each[0], -each[1])):
        if not kept or each[0] >= kept[-1][1] or each[:2] == kept[-1][:2]:
            kept.append(each)
    return kept


def weight(form: str) -> int:
    """What a word counts in a comparison."""
    if not any(map(str.isalnum, form)):
        return SIGN
    return WORD if len(form) > 3 or form[0].isdigit() else SHORT
