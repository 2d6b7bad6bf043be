"""GELU (arXiv 1606.08415, equation 2), the reference for ``torch.nn.functional.gelu``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def gelu(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """``x Φ(x)`` with the exact normal distribution.

    >>> float(gelu(1.0).round(9)), float(gelu(-1.0).round(9))
    (0.841344746, -0.158655254)
    """
    import numpy as np

    erf = np.vectorize(math.erf, otypes=[np.float64])
    result: NDArray[np.float64] = 0.5 * values * (1 + erf(values / math.sqrt(2)))
    return result
