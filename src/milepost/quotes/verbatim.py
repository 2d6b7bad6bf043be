"""All places where a text holds a quotation word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from milepost._numpy import NDArray, np
from milepost.language.patterns import is_dash
from milepost.quotes.folding import Folded, fold, unstyled
from milepost.quotes.gaps import Reason, ends_word, gap_reason, starts_word
from milepost.verdicts import Difference

_OUTER = "\"'\u00ab\u00bb\u2018\u2019\u201a\u201c\u201d\u201e\u2039\u203a\u2026"
"""Marks around a quotation that are not part of it."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place that holds a quotation, or nearly, in code points of the text.

    ``ignored`` is empty where the text is equal, character by character. ``similarity``, 0–1, is
    the share of the quotation's words, by weight, that is there, less what was added. Between the
    ``differences`` the texts are equal but for what ``ignored`` names.
    """

    start: int
    end: int
    ignored: tuple[Reason, ...] = ()
    similarity: float = 1.0
    differences: tuple[Difference, ...] = ()

    def moved(self, offset: int) -> Occurrence:
        """Return the place in a text of which this one begins at an offset."""
        differences = tuple(
            replace(each, start=each.start + offset, end=each.end + offset)
            for each in self.differences
        )
        return replace(
            self, start=self.start + offset, end=self.end + offset, differences=differences
        )


def stripped(quotation: str) -> Folded:
    """A quotation without white space and the quotation marks and ellipses around it.

    >>> stripped(' “Bees build cells …” ').text
    'Bees build cells'
    """
    inner = quotation.strip().rstrip("\\ ")  # half of a sign of TeX
    while inner and (inner[0] in _OUTER or inner[-1] in _OUTER or inner.endswith("...")):
        before, inner = inner, _less(inner)
        if inner == before:
            break
    folded = fold(inner)
    if not folded.letters:
        return folded
    return fold(inner[slice(*_span(folded, folded, 0))])  # without dashes around it


def _less(text: str) -> str:
    text = text.strip("\u2026").removeprefix("...").removesuffix("...").strip()
    if len(text) > 1 and text[0] in _OUTER and text[-1] in _OUTER:
        return text[1:-1].strip()
    return text


def occurrences(given: Folded, text: Folded) -> Iterator[Occurrence]:
    """Yield the places of a quotation in a text, in order, none inside of another."""
    size, letters = len(given.letters), text.letters
    at = letters.find(given.letters) if size else -1
    if at < 0:
        if size and given.text in text.text:  # half of a formula, which alone is no sign of TeX
            yield from _as_typed(given.text, text.text)
        return
    gaps, touching = _gaps(given.places), _touching(text)
    while at >= 0:
        # Most places of a short word are inside of other words; they are passed over.
        is_inside = touching[at] or touching[at + size]
        reasons = None if is_inside else _reasons(given, gaps, text, at)
        if reasons is not None:
            yield Occurrence(*_span(given, text, at), reasons)
        at = letters.find(given.letters, at + (1 if reasons is None else size))


def _as_typed(quotation: str, text: str) -> Iterator[Occurrence]:
    """Yield the places of a quotation, sign by sign, that are not inside of words or numbers."""
    whole = rf"(?<!\w){re.escape(quotation)}(?!\w|[.,]\d)"
    yield from (Occurrence(*match.span()) for match in re.finditer(whole, text))


def mismatches(given: Folded, first: int, text: Folded, at: int, size: int) -> list[int]:
    """Numbers, less ``first``, of the letters behind which two texts differ.

    Letters ``first … first + size - 1`` of the one and ``at … at + size - 1`` of the other are
    equal.
    """
    one, other = _gaps(given.places[first : first + size]), _gaps(text.places[at : at + size])
    return [
        number
        for number in np.flatnonzero(one | other).tolist()
        if gap_reason(given, first + number, text, at + number) is None
    ]


def _span(given: Folded, text: Folded, at: int) -> tuple[int, int]:
    """The place of a quotation in the text: from its sign, if it begins with one, on."""
    lead = given.text[: given.start(0)]
    signed = bool(lead) and is_dash(lead[-1])
    return text.start(at) - signed, text.end(at + len(given.letters) - 1)


def _touching(text: Folded) -> bytes:
    """For each letter, and the end, 1 where it and the one before are ASCII letters that touch."""
    plain = np.frombuffer(text.letters.encode("utf-32-le", "surrogatepass"), "<u4")
    is_letter = (plain >= ord("a")) & (plain <= ord("z"))
    touching = is_letter[1:] & is_letter[:-1] & (np.diff(text.places) == 1)
    return np.concatenate(([False], touching, [False])).tobytes()


def _gaps(places: NDArray[np.int64]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.diff(places) > 1
    return found


def _reasons(
    given: Folded, gaps: NDArray[np.bool_], text: Folded, at: int
) -> tuple[Reason, ...] | None:
    """What must be ignored for a quotation to be at letter ``at``; None where it is not."""
    last = at + len(given.letters) - 1
    if not (starts_word(given, text, at) and ends_word(text, last)):
        return None
    start, end = _span(given, text, at)
    own_start, own_end = _span(given, given, 0)
    shown, own = text.text[start:end], given.text[own_start:own_end]
    if shown == own:
        return ()
    found: set[Reason | str] = set()
    both = gaps | _gaps(text.places[at : last + 1])
    for number in np.flatnonzero(both).tolist():
        reason = gap_reason(given, number, text, at + number)
        if reason is None:
            return None
        found.add(reason)
    one, other = _shown(given, 0, len(given.letters) - 1), _shown(text, at, last)
    if unstyled(one) != unstyled(other):
        found.add("case")
    if one.casefold() != other.casefold():
        found.add("typography")
    order: tuple[Reason, ...] = ("white space", "hyphenation", "case", "typography")
    return tuple(reason for reason in order if reason in found) or ("typography",)


def _shown(text: Folded, first: int, last: int) -> str:
    """The characters that letters ``first … last`` come from, without what is between them."""
    places = dict.fromkeys(text.places[first : last + 1].tolist())
    return "".join(text.bare[place] for place in places)
