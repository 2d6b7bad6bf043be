"""Questions with the model's prefix in front: the encoder, and the reranker by its own."""

from __future__ import annotations

import numpy as np
import pytest

from milepost.engine.manifest import prefixed
from milepost.errors import BadQuestion
from milepost.reranker import LandmarkReranker
from milepost.testing import fake_encoder
from support.recorded_encoder import recorded

MODEL = fake_encoder()
PREFIX = "query: "
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


def test_documents_have_no_prefix():
    with_it, _ = recorded(query_prefix=PREFIX)
    without, _ = recorded()
    np.testing.assert_array_equal(with_it.encode(LONG).vectors, without.encode(LONG).vectors)


def test_its_tokens_count_among_the_questions():
    tokens = MODEL.count_tokens(PREFIX)
    for words, windows in ((20 - tokens, 1), (21 - tokens, 2)):
        encoder, engine = recorded(query_prefix=PREFIX, longest=20, window=40)
        encoder.encode_query("who " * words)
        marks = [mark for _, _, marks in engine.batches for mark in marks.ravel() if mark]
        assert len(marks) == windows


@pytest.mark.parametrize(("question", "words"), [(" ", "is empty"), ("?!", "'\\?!' has neither")])
def test_a_prefix_makes_no_question(question, words):
    encoder, _ = recorded(query_prefix=PREFIX)
    with pytest.raises(BadQuestion, match=words):
        encoder.encode_query(question)


def test_the_reranker_asks_by_its_own_prefix():
    encoder, engine = recorded(query_prefix=PREFIX, window=40, longest=20)
    asked = LandmarkReranker(encoder).for_query(" Who builds? ")
    question = list(MODEL.tokenizer.count([prefixed("Who builds?", PREFIX)])[0][0])
    assert asked.room == 40 - 2 - len(question)
    asked.cosines([asked.tokens(["Bees build."])])
    first = [MODEL.tokenizer.bos_id, *question, MODEL.tokenizer.landmark]
    assert engine.batches[0][0][0][: len(first)].tolist() == first
    assert LandmarkReranker(encoder).for_query("who " * (21 - MODEL.count_tokens(PREFIX))) is None
