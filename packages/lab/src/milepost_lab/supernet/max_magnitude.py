"""Texts whose class depends on the position of a max-magnitude pair: halving must keep a maximum.

A block scales states to unit mean square, so what the first block adds to a state does not depend
on the magnitudes of tokens. Two pairs of a text have the same symbol: in the max-magnitude pair one
token is large and one small, in the other pair both are equal, with the same sum. The class is
which of them comes first. With one block before a halving by the mean, both pairs have the same
state whatever the weights, so the class cannot be predicted. A maximum keeps the large token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LENGTH, WIDTH = 24, 8
SYMBOLS = 4
LARGE, SMALL = 1.8, 0.2
"""Magnitudes of the tokens of a max-magnitude pair, in either order; in an even pair both are 1."""
PAIRS = ((0, True), (0, False), (1, True), (1, False))
"""Symbol of each pair, and whether it is uneven. The first two decide the class; the others have
another symbol, so that magnitude alone does not reveal the class."""


def max_magnitude_pairs(
    count: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Draw rows of symbols with four pairs; class 1 if the uneven pair of symbol 0 comes first.

    Pairs start at even positions, as the pairs of a first halving do. Both tokens of a pair have
    the same noise, scaled as they are: a token is its magnitude times a state.

    Returns:
        ``(count, LENGTH, WIDTH)`` float32, channels of the symbols and empty channels; and
        ``(count,)`` classes.
    """
    import numpy as np

    pairs = LENGTH // 2
    symbols = rng.choice([2, 3], (count, pairs, 2))
    magnitude = np.ones((count, pairs, 2))
    places = np.argsort(rng.random((count, pairs)), axis=1)[:, : len(PAIRS)]
    rows = np.arange(count)
    for place, (symbol, uneven) in zip(places.T, PAIRS, strict=True):
        symbols[rows, place] = symbol
        if uneven:
            magnitude[rows, place] = rng.permuted(np.tile([LARGE, SMALL], (count, 1)), axis=1)
    states = np.repeat(0.1 * rng.standard_normal((count, pairs, 1, WIDTH)), 2, axis=2)
    states[..., :SYMBOLS] += np.eye(SYMBOLS)[symbols]
    states *= magnitude[..., None]
    classes = (places[:, 0] < places[:, 1]).astype(np.int64)
    return states.reshape(count, LENGTH, WIDTH).astype(np.float32), classes
