"""Export a torch pooling as an OpenVINO graph: one text's states in, its vector out.

The graph reads ``states`` ``(n, d)`` of one text, any n from 1, and, where the operator needs them,
``query`` ``(d_q)`` and ``segments`` ``(n)``; it gives ``vector`` ``(d_out)``. It reads one text at
a time, so nothing is padded.
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
from milepost.engine.folder import POOLING, POOLING_GRAPH
from milepost.engine.manifest import Manifest, read_manifest
from milepost.errors import InputError
from milepost_lab.model.pooling.module import PoolModule
from milepost_lab.model.pooling.table import module as make
from milepost_lab.pooling import load
from milepost_train.model.export import SUMS, add_sums
from milepost_train.model.tracing import traced


class _OneText(nn.Module):
    """The pooling of a single text."""

    def __init__(self, module: PoolModule) -> None:
        super().__init__()
        self.module = module

    def forward(self, states: Tensor, *others: Tensor) -> Tensor:
        left = list(others)
        queries = left.pop(0)[None] if "queries" in self.module.operator.needs else None
        segments = left.pop(0)[None] if "segments" in self.module.operator.needs else None
        mask = torch.ones_like(states[None, :, *(0,) * (states.ndim - 1)], dtype=torch.bool)
        if segments is None:
            segments = torch.cumsum(mask.long(), 1) - 1
        vector: Tensor = self.module.pool(states[None], mask, queries, segments)[0]
        return vector


def graph(module: PoolModule, *, query_width: int = 0) -> Any:
    """Convert a pooling to an ``openvino.Model``.

    Args:
        module: a pooling in training or evaluation mode; it is not changed.
        query_width: d of the queries, for operators that read them.

    Raises:
        InputError: the operator gives several vectors per text.
    """
    if module.operator.late == "many":
        raise InputError(
            f"{module.operator.name} gives many vectors per text; a graph gives one", "mean"
        )
    with no_telemetry():
        import openvino
    needs = module.operator.needs
    shape = (5, module.layers, module.width) if "layers" in needs else (5, module.width)
    given: list[tuple[str, Tensor, list[int]]] = [("states", torch.randn(shape), [-1, *shape[1:]])]
    if "queries" in needs:
        given.append(("query", torch.randn(query_width), [query_width]))
    if "segments" in needs:
        given.append(("segments", torch.tensor([0, 0, 1, 1, 2]), [-1]))
    with contextlib.ExitStack() as stack:
        stack.callback(module.train, module.training)
        stack.enter_context(torch.no_grad())
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        # The tracer warns about every value that it treats as a constant; the tests of every
        # operator at other lengths show whether one of them was not constant.
        warnings.simplefilter("ignore")
        example = tuple(tensor for _, tensor, _ in given)
        made = openvino.convert_model(
            traced(_OneText(module).eval(), example),
            example_input=example,
            input=[openvino.PartialShape(size) for _, _, size in given],
        )
    for (name, _, _), port in zip(given, made.inputs, strict=True):
        port.get_tensor().set_names({name})
    made.outputs[0].get_tensor().set_names({"vector"})
    return made


def write(module: PoolModule, folder: Path, **widths: int) -> None:
    """Write the graph and the weights of the NumPy reference into a folder.

    Args:
        module: the pooling.
        folder: created if it does not exist.
        widths: see ``graph``.
    """
    with no_telemetry():
        import openvino
    folder.mkdir(parents=True, exist_ok=True)
    module.reference().save(folder / POOLING)
    openvino.save_model(graph(module, **widths), folder / POOLING_GRAPH, compress_to_fp16=False)


def install(file: Path, folder: Path) -> Manifest:
    """Install a saved pooling as the document pooling of a model folder.

    The model's fingerprint changes, since the vectors of documents change.

    Args:
        file: a pooling saved by ``Pool.save``, trained on landmarks of the model's width.
        folder: the model folder.

    Raises:
        ModelError: file or folder cannot be read.
        InputError: the pooling needs a query or layers, is for late interaction, was trained on
            another width, or its vectors differ in width from those of questions.
    """
    manifest = read_manifest(folder)
    pool = load(file)
    beyond = pool.operator.needs - {"segments"}
    if beyond:
        raise InputError(
            f"{file} holds {pool.operator.name}, which needs {', '.join(sorted(beyond))}: a "
            "document has one vector, whatever the question",
            "a pooling that reads only states, see: milepost lab show",
        )
    if pool.operator.late:
        raise InputError(
            f"{file} holds {pool.operator.name}, for late interaction: an index compares a "
            "document's vector with one of the question",
            "a pooling that gives one, such as attention",
        )
    landmarks = np.eye(1, manifest.dimensions, dtype=np.float32)
    segments = [1] if pool.operator.needs else None
    tried = pool(landmarks, [1], segments=segments)  # weights of another width are an error here
    if tried.ndim == 3:
        raise InputError(
            f"{file} gives {tried.shape[1]} vectors per text; a document has one", "another pooling"
        )
    wide = tried.shape[1]
    if wide != manifest.dimensions:
        raise InputError(
            f"{file} gives vectors of {wide} numbers, but a question's has {manifest.dimensions}",
            "a pooling, or settings, that keep the width",
        )
    settings: dict[str, Any] = pool.settings
    module = make(pool.operator.name, manifest.dimensions, **settings)
    module.load_state_dict({n: torch.from_numpy(w) for n, w in (pool.weights or {}).items()})
    write(module, folder)
    if (folder / SUMS).is_file():
        add_sums(folder, [POOLING_GRAPH, f"{Path(POOLING_GRAPH).stem}.bin", POOLING])
    digest = hashlib.sha256(manifest.fingerprint.encode() + (folder / POOLING).read_bytes())
    made = replace(manifest, pooling=pool.operator.name, fingerprint=digest.hexdigest()[:16])
    made.write(folder)
    return made
