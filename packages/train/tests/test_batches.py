"""Windows of training text as tensors: the same layout as the encoder's."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.encoder.engine.tokenizer import Tokenizer
from milepost_train.batches import around, assemble, windows_of
from milepost_train.data import Text
from support.recorded_encoder import recorded

BOS, LANDMARK = 101, 102


def text(lengths: list[int], first: int = 1000) -> Text:
    starts = np.cumsum([0, *lengths], dtype=np.int64)
    ids = np.arange(first, first + int(starts[-1]), dtype=np.int32)
    return Text("t", "task", ids, starts, [(n * 10, n * 10 + 10) for n in range(len(lengths))])


def test_worked_by_hand() -> None:
    batch = windows_of([(0, 0, 2), (1, 1, 2)], [text([2, 1]), text([1, 1], 5)], BOS, LANDMARK)
    assert batch.ids.tolist() == [[101, 1000, 1001, 102, 1002, 102], [101, 6, 102, 0, 0, 0]]
    assert batch.sentences.tolist() == [[0, 1, 1, 1, 2, 2], [0, 1, 1, -1, -1, -1]]
    assert batch.marks.tolist() == [[3, 5], [2, 0]]
    assert batch.used.tolist() == [[True, True], [True, False]]
    assert batch.owners.tolist() == [[0, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize("bos_id", ["[CLS]", ""])
def test_training_and_encoding_agree(bos_id: str) -> None:
    model, engine = recorded()
    model.tokenizer = Tokenizer(model.tokenizer._backend, bos_id, "[SEP]")
    sentences = ["One whale sings. ", "Two ships pass by. ", "None."]
    model.encode("".join(sentences))
    seen = engine.batches
    tokenizer = model.tokenizer
    row = [np.array(tokens.ids, np.int32) for tokens in tokenizer.encode(sentences)]
    owners = [(0, n) for n in range(3)]
    batch = assemble([row], owners, tokenizer.bos_id, tokenizer.landmark)
    for theirs, ours in zip(seen[0], (batch.ids, batch.sentences, batch.marks), strict=True):
        width = ours.shape[1]  # the encoder pads further, to one of few lengths
        assert theirs[:, :width].tolist() == ours.tolist()
    assert (seen[0][1][:, batch.sentences.shape[1] :] == -1).all()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=30),
    st.integers(4, 200),
    st.integers(0, 1000),
    st.booleans(),
    st.data(),
)
def test_a_window_around_a_sentence(
    lengths: list[int], size: int, seed: int, causal: bool, data: st.DataObject
) -> None:
    """It holds the sentence, lies in the text, and is no larger than asked where that can be."""
    sentence = data.draw(st.integers(0, len(lengths) - 1))
    number, first, last = around(text(lengths), 3, sentence, size, Random(seed), causal=causal)
    assert number == 3
    assert 0 <= first <= sentence < last <= len(lengths)
    tokens = 1 + sum(length + 1 for length in lengths[first:last])
    assert tokens <= size or (first, last) == (sentence, sentence + 1)
    assert not causal or last == sentence + 1
    whole = 1 + sum(length + 1 for length in lengths) <= size
    assert causal or not whole or (first, last) == (0, len(lengths))
