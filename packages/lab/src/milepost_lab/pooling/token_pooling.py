"""Fewer vectors for a text: token pooling (Clavié, Chaffin and Adams, arXiv 2409.14683).

    tokens of a text → groups, by Ward's method on vectors of unit length
    group            → the mean of its vectors

This is the paper's best form, hierarchical pooling: ``factor`` times fewer vectors, no training,
and no change for queries. The operator ``token-pool`` applies it in ``milepost lab compare``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost.windows.document_vector import unit
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import checked_lengths, checked_states, split, stacked

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from milepost_lab.pooling.operator import Weights


def pool_tokens(
    states: ArrayLike, lengths: ArrayLike, factor: int, *, kept: int = 1
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Replace the tokens of each text by the means of ``max(tokens // factor, 1)`` groups.

    >>> states = [[1.0, 0.0], [0.0, 1.0], [3.0, 0.0], [0.0, 2.0]]
    >>> pooled, lengths = pool_tokens(states, [4], factor=2, kept=0)
    >>> pooled.tolist(), lengths.tolist()
    ([[2.0, 0.0], [0.0, 1.5]], [2])

    Args:
        states: ``(tokens, d)`` floating-point, concatenated texts.
        lengths: ``(texts,)``, the number of tokens of each text.
        factor: tokens per group, on average; 1 changes nothing.
        kept: tokens at the start of each text that stay as they are and are not counted, such as
            ``[CLS]``.

    Returns:
        The remaining vectors, ``(fewer tokens, d)`` float32, kept tokens first and then groups in
        the order of their first tokens; and the number of vectors of each text, ``(texts,)`` int64.
        Means are not normalized to unit length.

    Raises:
        InputError: the factor or number of tokens kept is too small, or shapes do not fit.
    """
    import numpy as np

    if factor < 1 or kept < 0:
        raise InputError(
            f"factor={factor}, kept={kept}", "a factor of at least 1, and 0 tokens kept or more"
        )
    given = checked_states(states)
    texts = split(given, checked_lengths(lengths, len(given)))
    pooled = [np.concatenate([text[:kept], _means(text[kept:], factor)]) for text in texts]
    counts = np.array([len(text) for text in pooled], np.int64)
    return np.concatenate([given[:0], *pooled]).astype(np.float32), counts


def _means(states: NDArray[np.floating], factor: int) -> NDArray[np.float64]:
    """Compute the mean of each group of a text's tokens, ``(n, d)`` → ``(groups, d)``."""
    import numpy as np

    groups = grouped(states, factor)
    total = np.zeros((len(np.unique(groups)), states.shape[1]))
    np.add.at(total, groups, states.astype(np.float64))
    return total / np.bincount(groups)[:, None]


def grouped(states: NDArray[np.floating], factor: int) -> NDArray[np.int64]:
    """Group a text's tokens by their directions, ``(n, d)`` → ``(n,)`` numbers of groups."""
    return ward(unit(states), max(len(states) // factor, 1))


def ward(points: NDArray[np.floating], groups: int) -> NDArray[np.int64]:
    """Join points into groups by Ward's method (JASA 58, 1963).

    Each step joins the two groups for which the sum of squared distances from points to the centres
    of their groups grows least, by ``|A| |B| / (|A| + |B|) ‖c_A − c_B‖²``, until ``groups`` remain.

    >>> import numpy as np
    >>> ward(np.array([[0.0], [9.0], [1.0], [8.0], [10.0]]), 2).tolist()
    [0, 1, 0, 1, 1]

    Args:
        points: ``(n, d)``.
        groups: number of groups that remain, at most n.

    Returns:
        The group of each point, ``(n,)`` int64, numbered by their first points.
    """
    import numpy as np

    number, rows = len(points), np.arange(len(points))
    labels, sizes = rows.copy(), np.ones(number)
    if number <= groups:
        return labels
    wide = points.astype(np.float64)
    squares = (wide**2).sum(1)
    cost = np.maximum((squares[:, None] + squares) / 2 - wide @ wide.T, 0.0)
    np.fill_diagonal(cost, np.inf)  # as are rows and columns of groups that were joined to others
    nearest = cost.argmin(1)
    for _ in range(number - groups):
        least = cost[rows, nearest]
        found = int(least.argmin())
        one, two = sorted((found, int(nearest[found])))
        labels[labels == two] = one
        # The cost of joining each other group to the new one, from its costs with the two parts
        # (Lance and Williams).
        added = (sizes + sizes[one]) * cost[one] + (sizes + sizes[two]) * cost[two]
        added = (added - sizes * cost[one, two]) / (sizes + sizes[one] + sizes[two])
        sizes[one] += sizes[two]
        cost[one] = cost[:, one] = added
        cost[two] = cost[:, two] = np.inf
        # Joining never brings a group nearer to the others, so only rows whose nearest group was
        # joined are searched again; not if the new group is as near, as it is for equal points.
        stale = np.isin(nearest, (one, two))
        near = stale & (added <= least)
        nearest[near] = one
        stale &= ~near
        stale[one] = True
        nearest[stale] = cost[stale].argmin(1)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def token_pool(batch: Batch, settings: Mapping[str, Any], _: Weights) -> NDArray[np.floating]:
    """The vectors of ``pool_tokens``, ``(texts, most vectors, d)``; see ``stacked``."""
    factor, kept = int(settings["factor"]), int(settings["kept"])
    return stacked(*pool_tokens(batch.states, batch.lengths, factor, kept=kept))


OPERATORS = (
    Operator(
        "token-pool",
        "means of groups of near tokens, scored by MaxSim (token pooling)",
        paper="2409.14683",
        family="late-interaction",
        equation="z_g = (1/|g|) Σ x_i over i in g, groups by Ward's method on x_i/|x_i|",
        order="kept",
        compute=token_pool,
        parameters={
            "factor": Parameter(2, "Tokens for each vector of a text, on average.", least=1),
            "kept": Parameter(1, "First tokens that stay as they are, such as [CLS].", least=0),
        },
        single="same",
        late="many",
        query_settings={"factor": 1},
    ),
)
