"""Scores of every query with every text, and their metrics.

Poolings without a query use the NumPy reference: without padding, a document of 8,192 tokens takes
memory for its own states alone. Pairs of query and text are pooled by the torch module, a text with
as many queries as fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from milepost.evaluate.metrics import of_documents
from milepost.lab.compare.recipe import Pooled
from milepost.lab.compare.states import States

METRICS = ("ndcg@10", "first")
"""nDCG of the first ten texts, and whether the right one is the first."""

_STATES = 16_384  # pooled at once


@torch.no_grad()
def scores(
    pooled: Pooled,
    queries: States,
    texts: States,
    say: Callable[[int], None] = lambda done: None,
) -> NDArray[np.float32]:
    """Cosines, ``(queries, texts)``.

    Args:
        pooled: a pooling, with heads or without.
        queries: their states.
        texts: theirs.
        say: told how many texts are done.
    """
    pooled.eval()  # dropout is of training alone
    means = torch.from_numpy(queries.means())
    if pooled.asks:
        asked = normalize(pooled.query(means), dim=-1)
        columns = []
        for number in range(len(texts)):
            columns.append(_column(pooled, texts, number, means, asked))
            say(number + 1)
        found: NDArray[np.float32] = torch.stack(columns, 1).numpy()
        return found
    sides = []
    for side in (queries, texts):
        vectors = _vectors(pooled, side)
        sides.append(normalize(pooled.text(torch.from_numpy(vectors)), dim=-1))
        say(len(vectors))
    cosines: NDArray[np.float32] = (sides[0] @ sides[1].T).numpy()
    return cosines


def _column(
    pooled: Pooled, texts: States, number: int, means: torch.Tensor, asked: torch.Tensor
) -> torch.Tensor:
    """One text under every query, ``(queries,)``."""
    many = max(1, _STATES // int(texts.sizes(pooled.reads)[number]))
    parts = [
        (some * normalize(pooled.pairs(texts, [number], means[at : at + many])[:, 0], dim=-1)).sum(
            -1
        )
        for at, some in ((at, asked[at : at + many]) for at in range(0, len(asked), many))
    ]
    return torch.cat(parts)


def _vectors(pooled: Pooled, states: States) -> NDArray[np.float32]:
    """Every text pooled by the reference, ``(texts, d_out)``."""
    pool = pooled.pool.reference()
    segmented = "segments" in pool.operator.needs
    parts = []
    for numbers in _groups(states.sizes(pooled.reads)):
        some = states.some(numbers, pooled.reads)
        parts.append(pool(some.states, some.lengths, segments=some.segments if segmented else None))
    return np.concatenate(parts)


def _groups(sizes: Sequence[int] | NDArray[np.int64]) -> Iterator[list[int]]:
    """Numbers of texts, so many that they have ``_STATES`` states; a longer one is alone.

    >>> list(_groups([9000, 9000, 300, 20000]))
    [[0], [1, 2], [3]]
    """
    some: list[int] = []
    total = 0
    for number, size in enumerate(sizes):
        if some and total + size > _STATES:
            yield some
            some, total = [], 0
        some.append(number)
        total += int(size)
    yield some


def figures(found: NDArray[np.float32], right: Sequence[int]) -> dict[str, tuple[float, ...]]:
    """The metrics of each query.

    Args:
        found: ``(queries, texts)``.
        right: of each query its text. Where scores are equal, wrong texts come first.
    """
    own = found[np.arange(len(right)), list(right)]
    # Not by a sort: among equal scores it would favour the text with the lower number.
    ranks = (found >= own[:, None]).sum(1)
    ndcg = [
        of_documents([*map(str, range(rank - 1)), "right"], {"right": 1})["ndcg@10"]
        for rank in ranks.tolist()
    ]
    return {"ndcg@10": tuple(ndcg), "first": tuple(float(rank == 1) for rank in ranks)}
