"""Phrases and excluded words are read from a question; everything else stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.errors import BadQuestion
from milepost.search import Query
from milepost.search.operators import Operators, read_operators
from milepost.testing import fake_encoder

MODEL = fake_encoder()


@pytest.mark.parametrize(
    ("text", "question", "phrases", "excluded"),
    [
        ('how are "the bees" doing', "how are the bees doing", "the bees", ""),
        ("“a b” „c d“ «e f» »g h« \"i j\"", "a b c d e f g h i j", "a b|c d|e f|g h|i j", ""),
        ("„german” and „straight\" too", "german and straight too", "german|straight", ""),
        ('"natural selection," he said', "natural selection, he said", "natural selection", ""),
        ("bees -queen build", "bees build", "", "queen"),
        ("bees -queen, -drone. build", "bees , . build", "", "queen|drone"),
        ("-queen bees", "bees", "", "queen"),
        ('bees -"queen bee" build', "bees build", "", "queen bee"),
        ("bees -“queen bee”", "bees", "", "queen bee"),
        ("bees -well-known", "bees", "", "well-known"),
        ('a "-xzf b" -c', "a -xzf b", "-xzf b", "c"),
        ('"a" "a" -b -b', "a a", "a", "b"),
        ('-"5" degrees', "degrees", "", "5"),
        ('at "-5 degrees"', "at -5 degrees", "-5 degrees", ""),
    ],
)  # fmt: skip
def test_operators(text: str, question: str, phrases: str, excluded: str) -> None:
    wanted = Operators(
        question, *(tuple(filter(None, each.split("|"))) for each in (phrases, excluded))
    )
    assert read_operators(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "e-mail and self-made",
        "a - b",
        "it was -5 degrees",
        "what does --json do",
        "2018–2023 –word —word −word",
        'pipes of 5" and 6" width',
        'an open " mark',
        '"" and "?!"',
        "the bees' cells and the 'queen'",
        "- ",
        "",
    ],
)
def test_what_is_not_an_operator(text: str) -> None:
    assert read_operators(text) == Operators(text)


@given(st.text(alphabet='ab "“”„«»-5.,\n', max_size=30))
def test_any_text_is_read(text: str) -> None:
    found = read_operators(text)
    if not (found.phrases or found.excluded):
        assert found.question == text
        return
    for phrase in found.phrases:
        assert any(map(str.isalnum, phrase))
        assert " ".join(phrase.split()) in found.question
    letters = "".join(filter(str.isalnum, text))
    for each in (*found.excluded, *found.excluded):  # an excluded word may have been there twice
        assert all(map(letters.__contains__, filter(str.isalnum, each)))
    assert set(filter(str.isalnum, found.question)) <= set(letters)


def test_a_query_is_encoded_without_operators() -> None:
    """Vector, terms and coverage are those of the plain question; the text stays as asked."""
    text = 'Which "cells of wax" do bees build -queen'
    query, plain = Query.parse(text, MODEL), Query.parse("Which cells of wax do bees build", MODEL)
    assert query.text == text
    assert query.question == plain.text == plain.question
    assert query.vector.tolist() == plain.vector.tolist()
    assert (query.terms, query.vocab_coverage) == (plain.terms, plain.vocab_coverage)
    assert (query.phrases, query.excluded) == (("cells of wax",), ("queen",))
    assert query.has_operators
    assert not plain.has_operators


def test_operators_can_be_turned_off() -> None:
    text = 'Which "cells" do bees build -queen'
    query = Query.parse(text, MODEL, operators=False)
    assert (query.phrases, query.excluded, query.question) == ((), (), text)
    assert query.vector.tolist() == MODEL.encode_query(text).tolist()


@pytest.mark.parametrize("text", ["-queen", '-"queen bee" -drone', " -queen ?"])
def test_only_exclusions_ask_nothing(text: str) -> None:
    with pytest.raises(BadQuestion, match="only says what passages must not hold"):
        Query.parse(text, MODEL)
