"""Scaled dot-product attention (arXiv 1706.03762, equation 1), for one text or for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.errors import InputError
from milepost_lab.pooling.ragged import split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def attend(
    queries: NDArray[np.floating],
    keys: NDArray[np.floating],
    values: NDArray[np.floating],
    heads: int = 1,
) -> NDArray[np.float64]:
    """Scaled dot-product attention, ``(q, d)`` over ``(n, d)`` → ``(q, d)``.

    Args:
        queries: ``(q, d)``.
        keys: ``(n, d)``.
        values: ``(n, d)``.
        heads: number of parts of ``d / heads`` channels.
    """
    import numpy as np

    q, k, v = (rows.reshape(len(rows), heads, -1) for rows in (queries, keys, values))
    scores = np.einsum("qhe,nhe->hqn", q, k) / np.sqrt(q.shape[-1])
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    mixed: NDArray[np.float64] = np.einsum("hqn,nhe->qhe", shares, v).reshape(queries.shape)
    return mixed


def attend_each(
    queries: NDArray[np.floating],
    keys: NDArray[np.floating],
    values: NDArray[np.floating],
    lengths: NDArray[np.int64],
    heads: int = 1,
) -> NDArray[np.float64]:
    """Attend from the queries of each text to its tokens.

    Args:
        queries: ``(texts, q, d)``.
        keys: ``(tokens, d)``, concatenated texts.
        values: ``(tokens, d)``.
        lengths: ``(texts,)``.
        heads: number of parts of ``d / heads`` channels.

    Returns:
        ``(texts, q, d)`` float64.
    """
    import numpy as np

    texts = zip(queries, split(keys, lengths), split(values, lengths), strict=True)
    return np.array([attend(*text, heads) for text in texts]).reshape(queries.shape)


def checked_heads(operator: str, heads: int, width: int) -> None:
    """Check that heads divide the width.

    Raises:
        InputError: they do not.
    """
    if width % heads:
        raise InputError(
            f"{operator}: {heads} heads do not divide states of width {width}",
            "heads=, a divisor of the width",
        )
