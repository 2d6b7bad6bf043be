"""Sentences that look like the answer and, by what they say, are not.

Entries of a table of contents are found by every heading. Rows of a table have nearly the same
vector whatever their numbers and dates are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import chain, pairwise

from milepost._numpy import NDArray, np
from milepost.language.lists import is_question
from milepost.language.terms import terms
from milepost.search.reranking import Texts
from milepost.search.scope import Scope

_LOOKED_AT = 100  # of the best sentences; further ones can hardly be in the passages
_AROUND = 3  # sentences on each side of an entry
_FEWEST = 3  # entries there, itself included
_LEADER = r"(?:[.·…_]{3,}|(?:\s?[.·…_]){4,})"
_ENTRY = re.compile(
    rf"(?:{_LEADER}[\s|]*(?:\d{{1,4}}|[ivxl]{{1,7}})?|[^\W\d_] \d{{1,4}})\s*$", re.IGNORECASE
)
_PAGE = re.compile(rf"{_LEADER}[\s|]*(\d{{1,4}})(?![.,%]?\d|%)")
_TELLING = re.compile(r"\d{3}|\d(?!st|nd|rd|th)[a-z]|[a-z]\d")
"""In a term: a year, a date or a code. Small numbers and ordinals stand in many cells."""


def rivals(
    texts: Texts, asked: Collection[str], best: NDArray[np.int64]
) -> dict[str, NDArray[np.bool_]]:
    """Which of the ``best`` sentences answer nothing, ``(n,)``, and of which kind they are.

    Args:
        texts: of the ``n`` sentences.
        asked: terms of the question.
        best: numbers of sentences, best first.
    """
    order = best.tolist()
    texts.read(order[:_LOOKED_AT], order)
    looked = {number: texts[number] for number in order[:_LOOKED_AT]}
    found = {
        "contents": _entries(texts, looked),
        "other row": _other_rows(texts.scope, asked, looked),
    }
    masks = {kind: np.zeros(len(texts.scope.spans), np.bool_) for kind in found}
    for kind, which in found.items():
        masks[kind][which] = True
    return masks


def answered_behind(texts: Texts, best: NDArray[np.int64]) -> list[int]:
    """Of the ``best`` sentences, the questions that the sentence behind them may answer."""
    order = best[:_LOOKED_AT].tolist()
    texts.read(order, order)
    asks = [n for n in order if n + 1 in texts.around(n, 1) and is_question(texts[n])]
    texts.read([n + 1 for n in asks])
    return [n for n in asks if not is_question(texts[n + 1])]


def _entries(texts: Texts, looked: Mapping[int, str]) -> list[int]:
    """Entries of a table of contents: around them, numbers behind dot leaders never fall.

    A list of prices or measures has its values in another order.
    """
    likely = {n: texts.around(n, _AROUND) for n, text in looked.items() if _ENTRY.search(text)}
    texts.read([*chain.from_iterable(likely.values())])
    found = []
    for number, around in likely.items():
        pages = [int(page) for page in _PAGE.findall("".join(map(texts.__getitem__, around)))]
        if len(pages) >= _FEWEST and all(first <= second for first, second in pairwise(pages)):
            found.append(number)
    return found


def _other_rows(scope: Scope, asked: Collection[str], looked: Mapping[int, str]) -> list[int]:
    """Rows with another value in the column where a row has a number or date of the question."""
    telling = [term for term in asked if _TELLING.search(term)]
    rows = {number: _cells(text) for number, text in looked.items() if telling and " | " in text}
    found: set[int] = set()
    for term in telling:
        has = {number for number in rows if scope.counts[term][number] > 0}
        for own in has:
            columns = {name for name, value in rows[own].items() if term in terms(value)}
            found |= {
                number
                for number in rows.keys() - has
                if columns & rows[number].keys() and _are_alike(rows[own], rows[number])
                if scope.owner(own) == scope.owner(number)
            }
    return sorted(found)


def _are_alike(row: Collection[str], other: Collection[str]) -> bool:
    """Whether rows with these columns can be of one table; empty cells are left out."""
    return 3 * len({*row} & {*other}) >= 2 * max(len(row), len(other))


def _cells(row: str) -> dict[str, str]:
    """The named cells of a row, see ``documents/readers/table.py``."""
    cells = (cell.partition(": ") for cell in row.split(" | "))
    return {name.strip(): value for name, colon, value in cells if colon}
