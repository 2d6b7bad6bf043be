"""Matryoshka training: the first numbers of a vector are to be a good vector by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch.nn.functional as F
from torch import Tensor

from milepost.train.losses.precision import wide


def over_prefixes(
    loss: Callable[..., Tensor],
    vectors: Sequence[Tensor],
    sizes: Sequence[int],
    weights: Sequence[float] | None = None,
) -> Tensor:
    """Any loss of vectors, over their prefixes (arXiv 2205.13147).

    ``sum over sizes d of c_d * loss(V_1[:d] / |V_1[:d]|, V_2[:d] / |V_2[:d]|, ...) / sum of c``.
    Prefixes are brought to unit length, since that is how shortened vectors are compared. The sum
    is divided by its weights, so that the learning rate need not follow the number of sizes (the
    paper does not).

    Args:
        loss: takes as many matrices as there are ``vectors``, in their order.
        vectors: matrices ``(n_k, d)``, all of one width.
        sizes: widths to train; the full one is among them only if named.
        weights: one per size; by default all are 1.

    Raises:
        ValueError: a size exceeds the width of the vectors, or weights and sizes differ in number.
    """
    counts = [1.0] * len(sizes) if weights is None else list(weights)
    width = min(v.shape[-1] for v in vectors)
    if not sizes or not all(1 <= size <= width for size in sizes):
        raise ValueError(f"sizes {list(sizes)} for vectors of width {width}: name 1 to {width}")
    terms = [
        count * loss(*(F.normalize(wide(v[..., :size]), dim=-1) for v in vectors))
        for size, count in zip(sizes, counts, strict=True)
    ]
    total: Tensor = sum(terms[1:], terms[0])
    return total / sum(counts)
