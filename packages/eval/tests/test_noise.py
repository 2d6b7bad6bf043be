"""Noise in questions."""

from random import Random
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.types import Document
from milepost_eval.noise import keywords, misspelt, noisy, unaccented
from milepost_eval.types import Question, Task

WORDS = st.lists(st.text("abcdefghij", min_size=1, max_size=9), min_size=1, max_size=20)


def distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for n, x in enumerate(a, 1):
        row, before = [n], row
        for m, y in enumerate(b, 1):
            row.append(min(row[-1] + 1, before[m] + 1, before[m - 1] + (x != y)))
    return row[-1]


@given(WORDS, st.integers())
def test_one_letter_in_a_fifth_of_the_words(words: list[str], seed: int) -> None:
    found = misspelt(" ".join(words), Random(seed)).split(" ")
    assert len(found) == len(words)
    wrong = [(old, new) for old, new in zip(words, found, strict=True) if old != new]
    long = sum(len(word) >= 4 for word in words)
    assert len(wrong) <= max(1, round(0.2 * long))
    assert all(len(old) >= 4 and distance(old, new) <= 2 for old, new in wrong)
    assert all(old[0] == new[0] for old, new in wrong)
    if long:
        assert wrong


@given(st.text(), st.integers())
def test_any_text_can_be_misspelt(text: str, seed: int) -> None:
    assert misspelt(text, Random(seed)) == misspelt(text, Random(seed))


def test_keywords() -> None:
    assert keywords("What's the cost of a well-known bridge?") == "cost well known bridge"
    assert keywords("who is it?") == "who is it?"


def test_words_are_those_of_the_search() -> None:
    """Marks belong to their letters, numbers stay whole, an ending stays behind its apostrophe."""
    hindi = "हिन्दी में कितने अक्षर हैं?"
    assert keywords(hindi) == hindi.removesuffix("?")
    assert keywords("d'e\u0301le\u0300ves en 1,600 ?") == "d e\u0301le\u0300ves en 1,600"
    for seed in range(40):
        assert misspelt(hindi, Random(seed)) != hindi
        assert misspelt("NASA's 1969 1,600 of", Random(seed)).endswith("'s 1969 1,600 of")


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Où naît-il ? À Besançon, cœur", "Ou nait-il ? A Besancon, cœur"),
        ("Đường Nguyễn Trãi ở đâu?", "Duong Nguyen Trai o dau?"),
        ("¿Quién enseñó español?", "¿Quien enseno espanol?"),
        ("Straße, Łódź, İstanbul, ılık, Ångström", "Straße, Lodz, Istanbul, ilik, Angstrom"),
        ("Ποιος είναι ο ήλιος; ΐ", "Ποιος ειναι ο ηλιος; ι"),
        ("Где ёлка, йод и її?", "Где елка, йод и її?"),
    ],
)
def test_accents_go_however_they_are_encoded(written: str, typed: str) -> None:
    assert unaccented(written) == typed
    assert normalize("NFC", unaccented(normalize("NFD", written))) == typed
    assert unaccented(typed) == typed


@given(st.text())
def test_any_text_loses_its_accents_once(text: str) -> None:
    found = unaccented(text)
    assert len(found) <= len(text)
    assert unaccented(found) == found


@pytest.mark.parametrize("noise", ["typos", "keywords", "capitals", "unaccented"])
def test_a_task_keeps_all_but_its_words(noise: str) -> None:
    asked = Question("q", "what does a worker bée gather?", "d", ((0, 3),), kind="how")
    task = Task("bees", "dev", (Document("d", "It gathers honey."),), (asked,))
    changed = noisy(task, noise)  # type: ignore[arg-type]
    (question,) = changed.questions
    assert question.text != asked.text
    assert (question.name, question.spans, question.kind) == ("q", ((0, 3),), "how")
    assert changed.name == f"bees+{noise}"
    assert changed.documents is task.documents
    assert noisy(task, noise) == changed  # type: ignore[arg-type]
