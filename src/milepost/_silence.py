"""OpenVINO and NNCF are imported without their telemetry: Milepost sends nothing anywhere.

OpenVINO is imported without its converter, too, which is half of its import and which only an
export needs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

_TELEMETRY = "openvino_telemetry"
_CONVERTER = "openvino.tools.ovc"


@contextmanager
def no_telemetry() -> Iterator[None]:
    """While this lasts, ``openvino_telemetry`` cannot be imported, and its users do without.

    OpenVINO reports each import of itself to Google Analytics and leaves an id in ``~/intel``,
    unless its user has opted out; both OpenVINO and NNCF run as well where the package is missing.
    A program that has imported it before has made its own choice, which is left alone.
    """
    if _TELEMETRY in sys.modules:
        yield
        return
    sys.modules[_TELEMETRY] = None  # type: ignore[assignment] # Python's own way to forbid an import
    try:
        yield
    finally:
        del sys.modules[_TELEMETRY]


def import_openvino() -> Any:
    """OpenVINO, whose ``convert_model`` is imported when somebody asks for it.

    The converter takes 0.3 seconds of a processor at each start of a program, and OpenVINO does
    without where it is missing. A program that has imported OpenVINO itself has the converter.
    """
    if "openvino" in sys.modules:
        return sys.modules["openvino"]
    sys.modules[_CONVERTER] = None  # type: ignore[assignment]
    try:
        with no_telemetry():
            openvino: Any = import_module("openvino")
    finally:
        del sys.modules[_CONVERTER]
    openvino.__getattr__ = _attribute
    return openvino


def _attribute(name: str) -> Any:
    """``openvino.convert_model``, at the first time."""
    if name != "convert_model":
        raise AttributeError(f"module 'openvino' has no attribute {name!r}")
    with no_telemetry():
        return import_module(_CONVERTER).convert_model
