"""Which tokens a text is read with, and whose states are averaged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost_lab.lmk.arms import POOLINGS, Pooling, pooled_row  # noqa: E402

CONTENT = [11, 12, 13, 14, 15, 16, 17]


@pytest.mark.parametrize(
    ("pooling", "ids", "averaged"),
    [
        ("lmk", [1, 11, 12, 13, 2, 14, 15, 16, 2, 17, 2], [4, 8, 10]),
        ("mean", [1, *CONTENT, 2], list(range(9))),
        ("cls", [1, *CONTENT, 2], [0]),
        ("last", [1, *CONTENT, 2], [8]),
        ("every", [1, *CONTENT, 2], [3, 6]),
        ("multi-cls", [1, 11, 12, 13, 1, 14, 15, 16, 1, 17, 2], [0, 4, 8]),
    ],
)
def test_rows_by_hand(pooling: Pooling, ids: list[int], averaged: list[int]) -> None:
    row = pooled_row(CONTENT, pooling, opening=1, closing=2, granularity=3)
    assert row.ids == ids
    assert row.landmarks == averaged


@given(
    content=st.lists(st.integers(10, 99), max_size=40),
    pooling=st.sampled_from(POOLINGS),
    granularity=st.integers(1, 12),
)
def test_every_pooling_reads_the_same_content(
    content: list[int], pooling: Pooling, granularity: int
) -> None:
    """The content is whole and in order, something is averaged, and LMK has one extra a piece."""
    row = pooled_row(content, pooling, opening=1, closing=2, granularity=granularity)
    assert [token for token in row.ids if token > 9] == content
    assert row.landmarks
    assert all(0 <= place < len(row.ids) for place in row.landmarks)
    pieces = max(1, -(-len(content) // granularity))
    if pooling == "lmk":
        assert [row.ids[place] for place in row.landmarks] == [2] * pieces
    if pooling == "multi-cls":
        assert [row.ids[place] for place in row.landmarks] == [1] * pieces
        assert len(row.ids) == len(content) + pieces + 1
