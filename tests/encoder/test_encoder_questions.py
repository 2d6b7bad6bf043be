"""Questions to vectors, and how well the tokenizer knows what is asked."""

import numpy as np
import pytest

from milepost.encoder.engine.manifest import prefixed
from milepost.encoder.reranker import LandmarkReranker
from milepost.errors import BadQuestion
from milepost.testing import fake_encoder
from support.recorded_encoder import recorded

MODEL = fake_encoder()
PREFIX = "query: "
PROSE = "The whale is a mammal, and it breathes air. Sailors saw it; nobody believed them. "


@pytest.mark.parametrize("question", ["", "   ", "\n", "?", "!?… —", "。", "😀"])
def test_a_question_without_words_is_refused(question: str) -> None:
    """A prefix makes no question, and is not named as one."""
    said = f"{question.strip()!r} has neither" if question.strip() else "is empty"
    for model in (MODEL, recorded(query_prefix=PREFIX)[0]):
        with pytest.raises(BadQuestion, match="ask in words") as raised:
            model.encode_query(question)
        assert said in str(raised.value)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("question", ["why", " 42? ", "東京", "क", "Dr. Who? Mr. X. And more."])
def test_a_question_is_one_sentence(question: str) -> None:
    model, engine = recorded()
    vector = model.encode_query(question)
    assert vector.shape == (32,)
    assert abs(float(np.linalg.norm(vector)) - 1.0) < 1e-5
    assert [marks.shape for _, _, marks in engine.batches] == [(1, 1)]
    assert model.encode_query(question.strip()).tobytes() == vector.tobytes()


def test_a_question_longer_than_a_sentence() -> None:
    question = PROSE * 12
    assert MODEL.count_tokens(question) > MODEL.manifest.longest
    vector = MODEL.encode_query(question)
    assert vector.tobytes() == MODEL.encode(question.strip()).document.tobytes()


def test_vocab_coverage() -> None:
    assert MODEL.vocab_coverage("the sea has seven big red fish") > 0.7
    assert MODEL.vocab_coverage("x y z") == 0.0
    assert MODEL.vocab_coverage("1851, 1,600!") == 1.0  # no letters: nothing speaks against it
    for question in ("ภาษาไทยเป็นภาษา", "東京都", "हिन्दी में", "Привет"):
        assert MODEL.vocab_coverage(question) == 0.0
    marks = MODEL.encode("The sea was calm that day. Спокойное море.")
    assert marks.vocab_coverage[0] > 0.5 > marks.vocab_coverage[1]


LONG = "Who paid for the ship? The town had none to give. " * 6


@pytest.mark.parametrize("question", ["Who builds?", "  who\n", "One. Two! Three?", LONG])
def test_a_prefix_is_read_as_if_it_were_asked(question):
    with_it, seen = recorded(query_prefix=PREFIX, longest=40, window=80)
    without, wanted = recorded(longest=40, window=80)
    found = with_it.encode_query(question)
    np.testing.assert_array_equal(found, without.encode_query(PREFIX + question.strip()))
    for batch, other in zip(seen.batches, wanted.batches, strict=True):
        for array, like in zip(batch, other, strict=True):
            np.testing.assert_array_equal(array, like)
    assert np.abs(found - without.encode_query(question)).max() > 1e-3
    assert with_it.vocab_coverage(question) == without.vocab_coverage(question)


def test_its_tokens_count_among_the_questions():
    tokens = MODEL.count_tokens(PREFIX)
    for words, windows in ((20 - tokens, 1), (21 - tokens, 2)):
        encoder, engine = recorded(query_prefix=PREFIX, longest=20, window=40)
        encoder.encode_query("who " * words)
        marks = [mark for _, _, marks in engine.batches for mark in marks.ravel() if mark]
        assert len(marks) == windows


def test_the_reranker_asks_by_its_own_prefix():
    encoder, engine = recorded(query_prefix=PREFIX, window=40, longest=20)
    asked = LandmarkReranker(encoder).for_query(" Who builds? ")
    question = list(MODEL.tokenizer.count([prefixed("Who builds?", PREFIX)])[0][0])
    assert asked.room == 40 - 2 - len(question)
    asked.read([asked.tokens(["Bees build."])])
    first = [MODEL.tokenizer.bos_id, *question, MODEL.tokenizer.landmark]
    assert engine.batches[0][0][0][: len(first)].tolist() == first
    assert LandmarkReranker(encoder).for_query("who " * (21 - MODEL.count_tokens(PREFIX))) is None
