"""Export a checkpoint to ONNX, for programs that do not run OpenVINO.

This uses torch's tracing exporter, which supports every backbone that OpenVINO's converter does.
The exporter based on ``torch.export`` gave the same vectors and took seven to thirteen times as
long (2026-11-21, tiny BERT and LLaMA, torch 2.13).
"""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Any

import torch

from milepost._optional import require
from milepost.encoder.engine.manifest import Manifest
from milepost_train.model.export import NAMES, describe, traceable
from milepost_train.model.landmark_encoder import LandmarkEncoder

GRAPH = "model.onnx"
OPSET = 17  # the oldest with LayerNormalization; most recent runtimes read it


def export_onnx(
    model: LandmarkEncoder,
    tokenizer: Path,
    folder: Path,
    *,
    name: str,
    settings: dict[str, Any] | None = None,
) -> Manifest:
    """Write ``model.onnx`` in float32, with the tokenizer, manifest and README that it needs.

    Inputs and outputs are those of the OpenVINO graph.
    """
    onnx = require("onnx", extra="export")
    file = folder / GRAPH
    lengths = {"ids": "tokens", "sentences": "tokens", "marks": "landmarks", "vectors": "landmarks"}
    with traceable(model) as example:
        torch.onnx.export(
            model,
            example,
            str(file),
            input_names=list(NAMES),
            output_names=["vectors"],
            dynamic_axes={port: {0: "windows", 1: each} for port, each in lengths.items()},
            opset_version=OPSET,
            dynamo=False,
        )
    written = onnx.load(file, load_external_data=False)
    # The exporter does not always infer the width.
    written.graph.output[0].type.tensor_type.shape.dim[2].dim_value = model.dimensions
    onnx.save(written, file)
    files = sorted(file.name for file in folder.iterdir())
    manifest = describe(model, tokenizer, folder, files, name=name, settings=settings)
    (folder / "README.md").write_text(_readme(manifest), encoding="utf-8")
    return manifest


_SENTENCE_LOOP = (
    "sentence",
    """for number, sentence in enumerate(["Ice kept the ship at sea.", "Who had paid?"], 1):
    tokens = tokenizer.encode(sentence, add_special_tokens=False).ids""",
)
_GRID_LOOP = (
    "segment",
    """words = "Ice kept the ship at sea. Who had paid?"
text = tokenizer.encode(words, add_special_tokens=False).ids
for number, first in enumerate(range(0, len(text), EVERY), 1):
    tokens = text[first : first + EVERY]""",
)
"""The unit that a landmark closes, and the lines of the README that build its tokens."""


def _readme(manifest: Manifest) -> str:
    bos = f"[tokenizer.token_to_id({manifest.bos_token!r})]" if manifest.bos_token else "[]"
    unit, read = _GRID_LOOP if manifest.every else _SENTENCE_LOOP
    read = read.replace("EVERY", str(manifest.every))
    closes = f"{manifest.every} tokens" if manifest.every else "sentence"
    rule = "A question is a text of one sentence; its cosine with a sentence is the score."
    if manifest.every:
        rule = (
            f"A segment has {manifest.every} tokens, the last one of a text the rest. A sentence's "
            "vector is the mean\nof those that it shares tokens with, and that of a text, or of a "
            "question, the mean of all."
        )
    template = Path(__file__).with_name("onnx_readme.md").read_text(encoding="utf-8")
    return Template(template).substitute(
        name=manifest.name,
        opset=OPSET,
        closes=closes,
        dimensions=manifest.dimensions,
        unit=unit,
        window=manifest.window,
        rule=rule,
        landmark=repr(manifest.landmark),
        bos=bos,
        read=read,
        graph=GRAPH,
    )
