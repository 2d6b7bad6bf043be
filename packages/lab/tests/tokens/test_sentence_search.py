"""Typing errors, finders of sentences, and transfer between languages."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost.types import Document  # noqa: E402
from milepost_eval.types import Question, Task  # noqa: E402
from milepost_lab.controls import encoders as controls_module  # noqa: E402
from milepost_lab.controls.byte_training import ByteRecipe  # noqa: E402
from milepost_lab.model.bytes.encoder import ByteShape, made  # noqa: E402
from milepost_lab.model.bytes.stack import StackShape  # noqa: E402
from milepost_lab.tokens import transfer as transfer_module  # noqa: E402
from milepost_lab.tokens.few_documents import few  # noqa: E402
from milepost_lab.tokens.sentence_search import (  # noqa: E402
    Bytes,
    Grams,
    Words,
    asked_of,
    recall,
    right_sentences,
    tune,
)
from milepost_lab.tokens.transfer import Budget, languages, shared_size, texts_of, transfer  # noqa: E402
from milepost_lab.tokens.typo_study import (  # noqa: E402
    asked_without_meaning,
    control_words,
    trained_words,
    typo_table,
)
from milepost_lab.tokens.typos import gram_vector, typos  # noqa: E402

pytestmark = pytest.mark.torch
SMALL = ByteShape(StackShape(32, 64, 2, 16), encoder=1, decoder=1)
ANIMALS = ("bee", "cow", "dog", "elk", "fox", "gnu", "hen", "owl")


def task(split="train", shift=0):
    """Documents of eight sentences; each question asks for one of them by its rare word."""
    documents, questions, facts = [], [], {}
    for number in range(4):
        name, text, marks = f"{split}{number}", "", []
        for place, animal in enumerate(ANIMALS):
            sentence = f"The {animal} lives in house {shift + number * 8 + place}. "
            marks.append((len(text), len(text) + len(sentence) - 1))
            text += sentence
        documents.append(Document(name, text))
        facts[name] = {"language": "en" if number % 2 else "xx"}
        questions += [
            Question(f"{name}-{n}", f"Where is the {ANIMALS[n]}?", name, (marks[n],))
            for n in range(len(ANIMALS))
        ]
    return Task("toy", split, tuple(documents), tuple(questions), facts)


def test_errors_hit_letters_only_and_as_many_as_asked():
    text = "The quick brown fox, 42 times. " * 200
    assert typos(text, 0, np.random.default_rng(0)) == text
    hit = typos(text, 0.1, np.random.default_rng(0))
    letters = sum(c.isalnum() for c in text)
    assert hit == typos(text, 0.1, np.random.default_rng(0))
    assert [c for c in hit if not c.isalnum()] == [c for c in text if not c.isalnum()]
    # Drops and inserts are equally many; swaps keep the length.
    assert abs(len(hit) - len(text)) < 0.02 * letters
    wrong = sum(a != b for a, b in zip(text.split(), hit.split(), strict=False))
    assert 0.2 < wrong / len(text.split()) < 0.6
    with pytest.raises(InputError, match="not a share of letters"):
        typos(text, 1.5, np.random.default_rng(0))


@given(st.text(max_size=40), st.floats(0, 1), st.integers(0, 9))
def test_any_text_can_be_mistyped(text, rate, seed):
    hit = typos(text, rate, np.random.default_rng(seed))
    assert set(hit) <= set(text)


def test_grams_of_a_mistyped_word_are_nearer_to_it_than_to_others():
    right, wrong, other = (gram_vector([word]) for word in ("honeycomb", "honeycmob", "lighthouse"))
    assert right @ wrong > 0.4 > 0.2 > right @ other
    assert gram_vector([]).any() == False  # noqa: E712
    assert np.linalg.norm(right) == pytest.approx(1)


def test_the_question_s_sentence_is_the_one_that_overlaps():
    question = Question("q", "?", "d", ((5, 12), (30, 31)))
    assert right_sentences(question, [(0, 5), (5, 10), (10, 30), (30, 40)]) == [1, 2, 3]


def test_n_grams_find_rare_words_and_lose_them_with_every_letter_gone():
    found = recall(Grams(), task())
    assert found.first == 1.0
    assert found.questions == 32
    lost = recall(Grams(), task(), lambda question: "?")
    assert lost.first < 0.3


def test_equal_vectors_are_a_loss():
    class Blind:
        name = "blind"

        def sentences(self, text):
            vectors, spans = Grams().sentences(text)
            return np.ones_like(vectors), spans

        def questions(self, texts):
            return np.ones((len(texts), 4096), np.float32)

    assert recall(Blind(), task()).five == 0.0


def test_a_finder_of_words_learns_and_reads_documents_by_spelling():
    words = trained_words(task(), steps=80, width=32)
    seen = recall(words, task())
    assert seen.first > 0.3  # by chance: an eighth
    rows = typo_table([words, Grams()], task("dev", 40), rates=(0.0, 0.2))
    assert [(row.finder, row.rate) for row in rows] == [
        (name, rate) for name in ("WordPool", "n-grams") for rate in (0.0, 0.2)
    ]
    assert rows[0].found.first > 0.2
    drawn = trained_words(task(), steps=0, width=32, name="drawn")
    assert (drawn.name, drawn.reader.training) == ("drawn", False)
    assert recall(drawn, task()).first < seen.first
    assert all(row.found.questions == 32 for row in rows)


def test_a_finder_of_bytes_learns():
    finder = Bytes(made(SMALL, 0), "bytes")
    before = recall(finder, task())
    tune(finder, asked_of(task(), 32), steps=60, rate=1e-2)
    assert recall(finder, task()).first > before.first + 0.2
    assert finder.questions(["x" * 5000, "a"]).shape == (2, 32)


def test_a_question_of_two_sentences_has_one_vector():
    words = trained_words(task(), steps=1, width=16)
    assert isinstance(words, Words)
    assert words.questions(["Where is it? In a house.", "So?"]).shape == (2, 16)


@pytest.mark.parametrize("kind", ["nonsense", "hierarchical"])
def test_a_text_without_meaning_is_asked_for_its_own_words(kind):
    asked = asked_without_meaning(kind, 3000, 1)
    assert sum(len(one.evidence) for one in asked) >= 3000
    for one in asked:
        words = one.question.split(" ")
        assert words
        assert all(word in one.evidence for word in words)
    assert len(asked) > 30
    assert asked == asked_without_meaning(kind, 3000, 1)


def test_controls_of_words_differ_by_what_they_read():
    vectors = {
        kind: control_words(kind, steps=1, width=16).questions(["Where is it?"])
        for kind in ("random", "nonsense", "hierarchical")
    }
    drawn = trained_words(task(), steps=0, width=16).questions(["Where is it?"])
    np.testing.assert_array_equal(vectors["random"], drawn)
    assert np.abs(vectors["nonsense"] - drawn).max() > 1e-4
    assert np.abs(vectors["nonsense"] - vectors["hierarchical"]).max() > 1e-4


def test_few_documents_with_few_questions():
    small = few(task(), 1, 3, where=lambda facts: facts["language"] == "en")
    assert len(small.documents) == 1
    assert len(small.questions) == 3
    assert {question.document for question in small.questions} == {small.documents[0].name}
    with pytest.raises(InputError, match="no such document"):
        few(task(), 1, 3, where=lambda facts: False)


def test_transfer_has_a_row_before_and_after_tuning_and_the_controls():
    budget = Budget(ByteRecipe(SMALL, steps=2, window=64), size=2000, steps=2, documents=2, each=3)
    rows = transfer(task(), task("dev", 40), ["en"], ["en", "xx"], budget).rows
    controls = ["en@random", "en@nonsense", "en@hierarchical"]
    names = ["n-grams", "random, raw", "en, raw", "en", *controls]
    assert [row.source for row in rows[::2]] == names
    assert [row.target for row in rows[:2]] == ["en", "xx"]
    assert all(row.found.questions == 6 for row in rows)
    with pytest.raises(InputError, match="no documents in 'de'"):
        transfer(task(), task("dev"), ["de"], ["en"], budget)
    without = transfer(task(), task("dev", 40), ["en"], ["en", "xx"], budget, controls=False)
    assert without.rows == [row for row in rows if row.source in ("n-grams", "en, raw", "en")]


def test_languages_are_weighed_in_characters_and_bytes():
    found = languages(texts_of(task()))
    assert [language.name for language in found] == ["en", "xx"]
    assert found[0].characters == found[0].size
    assert found[0].documents == 2


def uneven():
    """A long language of two documents, and a short one of one that takes two bytes a letter."""
    texts = {"a": "b" * 300, "b": "c" * 200, "c": "я" * 400}
    facts = {name: {"language": "ru" if name == "c" else "en"} for name in texts}
    documents = tuple(Document(name, text) for name, text in texts.items())
    return Task("toy", "train", documents, (), facts)


def test_the_shortest_source_says_how_much_is_taken_of_every_one():
    texts = texts_of(uneven())
    assert [shared_size(texts, ["en", "ru"], most) for most in (9, 1000)] == [9, 400]
    assert shared_size(texts, ["en"], 1000) == 502
    assert [(one.documents, one.characters, one.size) for one in languages(texts, 400)] == [
        (2, 400, 400), (1, 400, 800),
    ]  # fmt: skip
    assert [(one.documents, one.characters) for one in languages(texts, 300)] == [
        (1, 300), (1, 300),
    ]  # fmt: skip


def test_every_source_is_read_to_the_same_length(monkeypatch):
    train = task()
    long = [replace(one, text=one.text * 2) for one in train.documents[1::2]]
    train = replace(train, documents=(*train.documents[::2], *long))
    read = []

    def pretrain(data, recipe, seed):
        read.append(len(data.decode()))
        return made(recipe.shape, seed)

    for module in (transfer_module, controls_module):
        monkeypatch.setattr(module, "pretrain", pretrain)
    budget = Budget(ByteRecipe(SMALL, steps=1, window=64), steps=1, documents=1, each=1)
    found = transfer(train, task("dev", 40), ["xx", "en"], ["en"], budget)
    assert {one.characters for one in found.languages.values()} == {read[0]}
    assert read[0] == read[1] == shared_size(texts_of(train), ["xx"], 10**6)
    assert read[0] < shared_size(texts_of(train), ["en"], 10**6)
    assert len(read) == 4
    assert all(0 <= long - read[0] < 1000 for long in read[2:])  # nonsense ends with a paragraph


@pytest.mark.parametrize("finder", ["words", "bytes"])
def test_a_question_asked_twice_is_not_its_own_negative(finder):
    words = finder == "words"
    found = trained_words(task(), steps=1, width=16) if words else Bytes(made(SMALL, 0), "bytes")
    asked = asked_of(task(), 8)
    with torch.no_grad():
        once, twice = found.loss(asked), found.loss([*asked, *asked])
    assert float(once) > 0.1
    assert float(twice) == pytest.approx(float(once), rel=1e-4)
