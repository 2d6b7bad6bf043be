"""Document vectors in training, from the landmarks of a batch."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from milepost_train.losses.precision import wide


def means_of(vectors: Tensor, owner: Tensor, owners: int) -> Tensor:
    """Document vectors: normalised mean of each owner's landmarks (LMK, arXiv 2601.21525).

    Args:
        vectors: ``(n, d)`` landmarks.
        owner: ``(n,)`` int64, the document of each.
        owners: number of documents.
    """
    rows = wide(vectors)
    sums = rows.new_zeros(owners, rows.shape[1]).index_add(0, owner, rows)
    return F.normalize(sums, dim=-1)
