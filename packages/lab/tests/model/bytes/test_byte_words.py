"""A text as words that join to it again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the train extra")  # its room imports torch

from milepost_lab.model.bytes.tokenizer import encode  # noqa: E402
from milepost_lab.model.bytes.words import CAP, split_words  # noqa: E402

pytestmark = pytest.mark.torch
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80)


def test_spaces_words_and_other_signs():
    """Check 10 of the page on word-pooled tokens."""
    words = [word.text for word in split_words(" Hello,  wörld 3.14!\n")]
    assert words == [" ", "Hello", ",", "  ", "wörld", " ", "3", ".", "14", "!", "\n"]


def test_an_indic_word_is_one_piece_where_the_cap_allows():
    """Trap 13: a pattern of letters alone gives 6 pieces. It has 18 bytes: 16 cut it once."""
    assert [word.text for word in split_words("हिन्दी", cap=32)] == ["हिन्दी"]
    assert len(split_words("हिन्दी")) == 2


def test_words_as_ids():
    """Check 1: "to be!", without the spaces."""
    words = [word.text for word in split_words("to be!") if word.kind != "space"]
    assert [encode(word, end=False) for word in words] == [[119, 114], [101, 104], [36]]


@given(TEXTS, st.integers(4, 20))
def test_the_pieces_tile_the_text_in_characters_and_bytes(text, cap):
    words = split_words(text, cap)
    data = text.encode()
    assert "".join(word.text for word in words) == text
    place = byte = 0
    for word in words:
        assert (word.start, word.first) == (place, byte)
        assert text[word.start : word.end] == word.text
        assert data[word.first : word.last] == word.text.encode()
        assert word.last - word.first <= cap
        place, byte = word.end, word.last
    assert (place, byte) == (len(text), len(data))


@given(TEXTS)
def test_a_run_is_cut_only_where_it_is_too_long(text):
    for before, behind in zip(split_words(text), split_words(text)[1:], strict=False):
        if before.kind == behind.kind != "other":
            assert (before.last - before.first) + len(behind.text[0].encode()) > CAP
