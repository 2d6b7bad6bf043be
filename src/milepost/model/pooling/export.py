"""A torch pooling as an OpenVINO graph: one text's states in, its vector out.

The graph reads ``states`` ``(n, d)`` of one text, any n from 1, and, where the operator needs them,
``query`` ``(d_q)`` and ``segments`` ``(n)``; it gives ``vector`` ``(d_out)``. One text at a time:
nothing is padded.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from milepost.engine.silence import no_telemetry
from milepost.model.pooling.module import PoolModule


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
    """The ``openvino.Model`` of a pooling.

    Args:
        module: in whatever state of training; it is read, not changed.
        query_width: of operators that read queries.
    """
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
        stack.enter_context(torch.no_grad())
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        # The tracer warns of every value it takes for a constant; the tests of every operator at
        # other lengths say whether one of them was none.
        warnings.simplefilter("ignore")
        made = openvino.convert_model(
            _OneText(module).eval(),
            example_input=tuple(tensor for _, tensor, _ in given),
            input=[openvino.PartialShape(size) for _, _, size in given],
        )
    for (name, _, _), port in zip(given, made.inputs, strict=True):
        port.get_tensor().set_names({name})
    made.outputs[0].get_tensor().set_names({"vector"})
    return made


def write(module: PoolModule, folder: Path, **widths: int) -> None:
    """Write ``pooling.npz`` (the reference's) and ``pooling.xml`` with ``.bin`` into a folder."""
    with no_telemetry():
        import openvino
    folder.mkdir(parents=True, exist_ok=True)
    module.reference().save(folder / "pooling.npz")
    openvino.save_model(graph(module, **widths), folder / "pooling.xml", compress_to_fp16=False)
