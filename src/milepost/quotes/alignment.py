"""The best alignment of the words of a quotation with a stretch of a text (semi-global)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from milepost._numpy import NDArray, np
from milepost.quotes.words import SIGN, weight

_ALIKE = 0.5  # share of common pairs of letters from which two words are spellings of one another

Pair = tuple[int | None, int | None]
"""A word of the quotation beside one of the text; None where the other has none."""


def align(
    given: Sequence[str], text: Sequence[str], values: Mapping[str, str]
) -> tuple[int, list[Pair]]:
    """Align all words of a quotation with words of a text, at the least cost: it, and the pairs.

    A word that is missing or added costs its weight, one in place of another the greater weight of
    the two, half of that where they are spellings of one another, and that of a sign where they
    have one value. What the text has before and behind the quotation costs nothing. Takes
    ``len(given) · len(text)`` steps and bytes.
    """
    rows, columns = len(given), len(text)
    known = {form: number for number, form in enumerate(dict.fromkeys((*given, *text)))}
    numbers = np.array([known[form] for form in text], np.int64)
    weights = np.array([weight(form) for form in known], np.int64)
    added = weights[numbers]
    replacing = _replacing(
        list(known), weights, {known[form] for form in given}, set(numbers.tolist()), values
    )
    total = np.concatenate(([0], np.cumsum(added)))
    costs = np.zeros(columns + 1, np.int64)
    steps = np.zeros((rows, columns + 1), np.uint8)
    for row, form in enumerate(given):
        number = known[form]
        missing = costs + weights[number]
        beside = np.full(columns + 1, np.iinfo(np.int64).max // 2)
        beside[1:] = costs[:-1] + replacing[number][numbers]
        best = np.minimum(missing, beside)
        # A word added costs the same from wherever the stretch of added words begins.
        least = np.minimum.accumulate(best - total)
        costs = least + total
        steps[row] = np.where(costs < best, 2, np.where(beside <= missing, 0, 1))
    ends = np.flatnonzero(costs == costs.min()).tolist()
    # Where the last word is another one, it is shown beside what the text has in its place, also
    # where the text goes on without the full stop behind it.
    lasts = [rows - 1, max((n for n, form in enumerate(given) if weight(form) != SIGN), default=0)]
    paired = [
        end
        for last in lasts
        for end in ends
        if (steps[last + 1 :, end] == 1).all() and not steps[last, end]
        if _same_kind(given[last], text[end - 1])
    ]
    return int(costs.min()), _traced(steps, (paired or ends)[0])


def _same_kind(one: str, other: str) -> bool:
    """Whether both are numbers, or neither is, of the same weight."""
    return one[0].isdigit() == other[0].isdigit() and weight(one) == weight(other)


def _traced(steps: NDArray[np.uint8], column: int) -> list[Pair]:
    pairs: list[Pair] = []
    row = len(steps) - 1
    while row >= 0:
        step = int(steps[row, column])
        if step == 0:
            pairs.append((row, column - 1))
            row, column = row - 1, column - 1
        elif step == 1:
            pairs.append((row, None))
            row -= 1
        else:
            pairs.append((None, column - 1))
            column -= 1
    return pairs[::-1]


def _replacing(
    forms: list[str],
    weights: NDArray[np.int64],
    given: Collection[int],
    held: Collection[int],
    values: Mapping[str, str],
) -> dict[int, NDArray[np.int64]]:
    """For each word of the quotation, what each form costs in its place."""
    is_sign = weights == SIGN
    found: dict[int, NDArray[np.int64]] = {}
    pairs = _letter_pairs(forms)
    sizes = pairs.sum(axis=1)
    for number in given:
        # A word in place of a comma is one word too many and one comma too few.
        both = np.maximum(weights, weights[number])
        costs = np.where(is_sign == is_sign[number], both, weights + weights[number])
        if number not in held and sizes[number]:
            common = np.minimum(pairs, pairs[number]).sum(axis=1)
            alike = 2 * common >= _ALIKE * (sizes + sizes[number])
            costs = np.where(alike, (costs + 1) // 2, costs)
        if (value := values.get(forms[number])) is not None:
            costs[[values.get(form) == value for form in forms]] = SIGN
        costs[number] = 0
        found[number] = costs
    return found


def _letter_pairs(forms: list[str]) -> NDArray[np.int16]:
    """``(forms, pairs of letters)``: how often each has each; numbers and short words have none."""
    known: dict[str, int] = {}
    cells: list[tuple[int, int]] = []
    for row, form in enumerate(forms):
        if len(form) > 3 and not any(map(str.isdigit, form)):
            pairs = map("".join, pairwise(form))
            cells += ((row, known.setdefault(pair, len(known))) for pair in pairs)
    table = np.zeros((len(forms), max(1, len(known))), np.int16)
    for cell in cells:
        table[cell] += 1
    return table
