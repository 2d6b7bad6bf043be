"""Leave out of a question what names the only report that it is asked of: "Corning", "in 2022".

Within one report of a year, the company's name and the year say nothing: they stand in its head and
all over it. Yet they turn the question's vector and the reranker towards sentences that repeat
them, which costs eight points of the evidence's words (``data/reports``). So both get the question
without them; the words that are looked up stay.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from milepost.language.detection import judge
from milepost.language.terms import STOP_WORDS, is_stop_word, terms

if TYPE_CHECKING:
    from milepost.search.query import Query, QueryEncoder
    from milepost.store.base import Snapshot

SHORTEST = 60_000
"""Characters of a report from which this matters."""
_HEAD = 2_000
"""Characters of the head, where the name and the year must stand."""
_PART = 3_000
"""Characters of a part, about a page. Shares of parts tell what stands all over a text."""
_NAME_SHARE, _YEAR_SHARE = 0.15, 0.3
_LOWER_SHARE = 0.02
"""Occurrences in lower case at most: more, and the word is not a name."""
_LONGEST = 4
"""Words of a name at most."""
_FEWEST = 2
"""Terms that must be left."""

_WORD = re.compile(r"[^\W_][\w&.’'-]*")
_YEAR = re.compile(r"(?:FY ?)?((?:19|20)\d\d)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_BEFORE = re.compile(
    r"(?:(?:\b(?:at|of|for|by|in|during|the|fiscal|financial|year|FY)\b|,)\s*)+$", re.IGNORECASE
)
_INSIDE = re.compile(r"[\w./@]")
_GOES_ON = re.compile(r"[\w@]|\.\w")
"""What stands beside a part of a word, or of the address of a page or mail."""
_EDGES = " ,:;-–—"


def without_subject(query: Query, state: Snapshot, encoder: QueryEncoder) -> Query:
    """Return the question, encoded, without what names its report, if it is asked of one report.

    Questions with operators stay as they are, and so do all where the text is not English:
    elsewhere a capital letter is no sign of a name.
    """
    alone = query.documents is not None and len(query.documents) == 1
    if query.has_operators or not (alone or state.statistics().documents == 1):
        return query
    for info in state.select(query.among) or ():
        head = state.texts([(info, 0, _HEAD)])[0] if info.characters >= SHORTEST else ""
        if not _YEAR.search(head):
            break
        text = state.texts([(info, 0, info.characters)])[0]
        question = shortened(query.text, text)
        if question != query.text:
            return replace(query, text=question, vector=encoder.encode_query(question))
    return query


def shortened(question: str, text: str) -> str:
    """Return a question without the names and years of a report, or as it is."""
    report = _report(text)
    if not report.is_of_a_year:
        return question
    words = list(_WORD.finditer(question))
    kept, at, number = "", 0, 0
    while number < len(words):
        length = report.named(question, words[number : number + _LONGEST])
        if not length:
            number += 1
            continue
        kept += _BEFORE.sub(" ", question[at : words[number].start()])
        number += length
        at = words[number - 1].end()
    kept = re.sub(r"\s+([?.!,])", r"\1", " ".join((kept + question[at:]).split())).strip(_EDGES)
    return kept if len(terms(kept, STOP_WORDS)) >= _FEWEST else question


@lru_cache(maxsize=4)  # one question follows another about the same report
def _report(text: str) -> _Report:
    return _Report(text)


class _Report:
    def __init__(self, text: str) -> None:
        self._text = text
        lower = text.lower()
        self._lower = lower if len(lower) == len(text) else text

    @cached_property
    def is_of_a_year(self) -> bool:
        """Whether this is an English text about a year."""
        head = self._text[:_HEAD]
        years = {match[1] for match in _YEAR.finditer(head)}
        return judge(head).english and any(
            self._share(self._places(year)) >= _YEAR_SHARE for year in years
        )

    def named(self, question: str, words: list[re.Match[str]]) -> int:
        """Number of words, from the first, that name the report; the longest name wins."""
        if (year := _YEAR.fullmatch(words[0][0].rstrip("."))) is not None:
            return int(self._share(self._places(year[1])) >= _YEAR_SHARE)
        if is_stop_word(words[0][0]):
            return 0
        for length in range(len(words), 0, -1):
            raw = question[words[0].start() : words[length - 1].end()]
            name = _POSSESSIVE.sub("", raw).rstrip(".")
            places = self._places(name)
            if self._share(places) >= _NAME_SHARE and self._is_name(places, len(name)):
                return length
        return 0

    def _places(self, name: str) -> list[int]:
        """Where a name stands as words of its own; nowhere if not in the head."""
        name = name.lower()
        found: list[int] = []
        at = self._lower.find(name, 0, _HEAD)
        while at >= 0 and (found or at < _HEAD):
            end = at + len(name)
            if not _INSIDE.match(self._lower, max(0, at - 1), at) and not _GOES_ON.match(
                self._lower, end
            ):
                found.append(at)
            at = self._lower.find(name, end)
        return found

    def _share(self, places: list[int]) -> float:
        """Share of the parts that hold any of the places."""
        return len({at // _PART for at in places}) / (len(self._text) / _PART)

    def _is_name(self, places: list[int], length: int) -> bool:
        """Whether the text hardly ever writes it in lower case."""
        lower = sum(self._text[at : at + length].islower() for at in places)
        return lower <= _LOWER_SHARE * len(places)
