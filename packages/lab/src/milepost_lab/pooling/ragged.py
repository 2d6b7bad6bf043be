"""Sums, maxima and softmaxes of concatenated texts.

    states    (tokens, d)     all tokens of all texts, nothing between them
    lengths   (texts,)        [2, 3]: tokens 0-1 are the first text, 2-4 the second

There is no padding that could leak. Sums are computed and returned in float64: in float16 the sum
of 4,096 values of 16 is infinite. Finer cuts of texts (segments, landmarks) use the same functions
with other lengths. ``from_padded`` removes the padding of a batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


_ROWS = {"segments": "segment", "query_lengths": "query"}
"""What an argument has the lengths of, where it is not texts."""


def checked_lengths(lengths: ArrayLike, tokens: int, what: str = "lengths") -> NDArray[np.int64]:
    """Check lengths, and return them as ``(texts,)`` int64.

    Args:
        lengths: the number of tokens of each text, or of each segment.
        tokens: their sum.
        what: name of the argument.

    Raises:
        InputError: they are not one row of positive integers, or do not add up to ``tokens``.
    """
    import numpy as np

    given = np.asarray(lengths)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InputError(
            f"{what} must be one row of whole numbers, not {given.dtype} of shape {given.shape}",
            f"the number of tokens of each {_ROWS.get(what, 'text')}",
        )
    if given.size and int(given.min()) < 1:
        number, row = int(np.argmin(given)), _ROWS.get(what, "text")
        raise InputError(
            f"{row} {number} has {int(given[number])} tokens: an empty {row} has no vector",
            "leave it out",
        )
    if int(given.sum()) != tokens:
        raise InputError(
            f"{what} add up to {int(given.sum())}, but there are {tokens} tokens",
            f"the number of tokens of each {_ROWS.get(what, 'text')}, without padding",
        )
    return given.astype(np.int64)


def checked_states(states: ArrayLike, dimensions: int = 2) -> NDArray[np.float32]:
    """Check that states are finite and have ``dimensions`` axes, and return them as float32.

    Raises:
        InputError: another type, another shape, NaN or infinity.
    """
    import numpy as np

    given = np.asarray(states)
    if given.dtype.kind != "f":
        raise InputError(
            f"states are {given.dtype}, not floating-point numbers", "give float32 or float16"
        )
    if given.ndim != dimensions or 0 in given.shape[1:]:
        wanted = "(tokens, d)" if dimensions == 2 else "(tokens, layers, d)"
        hint = "states[:, None] for the states of a single layer"
        if given.ndim > dimensions:
            hint = "mask= in place of lengths for a padded batch"
        raise InputError(
            f"states have the shape {given.shape}, not {wanted}",
            hint if given.ndim > dimensions or (given.ndim, dimensions) == (2, 3) else "",
        )
    if not np.isfinite(given).all():
        row = int(np.argwhere(~np.isfinite(given))[0][0])
        raise InputError(
            f"the state of token {row} holds NaN or infinity",
            "finite states: check the network that made them",
        )
    return given.astype(np.float32)


def from_padded(
    states: ArrayLike, mask: ArrayLike
) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """Remove the padding of a batch: ``pool(*from_padded(states, mask))``.

    >>> states, lengths = from_padded([[[1.0], [2.0]], [[3.0], [0.0]]], [[1, 1], [1, 0]])
    >>> states.tolist(), lengths.tolist()
    ([[1.0], [2.0], [3.0]], [2, 1])

    Args:
        states: ``(texts, longest, d)`` or ``(texts, longest, layers, d)``, any floating-point type;
            padding may hold anything.
        mask: ``(texts, longest)``, 1 or True at tokens and 0 at padding, such as a tokenizer's
            ``attention_mask``; padding may stand on either side.

    Returns:
        The states of all tokens in order, ``(tokens, d)`` or ``(tokens, layers, d)``, and the
        number of tokens of each text, ``(texts,)`` int64.

    Raises:
        InputError: the shapes do not fit, the mask holds numbers other than 0 and 1, or a text has
            no token.
    """
    import numpy as np

    given, seen = np.asarray(states), np.asarray(mask)
    if given.ndim not in (3, 4) or seen.shape != given.shape[:2]:
        raise InputError(
            f"states of shape {given.shape} do not fit a mask of shape {seen.shape}",
            "states (texts, longest, d) and a mask (texts, longest)",
        )
    if seen.dtype != bool and not np.isin(seen, (0, 1)).all():
        raise InputError("the mask holds other numbers than 0 and 1", "1 at tokens, 0 at padding")
    kept = seen.astype(bool)
    lengths = kept.sum(1, dtype=np.int64)
    checked_lengths(lengths, int(lengths.sum()))
    return given[kept], lengths


def starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first token of each text, ``(texts,)``."""
    import numpy as np

    return np.cumsum(lengths) - lengths


def owners(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The text of each token, ``(tokens,)``."""
    import numpy as np

    return np.repeat(np.arange(len(lengths)), lengths)


def split(values: NDArray[np.floating], lengths: NDArray[np.int64]) -> list[NDArray[np.floating]]:
    """Split rows by text, as views; for operators that need a large array for each text."""
    import numpy as np

    return np.split(values, starts(lengths)[1:]) if len(lengths) else []


def stacked(values: NDArray[np.floating], lengths: NDArray[np.int64]) -> NDArray[np.floating]:
    """Stack the rows of each text, ``(texts, most, …)``; shorter texts end in rows of zeros.

    >>> import numpy as np
    >>> stacked(np.array([[1.0], [2.0], [3.0]]), np.array([2, 1])).tolist()
    [[[1.0], [2.0]], [[3.0], [0.0]]]
    """
    import numpy as np

    found = np.zeros((len(lengths), int(lengths.max(initial=0)), *values.shape[1:]), values.dtype)
    found[np.arange(found.shape[1]) < lengths[:, None]] = values
    return found


def sums(values: NDArray[np.floating], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum over each text, ``(texts, …)`` float64."""
    import numpy as np

    if not len(lengths):
        return np.zeros((0, *values.shape[1:]))
    result: NDArray[np.float64] = np.add.reduceat(
        values.astype(np.float64), starts(lengths), axis=0
    )
    return result


def means(values: NDArray[np.floating], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean over each text, ``(texts, …)`` float64: states [2, 4 | 9], lengths [2, 1] → [3, 9]."""
    shape = (-1,) + (1,) * (values.ndim - 1)
    result: NDArray[np.float64] = sums(values, lengths) / lengths.reshape(shape)
    return result


def maxima(values: NDArray[np.floating], lengths: NDArray[np.int64]) -> NDArray[np.floating]:
    """Greatest value of each text and channel, ``(texts, …)``."""
    import numpy as np

    if not len(lengths):
        return np.zeros((0, *values.shape[1:]), values.dtype)
    result: NDArray[np.floating] = np.maximum.reduceat(values, starts(lengths), axis=0)
    return result


def log_sums(values: NDArray[np.floating], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """``ln Σ exp`` over each text, ``(texts, …)`` float64, without overflow."""
    import numpy as np

    top = maxima(values, lengths).astype(np.float64)
    shifted = np.exp(values - top[owners(lengths)])
    result: NDArray[np.float64] = np.log(sums(shifted, lengths)) + top
    return result


def softmax(scores: NDArray[np.floating], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Softmax over the tokens of each text, ``(tokens, …)`` float64; sums to 1 in each text."""
    import numpy as np

    result: NDArray[np.float64] = np.exp(scores - log_sums(scores, lengths)[owners(lengths)])
    return result
