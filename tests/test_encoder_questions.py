"""Questions to vectors, and how well the tokenizer knows what is asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from milepost.encoder import Encoder
from milepost.engine.fake import FakeEngine
from milepost.engine.folder import ModelFolder
from milepost.engine.manifest import Manifest
from milepost.engine.tokenizer import Tokenizer
from milepost.errors import BadQuestion
from milepost.testing import fake_encoder
from support.recorded_encoder import recorded

MODEL = fake_encoder()
PROSE = "The whale is a mammal, and it breathes air. Sailors saw it; nobody believed them. "


@pytest.mark.parametrize("question", ["", "   ", "\n", "?", "!?… —", "。", "😀"])
def test_a_question_without_words_is_refused(question: str) -> None:
    with pytest.raises(BadQuestion, match="ask in words") as raised:
        MODEL.encode_query(question)
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


def test_the_shipped_tokenizer_does_not_know_thai(shared_data: Path) -> None:
    path = shared_data / "init" / "landmark-minilm" / "tokenizer.json"
    folder = ModelFolder(path.parent, Manifest("m", "m", 32))
    model = Encoder(folder, FakeEngine(), Tokenizer(path, "[CLS]", "[SEP]"))
    assert model.vocab_coverage("The whale is a mammal of the sea") == 1.0
    assert model.vocab_coverage("Das Wetter ist schön heute") > 0.5
    for question in ("ภาษาไทยเป็นภาษาที่สวยงาม", "हिन्दी में मेरा नाम", "東京都は首都です", "Привет"):
        assert model.vocab_coverage(question) < 0.2
