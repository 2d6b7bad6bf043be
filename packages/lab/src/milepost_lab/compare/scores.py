"""Scores of every query with every text, and their metrics.

Poolings without a query use the NumPy reference: without padding, a document of 8,192 tokens takes
memory for its own states alone. Late interaction is scored some texts at a time, for the same
reason. Pairs of query and text are pooled by the torch module, a text with
as many queries as fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from milepost.errors import InputError
from milepost_eval.metrics import of_documents
from milepost_lab.compare.pooled import Pooled, similar
from milepost_lab.compare.states import States

METRICS = ("ndcg@10", "first")
"""nDCG of the first ten texts, and whether the right one is the first."""

_STATES = 16_384  # pooled at once
_RANKED = 10  # texts that the metrics read


@torch.no_grad()
def scores(
    pooled: Pooled,
    queries: States,
    texts: States,
    say: Callable[[int], None] = lambda done: None,
) -> NDArray[np.float32]:
    """Cosines, ``(queries, texts)``; of several vectors, and of late interaction, see ``similar``.

    Args:
        pooled: a pooling, with heads or without.
        queries: their states.
        texts: theirs.
        say: told how many texts are done.
    """
    pooled.eval()  # dropout is of training alone
    means = torch.from_numpy(queries.means())
    found: NDArray[np.float32]
    if pooled.asks:
        asked = normalize(pooled.query(means), dim=-1)
        columns = []
        for number in range(len(texts)):
            columns.append(_column(pooled, texts, number, means, asked))
            say(number + 1)
        found = torch.stack(columns, 1).numpy()
        return found
    if pooled.late:
        late, done = [], 0
        every = list(_late(pooled, queries, query=True))
        for vectors in _late(pooled, texts, query=False):
            late.append(torch.cat([similar(each, vectors) for each in every]))
            done += len(vectors)
            say(done)
        found = torch.cat(late, 1).numpy()
        return found
    sides = []
    for side in (queries, texts):
        pools = _vectors(pooled, side)
        sides.append(normalize(pooled.text(torch.from_numpy(pools)), dim=-1))
        say(len(pools))
    found = similar(*sides).numpy()
    return found


def _late(pooled: Pooled, states: States, *, query: bool) -> Iterator[torch.Tensor]:
    """Vectors of late interaction, of some texts at a time, see ``Pool``."""
    pool = pooled.pool.reference()
    if query:
        pool = pool.of_queries()
    for numbers in _groups(states.sizes(pooled.reads)):
        some = states.some(numbers, pooled.reads)
        heads = pooled.headed(torch.from_numpy(some.states)).numpy()
        yield torch.from_numpy(pool(heads, some.lengths))


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
    """Every text pooled by the reference, ``(texts, d_out)`` or ``(texts, k, d_out)``.

    Raises:
        InputError: some texts have more vectors than others.
    """
    pool = pooled.pool.reference()
    segmented = "segments" in pool.operator.needs
    parts = []
    for numbers in _groups(states.sizes(pooled.reads)):
        some = states.some(numbers, pooled.reads)
        parts.append(pool(some.states, some.lengths, segments=some.segments if segmented else None))
    shapes = dict.fromkeys(part.shape[1:] for part in parts)
    if len(shapes) > 1:
        raise InputError(
            f"{pool.operator.name} gives vectors of the shapes {', '.join(map(str, shapes))}",
            "as many vectors for each text, of one width",
        )
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


def figures(
    found: NDArray[np.float32], right: Sequence[int], grades: Sequence[Mapping[int, int]] = ()
) -> dict[str, tuple[float, ...]]:
    """The metrics of each query. Where scores are equal, wrong texts come first.

    Args:
        found: ``(queries, texts)``.
        right: of each query its text.
        grades: of each query its relevant texts, number → grade from 1; none where ``right`` is
            all that is relevant.
    """
    if grades:
        return _graded(found, grades)
    own = found[np.arange(len(right)), list(right)]
    # Not by a sort: among equal scores it would favour the text with the lower number.
    ranks = (found >= own[:, None]).sum(1)
    ndcg = [
        of_documents([*map(str, range(rank - 1)), "right"], {"right": 1})["ndcg@10"]
        for rank in ranks.tolist()
    ]
    return {"ndcg@10": tuple(ndcg), "first": tuple(float(rank == 1) for rank in ranks)}


def _graded(
    found: NDArray[np.float32], grades: Sequence[Mapping[int, int]]
) -> dict[str, tuple[float, ...]]:
    """The metrics where several texts are relevant, or more so than others."""
    ndcg, first = [], []
    for row, relevant in zip(found, grades, strict=True):
        own = np.zeros(len(row), np.int64)
        own[list(relevant)] = list(relevant.values())
        best = np.lexsort((own, -row))[:_RANKED].tolist()
        judged = {str(number): grade for number, grade in relevant.items()}
        ndcg.append(of_documents([str(number) for number in best], judged)["ndcg@10"])
        first.append(float(own[best[0]] > 0))
    return {"ndcg@10": tuple(ndcg), "first": tuple(first)}
