"""Attention in blocks against the same attention with a mask of all pairs."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost_train.model.attention import attend, attend_near, bias_of


@settings(max_examples=60, deadline=None)
@given(
    length=st.integers(1, 40),
    reach=st.integers(1, 12),
    ending=st.integers(0, 39),
    seed=st.integers(0, 1000),
)
def test_blocks_equal_the_mask(length: int, reach: int, ending: int, seed: int) -> None:
    """The states of all valid positions are the same, and so are the gradients of the values."""
    drawn = torch.Generator().manual_seed(seed)
    query, key, value = torch.randn(3, 2, 2, length, 4, generator=drawn)
    valid = torch.ones(2, length, dtype=torch.bool)
    valid[1, max(1, length - ending) :] = False
    place = torch.arange(length)
    near = (place[:, None] - place).abs() <= reach
    bias = bias_of(valid[:, None, None] & near, query.dtype)
    results = []
    for blocks in (False, True):
        values = value.clone().requires_grad_()
        if blocks:
            mixed = attend_near(query, key, values, valid, reach)
        else:
            mixed = attend(query, key, values, bias)
        seen = mixed[valid]
        seen.square().sum().backward()
        results.append((seen.detach(), values.grad))
    torch.testing.assert_close(results[1], results[0], atol=1e-5, rtol=1e-4)
