"""Neighbours in a text: shifted states, averages of windows, pairs.

All functions read concatenated texts (see ``ragged``). No window crosses the end of a text, and an
average counts existing positions only, so a constant text stays constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost_lab.pooling.ragged import owners, starts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def shifted(
    values: NDArray[np.floating], lengths: NDArray[np.int64], places: int
) -> NDArray[np.float64]:
    """Shift states by a number of positions within each text; 0 beyond its ends.

    Args:
        values: ``(tokens, d)``.
        lengths: ``(texts,)``.
        places: distance to the state that is read; negative distances look back.

    Returns:
        ``(tokens, d)`` float64.
    """
    import numpy as np

    tokens, text = np.arange(len(values)), owners(lengths)
    wanted = tokens + places
    first = starts(lengths)[text]
    inside = (wanted >= first) & (wanted < first + lengths[text])
    found = values[np.where(inside, wanted, tokens)].astype(np.float64)
    result: NDArray[np.float64] = np.where(inside[:, None], found, 0.0)
    return result


def averages(
    values: NDArray[np.floating], lengths: NDArray[np.int64], width: int
) -> NDArray[np.float64]:
    """Mean of the part of the window around each position that lies in the text.

    Args:
        values: ``(tokens, d)``.
        lengths: ``(texts,)``.
        width: width of the window, odd.

    Returns:
        ``(tokens, d)`` float64: [1, 2, 3] with width 3 gives [1.5, 2, 2.5].
    """
    import numpy as np

    half = width // 2
    total = np.zeros(values.shape)
    count = np.zeros((len(values), 1))
    ones = np.ones_like(count)
    for places in range(-half, half + 1):
        total += shifted(values, lengths, places)
        count += shifted(ones, lengths, places)
    return total / count


def pairs(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut texts into pairs; the last token of a text of odd length stays alone.

    Args:
        lengths: ``(texts,)``.

    Returns:
        The size of each pair (2, or 1), and the number of pairs of each text, ``ceil(n/2)``:
        lengths [3, 2] give [2, 1, 2] and [2, 1].
    """
    import numpy as np

    halved = (lengths + 1) // 2
    sizes = np.full(int(halved.sum()), 2, np.int64)
    sizes[np.cumsum(halved)[lengths % 2 == 1] - 1] = 1
    return sizes, halved


def rms_scaled(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows divided by their root mean square, float64; each row is scaled independently."""
    import numpy as np

    exact = values.astype(np.float64)
    result: NDArray[np.float64] = exact / np.sqrt((exact**2).mean(-1, keepdims=True) + RMS_FLOOR)
    return result


RMS_FLOOR = 1e-6
"""Added to the mean square, so that a row of zeros stays zero."""
