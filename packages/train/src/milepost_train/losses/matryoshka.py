"""Matryoshka training: the first numbers of a vector are to be a good vector by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch.nn.functional as F
from torch import Tensor

from milepost_train.losses.precision import wide


def over_prefixes(
    loss: Callable[..., Tensor], vectors: Sequence[Tensor], sizes: Sequence[int]
) -> Tensor:
    """Any loss of vectors, over their prefixes (arXiv 2205.13147).

    ``mean over sizes d of loss(V_1[:d] / |V_1[:d]|, V_2[:d] / |V_2[:d]|, ...)``. Prefixes are
    brought to unit length, since that is how shortened vectors are compared. The mean takes the
    place of the paper's sum, so that the learning rate need not follow the number of sizes.

    Args:
        loss: takes as many matrices as there are ``vectors``, in their order.
        vectors: matrices ``(n_k, d)``, all of one width.
        sizes: widths to train; the full one is among them only if named.

    Raises:
        ValueError: there are no sizes, or one exceeds the width of the vectors.
    """
    width = min(v.shape[-1] for v in vectors)
    if not sizes or not all(1 <= size <= width for size in sizes):
        raise ValueError(f"sizes {list(sizes)} for vectors of width {width}: name 1 to {width}")
    terms = [loss(*(F.normalize(wide(v[..., :size]), dim=-1) for v in vectors)) for size in sizes]
    total: Tensor = sum(terms[1:], terms[0])
    return total / len(sizes)
