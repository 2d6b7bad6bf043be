"""Find the sentences that begin a paragraph; search uses them besides neighbouring sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GAP = re.compile(r"\n[^\S\n]*\n")


def paragraph_starts(text: str, spans: NDArray[np.int64]) -> NDArray[np.bool_]:
    r"""Mark the sentences that begin a paragraph: the first one and each one after an empty line.

    Args:
        text: the document.
        spans: ``(n, 2)``: its sentences, which tile the text and end with white space.

    Returns:
        ``(n,)`` bool.

    >>> import numpy as np
    >>> paragraph_starts("One. Two.\n\nThree.", np.array([[0, 5], [5, 11], [11, 17]])).tolist()
    [True, False, True]
    """
    import numpy as np

    starts = np.zeros(len(spans), np.bool_)
    starts[:1] = True
    # An empty line belongs to the sentence before it, so it ends where the next one starts.
    gaps = [match.end() for match in _GAP.finditer(text)]
    if gaps and len(spans):
        following = np.searchsorted(spans[:, 0], np.array(gaps), side="left")
        starts[following[following < len(spans)]] = True
    return starts
