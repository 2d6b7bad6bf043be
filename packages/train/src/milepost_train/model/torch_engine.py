"""Run the torch model as an engine, so that it reads text exactly as its exported graph."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from milepost_train.model.landmark_encoder import LandmarkEncoder

Ids = NDArray[np.int32]


class TorchEngine:
    """An engine that runs the torch model, in float32 and evaluation mode on its device."""

    def __init__(self, model: LandmarkEncoder) -> None:
        self._model = model.eval()

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return int(self._model.dimensions)

    @property
    def description(self) -> str:
        """One line with engine, precision and device."""
        return f"torch, f32, {next(self._model.parameters()).device}"

    @torch.no_grad()
    def run(self, ids: Ids, sentences: Ids, marks: Ids) -> NDArray[np.float32]:
        """See ``Engine.run``."""
        device = next(self._model.parameters()).device
        feed = (torch.from_numpy(array).to(device) for array in (ids, sentences, marks))
        result: NDArray[np.float32] = self._model(*feed).cpu().numpy()
        return result
