"""The 1,797 digits of 8 × 8 that come with scikit-learn."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from milepost._optional import require

TRAINED = 1200
"""Images that are trained on; the other 597 are tested."""


@lru_cache(maxsize=1)
def digits() -> tuple[Tensor, Tensor]:
    """Images ``(1797, 8, 8)`` float32 from 0 to 1, and what they show, ``(1797,)`` int64.

    In one shuffled order; the first ``TRAINED`` are for training.

    Raises:
        MissingExtra: scikit-learn, which holds them, is not installed.
    """
    found = require("sklearn.datasets", extra="lab").load_digits()
    order = torch.randperm(len(found.target), generator=torch.Generator().manual_seed(0))
    images = torch.from_numpy(found.images).float() / 16
    return images[order], torch.from_numpy(found.target).long()[order]
