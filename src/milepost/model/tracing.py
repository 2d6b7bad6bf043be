"""What OpenVINO converts: torch modules, traced once."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from milepost._silence import no_telemetry


def traced(module: nn.Module, example: tuple[Tensor, ...]) -> Any:
    """A module as ``openvino.convert_model`` reads it.

    ``convert_model`` would have torch check the trace: trace again, and compare. That takes as long
    as all the rest, and says less than the comparison of the graph with torch does.

    Args:
        module: in evaluation mode.
        example: what it is traced with; give it to ``convert_model``, too.
    """
    with no_telemetry():
        from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder
    return TorchScriptPythonDecoder(
        module, example_input=example, trace_kwargs={"check_trace": False}
    )
