"""Texts made by rule are what they are said to be."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")  # its room may import it

from milepost.errors import InputError  # noqa: E402
from milepost_lab.controls.corpora import (  # noqa: E402
    DEPTH,
    ToyLanguage,
    bracket_symbols,
    brackets,
    morphology,
    nonsense,
    nonsense_symbols,
    nonsense_word,
    permuted,
)

pytestmark = pytest.mark.torch


def balanced(row):
    """Whether every letter is closed by its own capital, in the right order."""
    stack = []
    for character in row:
        if character.islower():
            stack.append(character)
        elif character.isupper() and (not stack or stack.pop() != character.lower()):
            return False
    return not stack


def test_nonsense_words_count_in_base_26():
    """Check 9 of MonoByte's page."""
    wanted = {0: "aaa", 1: "baa", 26: "aba", 676: "aab", 4999: "hkh"}
    assert {number: nonsense_word(number) for number in wanted} == wanted
    assert len({nonsense_word(number) for number in range(5000)}) == 5000


def test_nonsense_is_paragraphs_of_sentences_of_few_words():
    text = nonsense(20_000).decode("ascii")
    for paragraph in text.strip().split("\n"):
        sentences = paragraph.removesuffix(".").split(". ")
        assert 7 <= len(sentences) <= 13
        for sentence in sentences:
            words = sentence.split(" ")
            assert 5 <= len(words) <= 15
            assert all(len(word) == 3 for word in words)


def test_brackets_are_closed_and_nest_to_the_depth_that_is_allowed():
    rows = brackets(20_000).decode("ascii").splitlines()
    assert all(row.endswith(".") and balanced(row[:-1]) for row in rows)
    deepest = max(
        max(itertools.accumulate(1 if c.islower() else -1 for c in row[:-1])) for row in rows
    )
    assert deepest == DEPTH
    assert not balanced("abBaA")


def test_symbols_follow_the_texts_rules():
    """What a sentence draws from comes again in it, and of 5,000 kinds hardly by chance."""
    found = nonsense_symbols(3000, 5000, 4)
    again = [one in found[max(0, n - 5) : n] for n, one in enumerate(found)]
    assert len(found) == 3000
    assert 0.1 < np.mean(again) < 0.4
    assert 0 <= min(found) <= max(found) < 5000

    nested = bracket_symbols(3000, 15, 4)
    assert set(nested) == set(range(14))  # an odd one is in no pair
    stack = []
    for number in nested:
        if number < 7:
            stack.append(number)
        else:
            assert stack.pop() == number - 7
        assert len(stack) <= DEPTH
    assert not balanced("aB")
    assert not balanced("A")


def test_toy_languages_share_their_grammar_and_no_byte():
    texts = [ToyLanguage(n).text(3000, seed=4) for n in range(4)]
    for one, two in itertools.combinations(texts, 2):
        assert set(one).isdisjoint(two)
    for number, text in enumerate(texts):
        assert bytes(byte - 23 * number for byte in text) == texts[0]
        text.decode("ascii")
    with pytest.raises(InputError, match="unknown toy language 4"):
        ToyLanguage(4)


def test_a_verb_agrees_with_its_subject_or_does_not():
    toy, rng = ToyLanguage(1), np.random.default_rng(0)
    for agrees in (True, False) * 20:
        words = toy.sentence(rng, agrees=agrees).text.removesuffix(toy.stop).split(toy.space)
        inflected = [word for word in words if word not in toy.adjectives]
        assert {word[-1] for word in inflected} <= set(toy.numbers)
        subject = next(word for word in words if word[:-1] in toy.nouns)
        verb = next(word for word in words if word[:-1] in toy.verbs)
        assert (subject[-1] == verb[-1]) == agrees


def test_renamed_bytes_keep_the_structure_and_take_no_mark_of_a_gap():
    data = nonsense(3000)
    renamed = permuted(data, 1)
    pairs = set(zip(data, renamed, strict=True))
    assert len(pairs) == len(set(data)) == len(set(renamed))
    assert renamed != data
    every = permuted(bytes(range(256)), 1)
    assert sorted(every) == list(range(256))
    assert every[0xF5:] == bytes(range(0xF5, 256))


def test_held_out_words_stand_in_the_test_only_and_the_best_guess_reaches_the_ceiling():
    made = morphology(60_000, seed=2)
    train = {word for text in made.train for word in text.split()}
    assert train.isdisjoint(made.held_out)
    assert len(made.held_out) == 80
    followers: dict[str, dict[str, int]] = {}
    pairs = [p for text in made.test for p in itertools.pairwise(text.split())]
    for before, word in pairs:
        followers.setdefault(before, {}).setdefault(word, 0)
        followers[before][word] += 1
    best = sum(max(words.values()) for words in followers.values()) / len(pairs)
    assert best == pytest.approx(made.ceiling, abs=0.05)
    assert sum(word in made.held_out for _, word in pairs) / len(pairs) == pytest.approx(
        0.2, abs=0.05
    )


@pytest.mark.parametrize("make", [nonsense, brackets, ToyLanguage(0).text])
def test_the_same_seed_gives_the_same_text(make):
    assert make(2000, 3) == make(2000, 3) != make(2000, 4)
    assert len(make(2000, 3)) >= 2000
