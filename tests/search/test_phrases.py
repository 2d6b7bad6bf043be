"""Searches whose passages must hold phrases and must not hold words."""

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.errors import BadQuestion
from milepost.quotes import fold, occurrences, stripped
from milepost.search import Query, SearchResult, quoted, scope, search
from milepost.search.query import Operators, read_operators
from milepost.store import Store
from milepost.testing import fake_encoder
from support.search_stores import MODELS, asking, empty_store, stored, words
from support.store_reads import reads


def query(
    words: str, phrases: tuple[str, ...] = (), excluded: tuple[str, ...] = (), **options: object
) -> Query:
    text = " ".join(
        [words, *(f'"{each}"' for each in phrases), *(f'-"{each}"' for each in excluded)]
    )
    return replace(asking(words.split(), **options), text=text, phrases=phrases, excluded=excluded)


def asked(store: Store, question: Query, model: str = "plain") -> SearchResult:
    with store.snapshot() as state:
        return search(state, question, MODELS[model])


def holds(text: str, phrase: str) -> bool:
    return any(occurrences(stripped(phrase), fold(text)))


def assert_held(store: Store, question: Query, result: SearchResult) -> None:
    """Every passage is a slice that holds all phrases and nothing excluded, within the limits."""
    limits = question.limits
    assert limits.k is None or len(result.passages) <= limits.k
    for passage in result.passages:
        text = reads(store).document(passage.document).text
        assert passage.text == text[passage.start : passage.end] == passage.text.strip()
        assert passage.hits
        assert all(holds(passage.text, phrase) for phrase in question.phrases)
        assert not any(holds(passage.text, phrase) for phrase in question.excluded)
    if limits.budget is not None:
        measure = words if limits.budget.unit == "t" else len
        assert sum(measure(passage.text) for passage in result.passages) <= limits.budget.size


VOCABULARY = ["red", "green", "blue", "white", "black", "grey", "pink", "gold"]


@cache
def scattered(seed: int, documents: int = 4, sentences: int = 25) -> Store:
    """Documents of short sentences of few words, so that any pair of words is in many places."""
    choice = random.Random(seed)
    texts = (
        [
            " ".join(choice.choices(VOCABULARY, k=choice.randint(3, 9))).capitalize() + ". "
            for _ in range(sentences)
        ]
        for _ in range(documents)
    )
    return stored(**{f"d{d}": text for d, text in enumerate(texts)})


CASES = {
    "one phrase": (("red green",), ()),
    "over a border": (("pink. red",), ()),
    "two phrases": (("red green", "blue"), ()),
    "three phrases": (("red", "green", "gold black"), ()),
    "excluded": ((), ("white",)),
    "both": (("red green",), ("white", "black grey")),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "limits", [(5, None), (1, None), (3, "90c"), (None, "200c"), (None, "25t"), (2, "9t")]
)
def test_passages_hold_what_is_asked(model, case, limits) -> None:
    store, (phrases, excluded) = scattered(1), CASES[case]
    question = query("blue pink", phrases, excluded, k=limits[0], budget=limits[1])
    result = asked(store, question, model)
    assert_held(store, question, result)
    assert set(result.phrases) == set(phrases)
    assert set(result.excluded) == set(excluded)
    texts = [reads(store).document(f"d{d}").text for d in range(4)]
    for phrase, count in result.phrases.items():
        assert count == sum(len(list(occurrences(stripped(phrase), fold(t)))) for t in texts)
    if not (result.phrases and 0 in result.phrases.values()) and limits[1] is None:
        assert (
            result.passages or "no passage" in result.notes[0] or "every place" in result.notes[0]
        )


def test_k_passages_are_filled() -> None:
    text = [f"Bees build, n{n}. " for n in range(40)] + ["A zebra. ", "The end of it all. "]
    store = stored(**{f"d{d}": text for d in range(9)})
    for model in MODELS:
        for phrases in (("zebra",), ("a zebra. the end",)):
            question = query("bees build", phrases, k=7)
            result = asked(store, question, model)
            assert len(result.passages) == 7
            assert_held(store, question, result)


def test_excluded_sentences_part_passages() -> None:
    store = stored(d=["Bees a. ", "Bees b. ", "Bees and wasps. ", "Bees c. ", "Bees d. "])
    question = query("bees", (), ("wasps",))
    result = asked(store, question)
    assert sorted(p.text for p in result.passages) == ["Bees a. Bees b.", "Bees c. Bees d."]
    assert result.notes[0] == 'no passage holds "wasps": 1 sentence left out'
    budget = asked(store, query("bees", (), ("wasps",), budget="100c"))
    assert sorted(p.text for p in budget.passages) == ["Bees a. Bees b.", "Bees c. Bees d."]


def test_words_are_whole_and_their_case_does_not_count() -> None:
    store = stored(d=["The Whale sings. ", "\n\nWhales sing. ", "\n\nA narwhale sings. "])
    assert [p.text[:9] for p in asked(store, query("sing", ("whale",))).passages] == ["The Whale"]
    texts = "".join(p.text for p in asked(store, query("sing", (), ("whale",))).passages)
    assert "The Whale" not in texts
    assert "narwhale" in texts


def test_a_core_that_no_budget_holds_is_cut_around_the_phrase() -> None:
    store = stored(d=["One two three four five six seven golden honey eight nine ten eleven. "])
    for budget, wanted in (
        ("500c", "One two three four five six seven golden honey eight nine ten eleven."),
        ("55c", "One two three four five six seven golden honey eight"),
        ("20c", "golden honey eight"),
        ("12c", "golden honey"),
        ("2t", "golden honey"),
        ("9t", "One two three four five six seven golden honey"),
    ):
        (passage,) = asked(store, query("ten", ("golden honey",), budget=budget, k=3)).passages
        assert passage.text == wanted
    result = asked(store, query("ten", ("golden honey",), budget="11c"))
    assert result.passages == ()
    assert result.notes[0] == 'no passage holds "golden honey": the budget is too small'


def test_the_budget_is_filled_beside_the_phrases() -> None:
    store = stored(d=[f"Sentence {n} of bees. " for n in range(30)])
    question = query("bees", ("sentence 9",), budget="130c")
    (passage,) = asked(store, question).passages
    assert_held(store, question, asked(store, question))
    assert len(passage.text) > 100


@pytest.mark.parametrize(
    ("phrases", "excluded", "note"),
    [
        (("purple",), (), '"purple" is not in the text'),
        (("purple", "one", "violet"), (), '"purple" and "violet" are not in the text'),
        (("one", "four"), (), 'no document holds "one" and "four"'),
        (("one", "three"), (), 'no passage holds "one" and "three": they are too far apart'),
        (("one",), ("two",), '"two" is in every place that could be a passage'),
        (("four",), (), 'every passage holds "four"'),
    ],
)
def test_notes_say_what_the_operators_did(phrases, excluded, note) -> None:
    filler = [f"Filler {n} of the text. " for n in range(90)]
    store = stored(a=["One and two. ", *filler, "Three. "], b=["Four. "])
    result = asked(store, query("text", phrases, excluded))
    assert result.notes[0] == note
    assert bool(result.passages) == note.startswith("every")


def test_only_the_documents_asked_for() -> None:
    store = stored(a=["One zebra. "], b=["One bee. "])
    assert asked(store, query("one", ("zebra",), names=["b"])).notes[0].endswith("not in the text")
    assert len(asked(store, query("one", ("zebra",), names=["a"])).passages) == 1
    nothing = asked(empty_store(), query("one", (), ("zebra",)))
    assert nothing.notes == ("there is no text to search",)
    assert asked(empty_store(), query("one", ("zebra",))).passages == ()


@pytest.mark.parametrize("model", MODELS)
def test_large_collections_find_what_small_ones_do(model: str, monkeypatch) -> None:
    texts = {f"d{d}": [f"Bees of text t{d} at p{n}. " for n in range(20)] for d in range(30)}
    for d in range(3, 30, 7):
        texts[f"d{d}"].append("The golden zebra sleeps. ")
    store = stored(**texts)
    question = query("bees sleep", ("golden zebra",), ("p19",), k=9)
    small = asked(store, question, model)
    monkeypatch.setattr(scope, "EVERYTHING", 30)
    monkeypatch.setattr(quoted, "EVERYTHING", 30)
    large = asked(store, question, model)
    assert_held(store, question, large)
    assert large.phrases == small.phrases == {"golden zebra": 4}
    assert len(small.passages) == 4
    assert {p.document for p in large.passages} <= {p.document for p in small.passages}
    assert large.passages


def test_scores_are_those_of_the_plain_search() -> None:
    store = scattered(5)
    plain = asked(store, asking(["blue"], k=None, budget="9999c"))
    logits = {(p.document, h.start): h.logit for p in plain.passages for h in p.hits}
    held = asked(store, query("blue", ("red green",)))
    for passage in held.passages:
        for hit in passage.hits:
            assert np.isclose(hit.logit, logits[passage.document, hit.start], atol=1e-5)


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
        ('a "-xzf b" -cd', "a -xzf b", "-xzf b", "cd"),
        ('"a" "a" -bc -bc', "a a", "a", "bc"),
        ('why does -F, "-c" or -王 not', "why does -F, -c or not", "-c", "王"),
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
        "it was -5 degrees",
        "what does --json do, and -F?",
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
