"""Trace torch modules for OpenVINO."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from milepost._silence import no_telemetry


def traced(module: nn.Module, example: tuple[Tensor, ...]) -> Any:
    """Trace a module for ``openvino.convert_model``.

    By default ``convert_model`` makes torch check the trace by tracing again. That doubles the time
    and shows less than the later comparison of the graph with torch.
    """
    with no_telemetry():
        from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder
    return TorchScriptPythonDecoder(
        module, example_input=example, trace_kwargs={"check_trace": False}
    )
