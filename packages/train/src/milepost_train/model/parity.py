"""Compare the vectors of exported graphs with those of torch, on real sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from milepost.encoder import Encoder
from milepost.encoder.engine.folder import ModelFolder, Precision
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.torch_engine import TorchEngine

LEAST: dict[Precision, float] = {"f32": 0.9999, "bf16": 0.99, "int8": 0.9}
"""Minimum cosine of a graph's vector and torch's that every sentence must reach."""

MEAN: dict[Precision, float] = {"f32": 0.99999, "bf16": 0.998, "int8": 0.97}
"""Minimum of the mean cosine."""

SAMPLE = (
    "The survey ship left Bergen on 4 May 1931 with eleven people on board. Ice kept it from the "
    "coast for three weeks! Who had paid for the voyage? Dr. Aase Lund's notebook, bought by the "
    "museum in 1978, says: “We owe the town 2,400 crowns – and an apology.”",
    "1. Switch the pump off. 2. Open the valve (no. 7) by a quarter turn, and wait until the gauge "
    "shows less than 0.5 bar. Never loosen the cap under pressure. If water still comes, call "
    "service@example.org.",
    "Let f be continuous on [0, 1]. Then f attains its maximum; the proof needs compactness alone. "
    "In practice one samples f at n = 1,000 points and takes the largest value, which is wrong "
    "only where f changes faster than the grid.",
    "Patienten mit schwerer Niereninsuffizienz waren ausgeschlossen. La dose fut réduite de moitié "
    "après six semaines. Двое участников выбыли по личным причинам. 患者は全員が成人だった。",
    "Ok. Yes. The committee, having heard the parties, having read the three reports that the "
    "ministry had sent in the spring, and having seen the site, which by then had been fenced, "
    "decided nothing.",
)
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

    Args:
        model: the model that the folder was exported from.
        folder: a folder with one or more graphs.
        texts: texts of any length.
        graphs: files that OpenVINO reads (its own or ONNX); None for the folder's.
    """
    if graphs is None:
        graphs = {precision: folder.graph(precision) for precision in folder.precisions}
    wanted = _vectors(Encoder(folder, TorchEngine(model)), texts)
    found = []
    for precision, graph in graphs.items():
        engine = OpenVinoEngine(graph, cache=None)
        cosines = (_vectors(Encoder(folder, engine), texts) * wanted).sum(-1)
        # A NaN makes the check fail, because comparisons with NaN are false.
        found.append(
            Parity(
                precision,
                len(cosines),
                float(cosines.min()),
                float(cosines.mean()),
                LEAST[precision],
                MEAN[precision],
            )
        )
    return found


def _vectors(
    encoder: Encoder, texts: Sequence[str]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.concatenate([encoder.encode(text).vectors for text in texts]).astype(np.float64)
