"""What is given within a budget: equal lengths, best places first, order of the text."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers, trainers

from milepost.engine.tokenizer import Tokenizer
from milepost.errors import InputError
from milepost.testing import fake_encoder
from milepost.types import Document
from milepost_eval.answers.contexts import (
    SEPARATOR,
    ContextSource,
    CutInMiddle,
    NoContext,
    Retrieved,
    filled,
    sources,
)
from milepost_eval.answers.tokens import TokenCounter
from milepost_eval.names import Workshop
from milepost_eval.systems.landmark import Milepost
from milepost_eval.types import Place
from milepost_eval.vectors import Vectors
from support.longbench_files import code, context

TEXT = context((0, 1), filler=120)
QUESTIONS = ["What is the harbour code of Zebulon?", "How many cranes did visitors count?"]
BUDGETS = (1, 7, 64, 300)


@cache
def byte_level() -> TokenCounter:
    """A tokenizer whose tokens hold the space before their word and parts of a word."""
    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([TEXT], trainer)
    return TokenCounter(Tokenizer(backend, "<s>", "</s>"))


@cache
def counter() -> TokenCounter:
    return TokenCounter(fake_encoder().tokenizer)


@cache
def source(name: str) -> ContextSource:
    if name == "landmark":
        return Retrieved(Milepost(name, fake_encoder()), counter())
    return sources([name], Workshop(Vectors(None)), counter())[0]


@pytest.mark.parametrize(
    "name", ["bm25", "bm25:400", "bm25:400-200", "bm25-scales", "landmark", "whole"]
)
def test_budgets_are_equal_and_spent(name: str) -> None:
    """No system gets more than the budget; all get what a word less than the budget holds."""
    longest = max(counter().count(word) for word in TEXT.split())
    for contexts in source(name).contexts(Document("d", TEXT), QUESTIONS, BUDGETS):
        for budget, found in zip(BUDGETS, contexts, strict=True):
            assert counter().count(found.text) == found.tokens <= budget
            assert budget - found.tokens < longest


@pytest.mark.parametrize("name", ["bm25:400", "bm25:400-200", "landmark", "whole"])
def test_a_budget_above_the_text_gives_all_of_it(name: str) -> None:
    """Every word comes once, in order, and nothing else."""
    (contexts,) = source(name).contexts(Document("d", TEXT), QUESTIONS[:1], [10_000])
    assert contexts[0].text.split() == TEXT.split()
    assert contexts[0].tokens == counter().count(TEXT)


@pytest.mark.parametrize("name", ["bm25", "landmark"])
def test_what_is_retrieved_holds_the_answer(name: str) -> None:
    """With a budget of two sentences the fact is there, which the whole text cut to it has lost."""
    (found,) = source(name).contexts(Document("d", TEXT), QUESTIONS[:1], [40])
    assert code(0) in found[0].text
    (cut,) = source("whole").contexts(Document("d", TEXT), QUESTIONS[:1], [40])
    assert code(0) not in cut[0].text


def test_whole_is_cut_in_the_middle() -> None:
    """Half of the budget from the beginning, half from the end."""
    (found,) = CutInMiddle(counter()).contexts(Document("d", TEXT), ["?"], [40])
    head, tail = found[0].text.split(SEPARATOR)
    assert TEXT.startswith(head)
    assert TEXT.endswith(tail)
    assert abs(counter().count(head) - counter().count(tail)) <= 2


def test_none_is_empty() -> None:
    """One empty context a budget and question."""
    found = list(NoContext().contexts(Document("d", TEXT), QUESTIONS, BUDGETS))
    assert [[each.text for each in row] for row in found] == [[""] * 4] * 2


def test_places_are_in_the_order_of_the_text_and_paid_once() -> None:
    """Overlapping places are joined, others parted by a blank line, whatever their rank."""
    text = "One two three four. Five six seven eight. Nine ten."
    places = [Place("d", 42, 51, 3.0), Place("d", 0, 13, 2.0), Place("d", 8, 19, 1.0)]
    spans, tokens, full = filled(text, places, 100, counter())
    assert [text[a:b] for a, b in spans] == ["One two three four.", "Nine ten."]
    assert tokens == counter().count("One two three four.") + counter().count("Nine ten.")
    assert not full


TEXTS = st.text(alphabet="ab cdé.,\n東京1", min_size=1, max_size=120)


@given(data=st.data(), text=TEXTS, budget=st.integers(1, 40), kind=st.sampled_from([0, 1]))
def test_any_places_keep_to_the_budget(
    data: st.DataObject, text: str, budget: int, kind: int
) -> None:
    """The budget holds by a count of what is given; nothing but places is given, none left out."""
    tokens = (counter, byte_level)[kind]()
    edges = st.integers(0, len(text))
    pairs = data.draw(st.lists(st.tuples(edges, edges), max_size=8))
    places = [Place("d", min(pair), max(pair), 0.0) for pair in pairs]
    spans, spent, full = filled(text, places, budget, tokens)
    assert sum(tokens.count(text[a:b]) for a, b in spans) == spent <= budget
    assert all(text[b:c].strip() for (_, b), (c, _) in pairwise(spans))
    wanted = {n for place in places for n in range(place.start, place.end) if text[n].strip()}
    got = {n for a, b in spans for n in range(a, b) if text[n].strip()}
    assert got <= wanted
    assert full or got == wanted


@given(text=TEXTS, most=st.integers(0, 40), kind=st.sampled_from([0, 1]))
def test_beginning_and_end_are_of_whole_words(text: str, most: int, kind: int) -> None:
    """They are parts of the text, within the number of tokens, and no cased word is cut."""
    tokens = (counter, byte_level)[kind]()
    head, tail = tokens.head(text, most), tokens.tail(text, most)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert max(tokens.count(head), tokens.count(tail)) <= most
    for cut in (len(head), len(text) - len(tail)):
        if 0 < cut < len(text):
            assert not re.fullmatch("[a-zé1]{2}", text[cut - 1 : cut + 1])


def test_unknown_systems_are_named() -> None:
    """The message gives the nearest name, and the two that only this command has."""
    with pytest.raises(InputError, match=r"unknown system 'bm52'.*'bm25'.*none, whole"):
        sources(["landmark", "bm52"], Workshop(Vectors(None)), counter())
