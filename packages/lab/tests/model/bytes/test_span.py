"""Gaps in a row of ids, and what stood in them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the train extra")  # its room imports torch

from milepost.errors import InputError  # noqa: E402
from milepost_lab.model.bytes.span import (  # noqa: E402
    corrupt,
    corrupted_lengths,
    gaps_of,
    random_gaps,
)
from milepost_lab.model.bytes.tokenizer import END, SENTINEL, SENTINELS, encode  # noqa: E402

pytestmark = pytest.mark.torch


def restore(inputs, targets):
    """Undo ``corrupt``, without the end; gaps without content stay empty."""
    marks = range(SENTINEL - SENTINELS + 1, SENTINEL + 1)
    content, here = {}, []
    for one in targets:
        if one == END:
            break
        if one in marks:
            here = content.setdefault(one, [])
        else:
            here.append(one)
    whole = []
    for one in inputs:
        if one == END:
            break
        whole.extend(content.get(one, []) if one in marks else [one])
    return whole


def test_lengths_follow_from_the_length_of_a_gap():
    """Check 3: the published 229 targets belong to gaps of 3, not of 20."""
    assert corrupted_lengths(1137, 3) == (1024, 229)
    assert corrupted_lengths(1193, 20) == (1024, 189)
    assert gaps_of(1193, 20) == (179, 9)


def test_a_row_with_two_gaps():
    """Check 4."""
    ids = encode("abcdefghij", end=False)
    inputs, targets = corrupt(ids, [n in (3, 4, 5, 8, 9) for n in range(10)])
    assert inputs == [100, 101, 102, 258, 106, 107, 257, 1]
    assert targets == [258, 103, 104, 105, 257, 108, 109, 1]
    assert restore(inputs, targets) == ids


@given(st.integers(2, 300), st.sampled_from([4.0, 8.0, 20.0, 40.0]), st.integers(0, 99))
def test_gaps_are_as_many_and_as_long_as_promised_and_can_be_filled(length, mean, seed):
    rng = np.random.default_rng(seed)
    gaps = random_gaps(length, mean, rng)
    noise, spans = gaps_of(length, mean)
    begins = int(gaps[0]) + int((gaps[1:] & ~gaps[:-1]).sum())
    assert (len(gaps), int(gaps.sum()), begins) == (length, noise, spans)
    assert not gaps[0]
    if spans <= 11:
        ids = [int(n) for n in rng.integers(3, 248, length)]
        inputs, targets = corrupt(ids, gaps.tolist())
        assert restore(inputs, targets) == ids
        assert (len(inputs), len(targets)) == corrupted_lengths(length, mean)


def test_more_gaps_than_marks_are_refused():
    """The published recipe with gaps of 3 takes marks that are bytes of real text."""
    with pytest.raises(InputError, match="gap 12 has no mark"):
        corrupt([5] * 24, [n % 2 == 1 for n in range(24)])
    with pytest.raises(InputError, match="3 flags for 2 ids"):
        corrupt([5, 6], [True, False, True])
