"""Sections and characters."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from milepost.view.pack import ALPHABET, Pack, as_characters, varints


def bytes_of(text: str) -> bytes:
    values = [ALPHABET.index(sign) for sign in text if sign in ALPHABET]
    bits = "".join(f"{a * 91 + b:013b}" for a, b in zip(values[::2], values[1::2], strict=True))
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))


@given(st.binary(max_size=400))
def test_characters_hold_bytes_and_nothing_that_html_reads(data: bytes) -> None:
    text = as_characters(data)
    assert bytes_of(text)[: len(data)] == data
    assert set(text) <= {*ALPHABET, "\n"}
    assert not set(text) & set('<&"')


def test_characters_take_a_quarter_more_than_bytes() -> None:
    assert len(as_characters(bytes(1_300_000))) < 1.232 * 1_300_000


@given(st.lists(st.integers(0, 2**40)))
def test_varints_come_back(values: list[int]) -> None:
    found, value, shift = [], 0, 0
    for byte in varints(np.array(values, np.int64)):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    assert found == values


def test_a_section_is_where_the_header_says() -> None:
    pack = Pack()
    pack.facts["n"] = 3
    pack.add("a", b"first" * 100)
    pack.add_json("b", ["\ud800", "\u2028", "</script>"])
    data = pack.to_bytes()
    (length,) = struct.unpack("<I", data[:4])
    header = json.loads(data[4 : 4 + length])
    section = header["sections"]["b"]
    start = 4 + length + section["at"]
    text = zlib.decompress(data[start : start + section["bytes"]], -15)
    assert json.loads(text) == ["\ud800", "\u2028", "</script>"]
    assert header["facts"] == {"n": 3}
