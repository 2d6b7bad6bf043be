"""Stems by script: which stemmer, what becomes one word, and threads."""

from __future__ import annotations

import sys
import threading
from itertools import pairwise

import pytest

from milepost.stemming import SCRIPTS, stem, stemmer_class, stemmer_of


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("connected connecting connection", "english"),
        ("книга книги книгами", "russian"),
        ("мова мови мовою", "russian"),  # Ukrainian: the script decides
        ("θαλασσα θαλασσας", "greek"),
        ("المدرسة مدرسة", "arabic"),
        ("लड़की लड़कियों लड़कियाँ", "hindi"),
        ("ուսանող ուսանողի ուսանողներ", "armenian"),
        ("வீடு வீடுகள்", "tamil"),
    ],
)
def test_forms_of_a_word_have_one_stem(words: str, name: str) -> None:
    forms = words.split()
    assert {stemmer_of(form) for form in forms} == {name}
    assert len({stem(form) for form in forms}) == 1
    assert stem(forms[0]) == stemmer_class(name)().stemWord(forms[0])


@pytest.mark.parametrize(
    "word", ["", "gas", "größe", "ספרים", "μmol", "covidом", "группа2", "ღვინო"]
)
def test_other_words_stay(word: str) -> None:
    assert stemmer_of(word) is None
    assert stem(word) == word


def test_scripts_do_not_overlap() -> None:
    ranges = sorted(SCRIPTS.values())
    assert ranges[0][0] > "\x7f"
    assert all(last < first for (_, last), (first, _) in pairwise(ranges))


def test_threads_do_not_share_a_stemmer() -> None:
    """A stemmer keeps the word that it works on: threads that share one spoil each other's."""
    words = [f"connect{a}{b}ing" for a in "abcdefghij" for b in "abcdefghij"]
    wanted = [stem(word) for word in words]
    wrong: list[str] = []

    def work() -> None:
        for _ in range(20):
            try:
                found = [stem(word) for word in words]
            except IndexError as error:
                found = [repr(error)]
            wrong.extend(set(found) - set(wanted))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert wrong == []
