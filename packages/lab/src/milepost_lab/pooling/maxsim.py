"""Late interaction: scores of texts that keep a vector for each token (ColBERT, arXiv 2004.12832).

    MaxSim(q, p) = Σ_i max_j q_i · p_j              i: tokens of the query; j: tokens of the text

The operator ``tokens`` keeps all of them, for ``milepost lab compare``. ``token_pooling.py`` lowers
the number of vectors of a text, ``fixed_encoding.py`` combines them into one vector whose product
with a query's approximates MaxSim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost_lab.pooling.operator import Batch, Operator
from milepost_lab.pooling.ragged import checked_lengths, checked_states, maxima, stacked, sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from milepost_lab.pooling.operator import Weights


def maxsim(
    queries: ArrayLike, query_lengths: ArrayLike, states: ArrayLike, lengths: ArrayLike
) -> NDArray[np.float32]:
    """Score every text for every query: ``Σ_i max_j q_i · p_j`` (2004.12832, equation 3).

    Vectors are not normalized: pass unit vectors for cosines, as ColBERT does.

    >>> maxsim([[1.0, 0.0], [0.0, 1.0]], [2], [[2.0, 1.0], [0.0, 3.0], [4.0, 0.0]], [2, 1])
    array([[5., 4.]], dtype=float32)

    Args:
        queries: ``(query tokens, d)`` floating-point, concatenated queries.
        query_lengths: ``(queries,)``, the number of tokens of each query.
        states: ``(tokens, d)`` floating-point, concatenated texts.
        lengths: ``(texts,)``, the number of tokens of each text.

    Returns:
        ``(queries, texts)`` float32.

    Raises:
        InputError: shapes or lengths do not fit, see ``milepost_lab.pooling.ragged``.
    """
    import numpy as np

    asked, read = checked_states(queries), checked_states(states)
    if asked.shape[1] != read.shape[1]:
        raise InputError(
            f"queries have {asked.shape[1]} channels, and states {read.shape[1]}",
            "vectors of one network",
        )
    parts = checked_lengths(query_lengths, len(asked), "query_lengths")
    greatest = maxima(read @ asked.T, checked_lengths(lengths, len(read)))
    return sums(greatest.T, parts).astype(np.float32)


def tokens(batch: Batch, _: Mapping[str, Any], __: Weights) -> NDArray[np.floating]:
    """Return every state, ``(texts, most tokens, d)``; see ``stacked``."""
    return stacked(batch.states, batch.lengths)


OPERATORS = (
    Operator(
        "tokens",
        "every token's vector, scored by MaxSim (ColBERT)",
        paper="2004.12832",
        family="late-interaction",
        equation="z_i = x_i, score: Σ_i max_j q_i · z_j over the tokens q_i of the query",
        order="free",
        compute=tokens,
        single="same",
        late="many",
    ),
)
