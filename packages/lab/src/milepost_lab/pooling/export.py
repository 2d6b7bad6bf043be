"""Export a pooling as an OpenVINO graph: one text's states in, its vector out.

The graph reads ``states`` ``(n, d)`` of one text and, where needed, ``query`` ``(d_q)`` and
``segments`` ``(n)``; it gives ``vector`` ``(d_out)``.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from milepost._silence import no_telemetry
from milepost.encoder.engine.folder import POOLING, POOLING_GRAPH
from milepost.encoder.engine.manifest import Manifest, read_manifest
from milepost.errors import InputError
from milepost_lab.pooling.arrays import load
from milepost_lab.pooling.registry import Operator
from milepost_train.model.export import traced
from milepost_train.record import SUMS, add_sums


class _OneText(nn.Module):
    """The pooling of a single text."""

    def __init__(self, module: nn.Module, row: Operator) -> None:
        super().__init__()
        self.module, self.row = module, row

    def forward(self, states: Tensor, *others: Tensor) -> Tensor:
        left = list(others)
        given: dict[str, Tensor] = {}
        if "queries" in self.row.needs:
            given["queries"] = left.pop(0)[None]
        if "segments" in self.row.needs:
            given["segments"] = left.pop(0)[None]
        mask = torch.ones_like(states[None, :, *(0,) * (states.ndim - 1)], dtype=torch.bool)
        vector: Tensor = self.module(states[None], mask, **given)[0]
        return vector


def graph(
    module: nn.Module, row: Operator, width: int, *, query_width: int = 0, layers: int = 1
) -> Any:
    """Convert a pooling to an ``openvino.Model``.

    Raises:
        InputError: the pooling gives several vectors per text.
    """
    if row.late == "many":
        raise InputError(f"{row.name} gives many vectors per text; a graph gives one", "mean")
    with no_telemetry():
        import openvino
    shape = (5, layers, width) if "layers" in row.needs else (5, width)
    given: list[tuple[str, Tensor, list[int]]] = [("states", torch.randn(shape), [-1, *shape[1:]])]
    if "queries" in row.needs:
        given.append(("query", torch.randn(query_width or width), [query_width or width]))
    if "segments" in row.needs:
        given.append(("segments", torch.tensor([0, 0, 1, 1, 2]), [-1]))
    example = tuple(tensor for _, tensor, _ in given)
    fast = torch.backends.mha.get_fastpath_enabled()
    with contextlib.ExitStack() as stack:
        stack.callback(module.train, module.training)
        stack.callback(torch.backends.mha.set_fastpath_enabled, fast)
        torch.backends.mha.set_fastpath_enabled(False)  # its fused operator cannot be converted
        stack.enter_context(torch.no_grad())
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        # The tracer warns about every value that it treats as a constant; tests at other lengths
        # show whether one of them was not constant.
        warnings.simplefilter("ignore")
        made = openvino.convert_model(
            traced(_OneText(module, row).eval(), example),
            example_input=example,
            input=[openvino.PartialShape(size) for _, _, size in given],
        )
    for (name, _, _), port in zip(given, made.inputs, strict=True):
        port.get_tensor().set_names({name})
    made.outputs[0].get_tensor().set_names({"vector"})
    return made


def install(file: Path, folder: Path) -> Manifest:
    """Install a saved pooling as the document pooling of a model folder.

    The model's fingerprint changes, since the vectors of documents change.

    Args:
        file: a pooling saved by ``Pool.save``, trained on landmarks of the model's width.
        folder: the model folder.

    Raises:
        ModelError: file or folder cannot be read.
        InputError: the pooling needs a query or layers, is for late interaction, was trained on
            another width, or its vectors differ in shape from those of questions.
    """
    manifest = read_manifest(folder)
    saved = load(file)
    row = saved.operator
    if (row.needs - {"segments"}) or row.late:
        raise InputError(
            f"{file} holds {row.name}, which does not make one vector of states alone",
            "a pooling that reads only states, see: milepost lab show",
        )
    landmarks = np.eye(1, manifest.dimensions, dtype=np.float32)
    shape = saved(landmarks, [1], segments=[1]).shape
    if shape != (1, manifest.dimensions):
        raise InputError(
            f"{file} gives vectors of the shape {shape[1:]}, but a question's has "
            f"{manifest.dimensions} numbers",
            "a pooling, or settings, that keep the width",
        )
    with no_telemetry():
        import openvino
    made = graph(saved.module(manifest.dimensions), row, manifest.dimensions)
    saved.save(folder / POOLING)
    openvino.save_model(made, folder / POOLING_GRAPH, compress_to_fp16=False)
    if (folder / SUMS).is_file():
        add_sums(folder, [POOLING_GRAPH, f"{Path(POOLING_GRAPH).stem}.bin", POOLING])
    digest = hashlib.sha256(manifest.fingerprint.encode() + (folder / POOLING).read_bytes())
    changed = replace(manifest, pooling=row.name, fingerprint=digest.hexdigest()[:16])
    changed.write(folder)
    return changed
