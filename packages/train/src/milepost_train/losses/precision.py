"""In which precision the losses count: float32 at least, whatever the network runs in."""

from __future__ import annotations

import torch
from torch import Tensor


def wide(values: Tensor) -> Tensor:
    """``values`` in float32; float64 stays, so that gradients can be checked against differences.

    Sums of hundreds of exponentials, and differences of nearly equal scores at a temperature of
    0.02, drown in the eight bits of bfloat16.
    """
    return values if values.dtype == torch.float64 else values.float()


def similarities(left: Tensor, right: Tensor) -> Tensor:
    """Inner products ``(q, n)`` of ``(q, d)`` and ``(n, d)``, also inside an autocast region.

    Autocast would turn this very product back into bfloat16.
    """
    with torch.autocast(left.device.type, enabled=False):
        return wide(left) @ wide(right).T


def mean_of_rows(values: Tensor, rows: Tensor) -> Tensor:
    """Mean of ``values`` ``(q,)`` where ``rows`` ``(q,)`` bool holds; zero where it never does."""
    return values.masked_fill(~rows, 0.0).sum() / rows.sum().clamp(min=1)


def log_sum(scores: Tensor, where: Tensor) -> Tensor:
    """``log sum exp`` of each row ``(q,)`` of ``scores`` ``(q, n)``, over what ``where`` marks.

    Of nothing it is minus infinity, with a gradient of zeros; torch's own is NaN there.
    """
    rows = where.any(dim=1)
    kept = where | ~rows[:, None]
    whole = scores.masked_fill(~kept, float("-inf")).logsumexp(dim=1)
    return whole.masked_fill(~rows, float("-inf"))
