"""Measured scores of each net with each architecture, and the number of measurements.

The published table starts at 1 and decays slowly, so untried architectures beat all tried ones.
Here the score of an untried architecture is NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DECAY = 0.9


class Scores:
    """Running means, each corrected for its start at 0.

    Args:
        architectures: number of rows.
        nets: number of columns.
        decay: decay of a running mean: ``s ← decay · s + (1 - decay) · new``.
    """

    def __init__(self, architectures: int, nets: int, decay: float = DECAY) -> None:
        import numpy as np

        self.decay = decay
        self.counts = np.zeros((architectures, nets), np.int64)
        self._running = np.zeros((architectures, nets))

    def add(self, architecture: int, net: int, score: float) -> None:
        """Add one measurement."""
        self.counts[architecture, net] += 1
        running = self._running[architecture, net]
        self._running[architecture, net] = self.decay * running + (1 - self.decay) * score

    @property
    def values(self) -> NDArray[np.float64]:
        """``(architectures, nets)``: ``s / (1 - decay^n)``; NaN without measurements."""
        import numpy as np

        weight = 1 - self.decay**self.counts
        corrected: NDArray[np.float64] = np.divide(
            self._running, weight, out=np.full(weight.shape, np.nan), where=self.counts > 0
        )
        return corrected


def noise(accuracy: float, rows: int, decay: float = DECAY) -> float:
    """Standard deviation of a running mean of accuracies, each over ``rows`` answers.

    This is the steady state after many measurements; after five the deviation is still twice as
    large (0.016 for 0.0081).

    >>> round(noise(0.8, 128), 4)
    0.0081
    """
    single = (accuracy * (1 - accuracy) / rows) ** 0.5
    return float(single * ((1 - decay) / (1 + decay)) ** 0.5)
