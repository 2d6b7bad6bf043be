"""Words remembered give what the tokenizer gives, whatever stands in the text."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken
from tokenizers import Tokenizer as Backend

from milepost.encoder.engine import words
from milepost.encoder.engine.folder import find_model
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.engine.words import divides_words
from support.threads import at_once
from support.tiny_transformers import tiny_tokenizer

SHIPPED = Tokenizer(find_model().tokenizer, "[CLS]", "[SEP]")
TEXT = st.text(
    alphabet=st.sampled_from(
        "aeinrstThKéïİßﬁ …’“”«»§·≠£5-_.,;[]SEPCL’\u00a0\u00ad\u0301\u2028\x00\n\t"
    )
    | st.characters(),
    max_size=60,
)


def remembered(tokenizer: Tokenizer, sentences: list[str]) -> list[tuple[object, ...]]:
    return [(list(ids), *rest) for ids, *rest in tokenizer.count(sentences)]


def test_the_shipped_tokenizer_is_remembered() -> None:
    assert SHIPPED._words is not None


@settings(max_examples=120)
@given(st.lists(TEXT, max_size=4))
def test_as_the_tokenizer_says(sentences: list[str]) -> None:
    counted = remembered(SHIPPED, sentences)
    assert counted == SHIPPED._count(sentences)
    assert counted == remembered(SHIPPED, sentences)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        "One [SEP] of [CLS] these.",
        "a" * 300,
        "naïve, Ångström; “well-known” (e.g. 3.5 µg/l) — 患者は全員が成人だった。 " * 3,
        "\ud800 half a pair",
        "a\x00b\u200bc\u00add",
    ],
)
def test_odd_texts(text: str) -> None:
    assert remembered(SHIPPED, [text]) == SHIPPED._count([text])


@pytest.mark.parametrize("kind", ["unigram", "metaspace", "bytes"])
def test_other_tokenizers_are_asked_each_time(kind: str) -> None:
    assert not divides_words(tiny_tokenizer(kind))


def test_a_token_of_ones_own_is_not_torn() -> None:
    backend = Backend.from_file(str(find_model().tokenizer))
    assert divides_words(backend)
    backend.add_tokens([AddedToken("ice cream.", special=False)])
    assert not divides_words(backend)
    own = Tokenizer(backend, "[CLS]", "[SEP]")
    assert own.count(["an ice cream."])[0][0] == own.encode(["an ice cream."])[0].ids


def test_memory_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_MOST", 50)
    tokenizer = Tokenizer(find_model().tokenizer, "[CLS]", "[SEP]")
    for number in range(40):
        sentences = [f"word{number} and others{number}, again"]
        assert remembered(tokenizer, sentences) == tokenizer._count(sentences)
        assert tokenizer._words._memory.letters < 100


def test_threads_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_MOST", 20)
    tokenizer = Tokenizer(find_model().tokenizer, "[CLS]", "[SEP]")

    def read(seed: int) -> None:
        for number in range(60):
            sentences = [f"thread {seed} has number {number * seed}."]
            assert remembered(tokenizer, sentences) == tokenizer._count(sentences)

    assert at_once(*(partial(read, seed) for seed in range(4))) == []
