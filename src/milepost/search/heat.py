"""The heat strip: where in a document the sentences are that match a question."""

from __future__ import annotations

from milepost._numpy import NDArray, np

CELLS = 64  # equal parts a document is divided into


def strip(relevance: NDArray[np.float32], cells: int = CELLS) -> tuple[float, ...]:
    """The greatest score in each part of a document, of ``(n, 2)`` ``SearchResult.relevance``.

    >>> import numpy as np
    >>> strip(np.array([[0.1, 0.5], [0.2, 1.0], [0.9, 0.25]]), 2)
    (1.0, 0.25)
    """
    heights = np.zeros(cells, np.float64)
    place = np.minimum((relevance[:, 0].astype(np.float64) * cells).astype(np.int64), cells - 1)
    np.maximum.at(heights, place, relevance[:, 1])
    return tuple(round(float(value), 4) for value in heights)


def peaks(relevance: NDArray[np.float32], characters: int) -> tuple[int, ...]:
    """An offset inside the best sentence of each part of a document.

    A part in which no sentence has its middle gets the offset where it begins.

    >>> import numpy as np
    >>> peaks(np.array([[0.1, 0.5], [0.2, 1.0]]), 1000)[5:8]
    (78, 100, 109)
    """
    middle = relevance[:, 0].astype(np.float64)
    place = np.minimum((middle * CELLS).astype(np.int64), CELLS - 1)
    order = np.lexsort((relevance[:, 1], place))
    best = order[np.flatnonzero(np.diff(place[order], append=CELLS))]  # the last of each part
    found = [cell * characters // CELLS for cell in range(CELLS)]
    for row in best:
        found[place[row]] = int(middle[row] * characters)
    return tuple(found)
