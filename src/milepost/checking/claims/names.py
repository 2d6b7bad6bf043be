"""Names of a claim that the sentences of a passage do not have, but other ones like them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from milepost.checking.claims.reading import Reading, Word
from milepost.checking.claims.vocabulary import OFFICES
from milepost.documents.abbreviations import TITLES

_TITLE = re.compile(r'["“]\s*([A-Z][^"“”]*?)\s*["”]')
_WORDS = re.compile(r"[^\W_]+")
_SUBTITLE = re.compile(r":\s|\s\(")


def renamed(claim: Reading, texts: Sequence[Reading]) -> bool:
    """Whether texts have another name in front of a last name: "Elena Ruiz" of "Maria Ruiz"."""
    return any(
        _names_another(word, place, text, claim)
        for word, last in pairwise(claim.words)
        if is_name_of_two(word, last, claim) and not any(text.find(word) for text in texts)
        for text in texts
        for place in text.find(last)
    )


def retitled(claim: Reading, texts: Sequence[Reading]) -> bool:
    """Whether texts have a longer or shorter title in quotes: "Here and Now" of "Now"."""
    there = {title for text in texts for title in _titles(text)}
    return any(
        own not in there and any(own in other or other in own for other in there)
        for own in _titles(claim)
    )


def _titles(reading: Reading) -> Iterator[str]:
    """The words of each title, in lower case, and those in front of its subtitle."""
    for found in _TITLE.finditer(reading.text):
        words = found[1].split()
        if words[-1][0].isupper():
            for title in {found[1], _SUBTITLE.split(found[1])[0]}:
                yield " " + " ".join(_WORDS.findall(title.lower())) + " "


def adds_another(claim: Reading, texts: Sequence[Reading]) -> bool:
    """Whether a claim joins a name by "and" to what texts have, and they do not have that name."""
    for one, word, other in zip(claim.words, claim.words[1:], claim.words[2:], strict=False):
        if word.text.lower() == "and":
            held = [any(text.find(side) for text in texts) for side in (one, other)]
            if held[0] != held[1] and (one, other)[held[0]].is_name:
                return True
    return False


def _names_another(first: Word, last: Word, text: Reading, claim: Reading) -> bool:
    """Whether other names than the first one stand before the last one: no short form of it."""
    before = []
    while last.at and is_name_of_two(text.words[last.at - 1], last, text):
        last = text.words[last.at - 1]
        before.append(last)
    others = [each for each in before if each.text.lower() not in TITLES | OFFICES]
    return bool(others) and not any(
        each.text[0] == first.text[0] or claim.find(each) for each in others
    )


def is_name_of_two(word: Word, last: Word, reading: Reading) -> bool:
    """Whether two words are a first name and a last one."""
    is_capital = word.is_content and word.text[0].isupper()  # it may begin the sentence
    return is_capital and last.is_name and reading.text[word.end : last.start].isspace()
