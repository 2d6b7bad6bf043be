"""Noise in questions, and drift between models."""

from contextlib import closing
from random import Random
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import milepost
from milepost.errors import InputError
from milepost.types import Document
from milepost_eval.drift import NEIGHBOURS, agreement, distances, index_drift, kept, unit
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


SUBJECTS = ("bees", "ships", "rivers", "kings", "clocks", "wolves", "bread", "glass")
VERBS = ("build cells", "carry coal", "reach the sea", "lose a war", "run late", "hunt at night")


@pytest.fixture(scope="module")
def index() -> milepost.Index:
    made = milepost.open(model="landmark-light")
    texts = {
        subject: " ".join(f"In year {n}, {subject} {verb} again." for n, verb in enumerate(VERBS))
        for subject in SUBJECTS
    }
    made.add([Document(name, text) for name, text in texts.items()])
    return made


def test_the_model_that_made_the_index_changes_nothing(index: milepost.Index) -> None:
    asked: list[tuple[str, int, int]] = []
    with index.snapshot() as state:
        found = index_drift(state, index.model, progress=lambda *each: asked.append(each))
    assert (found.sentences, found.documents) == (48, 8)
    assert found.kept.mean > 0.97  # stored vectors have fewer digits
    assert found.cka > 0.99
    assert found.rebuild_s > 0
    assert {name for name, *_ in asked} == set(SUBJECTS)


def test_another_model_changes_neighbours(index: milepost.Index) -> None:
    other = milepost.load("landmark-minilm")
    with index.snapshot() as state:
        found = index_drift(state, other)
        few = index_drift(state, other, sentences=20)
    assert found.kept.chance == pytest.approx(NEIGHBOURS / 47)
    assert found.kept.chance < found.kept.low < found.kept.mean < 0.97
    assert found.cka < 0.97
    assert (few.sentences, few.documents) == (20, 4)
    assert few.rebuild_s > 0


def test_too_few_sentences_are_named() -> None:
    with closing(milepost.open(model="landmark-light")) as made:
        made.add([Document(name="a", text="Bees build cells. They hum.")])
        with (
            made.snapshot() as state,
            pytest.raises(InputError, match="has 2 sentences to compare"),
        ):
            index_drift(state, made.model)


def test_kept_neighbours_by_hand() -> None:
    """Of four points on a line each one's nearest; in the other space two have moved."""
    line = np.array([[0.0], [1.0], [10.0], [11.0]])
    moved = np.array([[0.0], [1.0], [11.5], [1.9]])
    assert agreement(line, line, 1).tolist() == [1, 1, 1, 1]
    assert agreement(line, moved, 1).tolist() == [1, 0, 1, 0]
    assert distances(line)[0].tolist() == [0, 1, 10, 11]
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_questions_of_one_document_are_not_independent() -> None:
    rng = np.random.default_rng(1)
    before, after = unit(rng.normal(size=(60, 8))), unit(rng.normal(size=(60, 8)))
    after[:30] = before[:30]
    alone = kept(before, after, [str(n) for n in range(60)])
    halves = kept(before, after, ["a"] * 20 + ["b"] * 20 + ["c"] * 20)
    assert alone.mean == halves.mean
    assert halves.high - halves.low > alone.high - alone.low
