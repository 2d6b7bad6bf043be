"""Checkpoint → model folder: the bridge from torch to the engine.

The graph ends at the landmarks, so nothing of the text that has no vector leaves it. int8 is full
quantisation (weights and activations) by NNCF, calibrated on windows of real text.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from milepost._optional import require
from milepost.engine.folder import GRAPHS, TOKENIZER
from milepost.engine.manifest import Manifest
from milepost.engine.silence import no_telemetry
from milepost.model.landmark_encoder import LandmarkEncoder

Feed = dict[str, NDArray[np.int32]]
NAMES = ("ids", "sentences", "marks")


def convert(model: LandmarkEncoder) -> Any:
    """The model as an OpenVINO graph with inputs ``ids``, ``sentences``, ``marks`` (int32)."""
    with no_telemetry():
        openvino = require("openvino", extra="export")
    example = (
        torch.tensor([[1, 2, 3, 2, 3], [1, 4, 4, 2, 0]], dtype=torch.int32),
        torch.tensor([[0, 1, 1, 2, 2], [0, 1, 1, 1, -1]], dtype=torch.int32),
        torch.tensor([[2, 4], [3, 0]], dtype=torch.int32),
    )
    shapes = [([-1, -1], openvino.Type.i32)] * 3
    with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
        graph = openvino.convert_model(model.eval(), example_input=example, input=shapes)
    for port, name in zip(graph.inputs, NAMES, strict=True):
        port.get_tensor().set_names({name})
    return graph


def quantize(graph: Any, calibration: Iterable[Feed]) -> Any:
    """Full int8: weights and activations, transformer preset, SmoothQuant and bias correction.

    Args:
        graph: what ``convert`` returned.
        calibration: some dozens of batches of real text, as the engine would be fed.
    """
    with no_telemetry():
        nncf = require("nncf", extra="export")
    logging.getLogger("nncf").setLevel(logging.ERROR)
    feeds = list(calibration)
    return nncf.quantize(
        graph,
        nncf.Dataset(feeds),
        model_type=nncf.ModelType.TRANSFORMER,
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(feeds),
    )


def export(
    model: LandmarkEncoder,
    tokenizer: Path,
    folder: Path,
    *,
    name: str,
    calibration: Iterable[Feed] | None = None,
    f32: bool = True,
    settings: dict[str, Any] | None = None,
) -> Manifest:
    """Write a model folder that ``milepost.load`` reads.

    Args:
        model: the landmark encoder.
        tokenizer: its ``tokenizer.json``.
        folder: where to write; made if it does not exist.
        name: the model's name.
        calibration: text for int8 as batches; None writes no int8 graph.
        f32: write the float32 graph as well.
        settings: fields of ``Manifest`` that differ from its defaults.
    """
    with no_telemetry():
        openvino = require("openvino", extra="export")
    folder.mkdir(parents=True, exist_ok=True)
    graph = convert(model)
    if f32:
        openvino.save_model(graph, folder / GRAPHS["f32"], compress_to_fp16=False)
    if calibration is not None:
        small = quantize(graph, calibration)
        openvino.save_model(small, folder / GRAPHS["int8"], compress_to_fp16=False)
    shutil.copyfile(tokenizer, folder / TOKENIZER)
    fields = {**(settings or {}), "own_sentence": model.own_sentence}
    draft = Manifest(name=name, fingerprint="", dimensions=model.backbone.width, **fields)
    manifest = Manifest(
        **{
            **{key: getattr(draft, key) for key in Manifest.__dataclass_fields__},
            "fingerprint": fingerprint(model, tokenizer, draft),
        }
    )
    manifest.write(folder)
    _write_sums(folder)
    return manifest


def _write_sums(folder: Path) -> None:
    """``SHA256SUMS`` of the large files, which ``milepost doctor`` checks.

    The manifest is left out: it may be edited (fusion weights) without harm to the rest.
    """
    names = [TOKENIZER]
    for graph in GRAPHS.values():
        if (folder / graph).is_file():
            names += [graph, Path(graph).with_suffix(".bin").name]
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def fingerprint(model: LandmarkEncoder, tokenizer: Path, manifest: Manifest) -> str:
    """16 hex digits over the weights, the tokenizer and the settings that change vectors."""
    digest = hashlib.sha256()
    for key, weight in sorted(model.backbone.state_dict().items()):
        digest.update(key.encode())
        digest.update(weight.detach().to(torch.float16).numpy().tobytes())
    digest.update(tokenizer.read_bytes())
    shaping = ("opening", "landmark", "window", "left", "right", "longest", "own_sentence")
    digest.update(json.dumps({key: getattr(manifest, key) for key in shaping}).encode())
    return digest.hexdigest()[:16]
