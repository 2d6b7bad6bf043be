"""Count sketches: products of vectors in few numbers (MCB, arXiv 1606.01847).

A count sketch adds up the numbers of a vector in ``size`` bins, with signs; bins and signs are
drawn once and never change. The sketch of all products of two vectors is the circular convolution
of their sketches, so the products are never computed. The inner product of two sketches is an
unbiased but noisy estimate of the inner product of the vectors; sketches can only be compared if
they share bins and signs.

``sketch-moment`` is the sketch of a text's second moment. It is a mean of the tokens' own sketches,
so parts of a text can be sketched separately and averaged, weighted by their lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import means

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

DRAWN = frozenset({"x_bin", "x_sign", "y_bin", "y_sign"})
"""Weights that are drawn once: float32 like all weights, but whole numbers."""

MOST = 16_000
"""Maximum number of bins, as in the paper."""


def drawn(
    what: str, x_width: int, y_width: int, size: int, random: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    """Draw bins and signs for two vectors, see ``DRAWN``.

    Args:
        what: name of the operator, for messages.
        x_width: width of x.
        y_width: width of y.
        size: number of bins.
        random: generator of the draws.

    Raises:
        InputError: there are fewer bins than the width of x or y.
    """
    import numpy as np

    if size < max(x_width, y_width):
        raise InputError(
            f"{what}: {size} bins for vectors of {max(x_width, y_width)} numbers: too many "
            "would collide",
            f"{max(x_width, y_width)} bins or more",
        )
    made = {}
    for side, width in (("x", x_width), ("y", y_width)):
        made[f"{side}_bin"] = random.integers(0, size, width).astype(np.float32)
        made[f"{side}_sign"] = random.choice([-1.0, 1.0], width).astype(np.float32)
    return made


def count_sketch(
    vectors: NDArray[np.floating],
    bins: NDArray[np.floating],
    signs: NDArray[np.floating],
    size: int,
) -> NDArray[np.float64]:
    """``z_j = Σ s_i v_i`` over the i of bin j; ``(…, m)`` → ``(…, size)`` float64.

    >>> import numpy as np
    >>> count_sketch(np.array([1.0, 2, 3]), np.array([0, 1, 0]), np.array([1, -1, 1]), 4).tolist()
    [4.0, -2.0, 0.0, 0.0]
    """
    import numpy as np

    # A matrix product: np.add.at takes minutes if the number of tokens is a power of two.
    spread = np.zeros((len(bins), size))
    spread[np.arange(len(bins)), bins.astype(np.int64)] = signs
    result: NDArray[np.float64] = vectors.astype(np.float64) @ spread
    return result


def product_sketch(
    x: NDArray[np.floating], y: NDArray[np.floating], weights: Weights, size: int
) -> NDArray[np.float64]:
    """The sketch of all products ``x_i y_j``, bin ``(bin_i + bin_j) mod size``, ``(…, size)``."""
    import numpy as np

    turned = [
        np.fft.rfft(count_sketch(v, weights[f"{side}_bin"], weights[f"{side}_sign"], size))
        for side, v in (("x", x), ("y", y))
    ]
    # n is required: for an odd size rfft gives as many numbers as for the even size below it.
    result: NDArray[np.float64] = np.fft.irfft(turned[0] * turned[1], n=size)
    return result


def moment(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """Mean over tokens of the sketch of ``(x - c)(x - c)'``; ``c`` is the weight ``centre``.

    Without a centre the common mean of all texts hides their differences: set ``c`` to the mean
    state of a collection, or train it.
    """
    states = batch.states - weights["centre"]
    return means(product_sketch(states, states, weights, settings["size"]), batch.lengths)


def _moment_start(
    settings: Mapping[str, Any], width: int, _: int, random: np.random.Generator
) -> Weights:
    import numpy as np

    bins = drawn("sketch-moment", width, width, settings["size"], random)
    return {"centre": np.zeros(width, np.float32), **bins}


OPERATORS = (
    Operator(
        "sketch-moment",
        "sketch of the second moment",
        paper="1606.01847",
        family="bilinear",
        equation="z = (1/n) Σ sketch((x_i - c)(x_i - c)')",
        order="free",
        compute=moment,
        start=_moment_start,
        parameters={
            "size": Parameter(512, "Bins, at least as many as channels.", least=1, most=MOST)
        },
        fixed=DRAWN,
    ),
)
