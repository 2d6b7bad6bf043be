"""Compare the vectors of exported graphs with those of torch, on real sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milepost.encoder import Encoder
from milepost.encoder.engine.folder import ModelFolder, Precision
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost_train.model.landmark_encoder import LandmarkEncoder, TorchEngine

LEAST: dict[Precision, float] = {"f32": 0.9999, "bf16": 0.99, "int8": 0.9}
"""Minimum cosine of a graph's vector and torch's that every sentence must reach."""

MEAN: dict[Precision, float] = {"f32": 0.99999, "bf16": 0.998, "int8": 0.97}
"""Minimum of the mean cosine."""

SAMPLE = Path(__file__).with_name("sample.txt").read_text(encoding="utf-8").splitlines()
"""Texts of several kinds and languages, used if there is no calibration text."""


@dataclass(frozen=True, slots=True)
class Parity:
    """Cosines of one graph with torch: minimum and mean, with those that are required."""

    precision: Precision
    sentences: int
    least: float
    mean: float
    least_wanted: float
    mean_wanted: float

    @property
    def holds(self) -> bool:
        """Whether the graph is close enough to torch."""
        return self.least >= self.least_wanted and self.mean >= self.mean_wanted


def compare(
    model: LandmarkEncoder,
    folder: ModelFolder,
    texts: Sequence[str],
    graphs: Mapping[Precision, Path] | None = None,
) -> list[Parity]:
    """Encode texts with torch and with every graph of the folder, and compare the vectors.

    ``graphs`` are files that OpenVINO reads (its own or ONNX); None for the folder's.
    """
    if graphs is None:
        graphs = {precision: folder.graph(precision) for precision in folder.precisions}
    wanted = _vectors(Encoder(folder, TorchEngine(model)), texts)
    found = []
    for precision, graph in graphs.items():
        engine = OpenVinoEngine(graph, cache=None)
        cosines = (_vectors(Encoder(folder, engine), texts) * wanted).sum(-1)
        # A NaN makes the check fail, because comparisons with NaN are false.
        least, mean = float(cosines.min()), float(cosines.mean())
        limits = LEAST[precision], MEAN[precision]
        found.append(Parity(precision, len(cosines), least, mean, *limits))
    return found


def _vectors(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float64]:
    return np.concatenate([encoder.encode(text).vectors for text in texts]).astype(np.float64)
