"""Where paragraphs begin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.paragraphs import paragraph_starts


@pytest.mark.parametrize(
    ("sentences", "starts"),
    [
        ([], []),
        (["One."], [True]),
        (["One. ", "Two.\n", "Three."], [True, False, False]),
        (["One.\n\n", "Two.\n \t\n", "Three.\r\n\r\n", "Four."], [True] * 4),
        (["\n\n", "One.\n\n\n\n", "Two."], [True, True, True]),
        (["A line\n\nbroken inside. ", "Two."], [True, True]),
        (["One.\n\n"], [True]),
    ],
)
def test_by_hand(sentences: list[str], starts: list[bool]) -> None:
    assert found(sentences) == starts


def found(sentences: list[str]) -> list[bool]:
    ends = np.cumsum([len(s) for s in sentences], dtype=np.int64)
    spans = np.stack((np.concatenate(([0], ends[:-1])), ends), axis=1) if len(ends) else ends
    return paragraph_starts("".join(sentences), spans.reshape(-1, 2)).tolist()


@given(st.lists(st.sampled_from(["a. ", "b.\n", "c.\n\n", "\n"]), max_size=12))
def test_a_start_follows_an_empty_line(sentences: list[str]) -> None:
    starts = found(sentences)
    assert len(starts) == len(sentences)
    assert all(starts[:1])
    for before, start in zip(sentences, starts[1:], strict=False):
        if before == "c.\n\n":
            assert start
