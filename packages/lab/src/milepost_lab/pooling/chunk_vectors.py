"""Poolings as functions that ``milepost.chunks`` calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from milepost.errors import InputError
from milepost_lab.pooling.operator import Pool
from milepost_lab.pooling.table import get

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def of_landmarks(
    pooling: str | Pool,
) -> Callable[[NDArray[np.float32], list[int]], NDArray[np.float32]]:
    """Make the function that pools the landmarks of chunks, for ``milepost.chunks(pooling=…)``.

    Args:
        pooling: a name, or a pooling with settings and weights (``get``, ``load``); without them
            an operator that trains has its initial weights.

    Raises:
        InputError: the name is unknown, or the pooling needs more than landmarks or is of late
            interaction.
    """
    pool = get(pooling) if isinstance(pooling, str) else pooling
    operator = pool.operator
    if more := operator.needs - {"segments"}:
        raise InputError(
            f"the pooling {operator.name} needs {' and '.join(sorted(more))} beside the landmarks",
            "pooling='lmk'",
        )
    if operator.late:
        raise InputError(
            f"the pooling {operator.name} is for late interaction: its vectors cannot be compared "
            "with the vector of a question",
            "pooling='lmk'",
        )

    def pooled(landmarks: NDArray[np.float32], counts: list[int]) -> NDArray[np.float32]:
        import numpy as np

        segments = np.ones(len(landmarks), np.int64) if "segments" in operator.needs else None
        return pool(landmarks, counts, segments=segments)

    return pooled
