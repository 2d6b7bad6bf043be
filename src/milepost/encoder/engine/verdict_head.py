"""What a window says of the text in front of it: log-odds from that text's landmark.

The landmark of a claim or question that stands in front of sentences has read them. Four
directions tell whether they support or contradict the claim or leave it open, and whether they
answer the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost._numpy import NDArray, np, read_arrays
from milepost.errors import ModelError
from milepost.verdicts import VERDICTS

SCALE = 20.0  # one over the temperature of a direction's cosine

FILE = "verdicts.npz"


@dataclass(frozen=True, slots=True)
class VerdictHead:
    """The directions of ``VERDICTS``: ``(4, d)`` and ``(4,)`` float32."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]

    def __call__(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """``(n, d)`` unit vectors of landmarks → ``(n, 4)`` log-odds."""
        found: NDArray[np.float32] = SCALE * (vectors @ self.weight.T + self.bias)
        return found

    def write(self, folder: Path) -> None:
        """Write the file of a model folder."""
        np.savez(folder / FILE, weight=self.weight, bias=self.bias)

    @staticmethod
    def read(folder: Path) -> VerdictHead | None:
        """Read the file of a model folder; None where there is none."""
        path = folder / FILE
        if not path.is_file():
            return None
        try:
            arrays = read_arrays(path)
            weight, bias = arrays["weight"], arrays["bias"]
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"{path} cannot be read: {error}", "export the model again") from error
        if weight.ndim != 2 or len(weight) != len(VERDICTS) or bias.shape != (len(VERDICTS),):
            raise ModelError(f"{path} has arrays of another shape", "export the model again")
        return VerdictHead(weight.astype(np.float32), bias.astype(np.float32))
