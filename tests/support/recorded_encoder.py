"""An encoder of the fake engine that remembers every batch its network was given."""

from pathlib import Path

import numpy as np

from milepost.encoder import Encoder
from milepost.encoder.engine.folder import ModelFolder
from milepost.encoder.engine.manifest import Manifest
from milepost.testing import FakeEngine, fake_encoder


class Recorder:
    description = "recorder"
    dimensions = 32

    def __init__(self) -> None:
        self.batches: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._engine = FakeEngine(32, 40000)

    def run(self, ids: np.ndarray, sentences: np.ndarray, marks: np.ndarray) -> np.ndarray:
        """Keep the arrays and answer as the fake engine does."""
        self.batches.append((ids.copy(), sentences.copy(), marks.copy()))
        return self._engine.run(ids, sentences, marks)


def recorded(**sizes: int) -> tuple[Encoder, Recorder]:
    """An encoder whose engine remembers."""
    engine = Recorder()
    manifest = Manifest("recorder", "recorder", 32, **sizes)
    return Encoder(ModelFolder(Path("nowhere"), manifest), engine, fake_encoder().tokenizer), engine
