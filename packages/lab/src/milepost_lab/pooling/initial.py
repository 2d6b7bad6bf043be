"""Initial weights that several operators share: linear maps and layer norms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def drawn(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """Draw a linear map, float32, uniform within ``1 / sqrt(shape[0])`` of 0, as torch does."""
    import numpy as np

    return (rng.uniform(-1, 1, shape) / math.sqrt(shape[0])).astype(np.float32)


def identity(width: int) -> NDArray[np.float32]:
    """The identity map, ``(width, width)`` float32."""
    import numpy as np

    return np.eye(width, dtype=np.float32)


def zeros(*shape: int) -> NDArray[np.float32]:
    """A bias that adds nothing, float32."""
    import numpy as np

    return np.zeros(shape, np.float32)


def norms(width: int, *names: str) -> dict[str, NDArray[np.float32]]:
    """``NAME_scale`` of ones and ``NAME_shift`` of zeros, ``(width,)`` float32, for each name."""
    import numpy as np

    weights: dict[str, NDArray[np.float32]] = {}
    for name in names:
        weights[f"{name}_scale"] = np.ones(width, np.float32)
        weights[f"{name}_shift"] = np.zeros(width, np.float32)
    return weights
