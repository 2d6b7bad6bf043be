"""Four poolings as positions in a row."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra: pip install 'milepost[train]'")

import torch  # noqa: E402

from milepost.lab.lmk.readouts import POOLINGS, Pooling, pooled_row  # noqa: E402
from milepost.model.lmk import pad, pool  # noqa: E402

TEXT = [[11, 12], [13, 14, 15], [16, 17]]
SPECIAL = {"opening": 1, "closing": 2}


@pytest.mark.parametrize(
    ("pooling", "wanted"), [("cls", [0]), ("last", [8]), ("mean", list(range(9)))]
)
def test_rows_worked_by_hand(pooling: Pooling, wanted: list[int]) -> None:
    """One row for all three; what is pooled differs."""
    row = pooled_row(TEXT, pooling, **SPECIAL)
    assert row.ids == [1, 11, 12, 13, 14, 15, 16, 17, 2]
    assert row.landmarks == wanted


def test_landmarks_worked_by_hand() -> None:
    """Example A of the rule, and a landmark behind each sentence."""
    row = pooled_row(TEXT, "lmk", **SPECIAL, granularity=3)
    assert row.ids == [1, 11, 12, 13, 2, 14, 15, 16, 2, 17, 2]
    assert row.landmarks == [4, 8, 10]
    row = pooled_row(TEXT, "lmk", **SPECIAL, granularity="sentences")
    assert row.ids == [1, 11, 12, 2, 13, 14, 15, 2, 16, 17, 2]
    assert row.landmarks == [3, 7, 10]


def test_a_short_text_is_one_row_for_all() -> None:
    """Up to one piece, LMK reads the very ids the others read, and pools what last pools."""
    rows = {pooling: pooled_row(TEXT, pooling, **SPECIAL) for pooling in POOLINGS}
    assert len({tuple(row.ids) for row in rows.values()}) == 1
    assert rows["lmk"].landmarks == rows["last"].landmarks


@given(
    text=st.lists(st.lists(st.integers(10, 99), min_size=1, max_size=9), max_size=9),
    pooling=st.sampled_from(POOLINGS),
    granularity=st.one_of(st.integers(1, 12), st.just("sentences")),
)
def test_every_pooling_reads_all_of_the_text(
    text: list[list[int]], pooling: Pooling, granularity: int
) -> None:
    """No token is lost, none is added but the special ones; something is pooled."""
    row = pooled_row(text, pooling, **SPECIAL, granularity=granularity)
    assert [token for token in row.ids if token > 2] == [n for each in text for n in each]
    assert row.ids[0] == 1
    assert row.ids[-1] == 2
    assert row.landmarks
    assert row.landmarks == sorted(set(row.landmarks))
    assert 0 <= row.landmarks[0] <= row.landmarks[-1] < len(row.ids)


@given(length=st.integers(1, 400), most=st.integers(1, 100))
def test_fewer_states_are_spread_evenly(length: int, most: int) -> None:
    """As many as asked for, the gaps alike to one token, as far from both ends."""
    row = pooled_row([[11] * length], "mean", **SPECIAL, most=most)
    at = row.landmarks
    assert len(at) == min(most, length + 2)
    gaps = {b - a for a, b in pairwise(at)}
    assert not gaps or max(gaps) - min(gaps) <= 1
    assert abs(at[0] - (length + 1 - at[-1])) <= 1


def test_the_mean_is_the_mean() -> None:
    """``lmk.pool`` over a mean row is the average of all its states."""
    padded = pad([pooled_row(TEXT, "mean", **SPECIAL)], 0)
    states = torch.randn(1, 9, 4, generator=torch.Generator().manual_seed(1))
    mask, chosen = torch.from_numpy(padded.mask), torch.from_numpy(padded.landmarks)
    found = pool(states, mask, chosen, normalized=False)
    assert torch.allclose(found, states.mean(1), atol=1e-6)
