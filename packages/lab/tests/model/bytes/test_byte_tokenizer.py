"""Bytes as ids and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the train extra")  # its room imports torch

from milepost.errors import InputError  # noqa: E402
from milepost_lab.model.bytes.tokenizer import (  # noqa: E402
    SENTINELS,
    clip,
    decode,
    encode,
    sentinel,
    window_at,
    windows,
)

pytestmark = pytest.mark.torch


def test_ids_of_letters_accents_and_signs_of_three_bytes():
    """Check 1 of MonoByte's page."""
    assert encode("olá") == [114, 111, 198, 164, 1]
    assert encode("ß€", end=False) == [198, 162, 229, 133, 175]
    assert len(encode("中文", end=False)) == 6


def test_a_text_is_cut_at_a_character():
    """Check 7: five bytes of three letters and a sign of three bytes are the letters."""
    data = "abc中".encode()
    assert clip(data, 5) == b"abc"
    assert clip(data, 6) == data
    assert window_at(data, 4, 9) == "中".encode()
    assert window_at(data, 1, 4) == b"bc"
    assert window_at(bytes([0x80] * 9), 6, 2) == bytes([0x80] * 2)


def test_equal_bytes_are_not_equal_content():
    """Check 8: characters that 1,024 bytes hold."""
    texts = {
        "The quick brown fox": (1.0, 1024),
        "быстрая лиса": (23 / 12, 534),
        "敏捷的狐狸": (3.0, 341),
        "দ্রুত শিয়াল": (34 / 12, 361),
    }
    for text, (ratio, held) in texts.items():
        each = len(text.encode()) / len(text)
        assert each == pytest.approx(ratio)
        assert int(1024 / each) == held


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.integers(4, 20))
def test_ids_and_windows_join_to_the_text_again(text, most):
    data = text.encode()
    assert decode(encode(text)) == data
    pieces = windows(data, most)
    assert b"".join(pieces) == data
    for piece in pieces:
        assert 0 < len(piece) <= most
        piece.decode("utf-8")


@given(st.binary(max_size=60), st.integers(1, 9))
def test_bytes_that_are_no_text_are_cut_all_the_same(data, most):
    pieces = windows(data, most)
    assert b"".join(pieces) == data
    assert all(0 < len(piece) <= most for piece in pieces)


def test_marks_of_gaps_are_bytes_that_never_occur():
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    used = set(every.encode())
    assert {sentinel(n) - 3 for n in range(SENTINELS)}.isdisjoint(used)
    assert sentinel(SENTINELS - 1) - 4 in used
    with pytest.raises(InputError, match="gap 12 has no mark"):
        sentinel(SENTINELS)


def test_half_a_character_is_named():
    with pytest.raises(InputError, match="offset 2"):
        encode("ab\ud800")
