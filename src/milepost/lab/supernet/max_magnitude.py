"""Texts of which only the loudness of a pair tells the class: how to halve is planted in them.

A block reads states at unit mean square: the first one is blind to how loud a token is, and what it
adds does not hang on it. Two pairs of a text say the same symbol, one of them unevenly (one token
loud, one soft), the other evenly, both as loud in sum; which comes first is the class. With one
block before a halving that takes the mean, a pair's state is the same for both, whatever the
weights, and so is all that follows: the class is a coin. A maximum keeps the loud token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LENGTH, WIDTH = 24, 8
SYMBOLS = 4
LOUD, SOFT = 1.8, 0.2
"""How loud the tokens of an uneven pair are, in either order; in an even pair both are 1."""
SAID = ((0, True), (0, False), (1, True), (1, False))
"""Symbol of each pair, and whether it is uneven: the first two make the class, the others are like
them in another symbol, so that loudness alone tells nothing."""


def said(count: int, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Rows of symbols with four pairs in any places: class 1 where the uneven one of 0 is first.

    Pairs begin at even places, as those of a first halving do. Both tokens of a pair have the same
    noise, and it is as loud as they are: a token is its loudness times a state.

    Returns:
        ``(count, LENGTH, WIDTH)`` float32, the symbols' channels and room beside them; and
        ``(count,)`` classes.
    """
    import numpy as np

    pairs = LENGTH // 2
    symbols = rng.choice([2, 3], (count, pairs, 2))
    volume = np.ones((count, pairs, 2))
    places = np.argsort(rng.random((count, pairs)), axis=1)[:, : len(SAID)]
    rows = np.arange(count)
    for place, (symbol, uneven) in zip(places.T, SAID, strict=True):
        symbols[rows, place] = symbol
        if uneven:
            volume[rows, place] = rng.permuted(np.tile([LOUD, SOFT], (count, 1)), axis=1)
    states = np.repeat(0.1 * rng.standard_normal((count, pairs, 1, WIDTH)), 2, axis=2)
    states[..., :SYMBOLS] += np.eye(SYMBOLS)[symbols]
    states *= volume[..., None]
    classes = (places[:, 0] < places[:, 1]).astype(np.int64)
    return states.reshape(count, LENGTH, WIDTH).astype(np.float32), classes
