"""A vocabulary of subwords: every byte has an id, and words are cut alone."""

import pytest

pytest.importorskip("torch", reason="needs the train extra")

from hypothesis import given
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost_lab.model.bytes.tokenizer import OFFSET
from milepost_lab.tokens.subwords import Vocabulary, _bytes_of_letters
from milepost_lab.tokens.units import windows_of

pytestmark = pytest.mark.torch
LEARNED = Vocabulary(["low lower lowest, new newer newest. "] * 5, 280)


@given(st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable()))
def test_any_text_has_its_bytes_back_from_its_subwords(text):
    """A vocabulary without merges has a subword a byte, whose first byte is that byte."""
    plain = Vocabulary([], 258)
    for window in windows_of([text], 32):
        ids = [number for word in plain.ids(window) for number in word]
        assert [int(plain.first_bytes[n]) - OFFSET for n in ids] == list(window.data)


@pytest.mark.parametrize("text", ["low newest", "naïve, новый\n\n", "<pad> and <end>"])
def test_a_subword_begins_with_its_first_byte_and_stays_within_a_word(text):
    (window,) = windows_of([text], 80)
    rows, places = LEARNED.ids(window), LEARNED.places(window)
    assert len(rows) == len(window.words)
    assert [last - first for first, last in places] == [len(row) for row in rows]
    for word, row in zip(window.words, rows, strict=True):
        assert min(row) > 1  # neither padding nor end
        assert LEARNED.first_bytes[row[0]] - OFFSET == window.data[word.first]


def test_frequent_words_are_one_subword():
    (window,) = windows_of(["low new lowliest"], 80)
    assert [len(row) for row in LEARNED.ids(window)][:3] == [1, 1, 1]
    assert len(LEARNED) <= 280


def test_every_byte_has_a_letter():
    assert sorted(_bytes_of_letters().values()) == list(range(256))


def test_a_vocabulary_must_hold_all_bytes():
    with pytest.raises(InputError, match="258 or more"):
        Vocabulary(["text"], 200)
