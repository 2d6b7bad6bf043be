"""Import OpenVINO and NNCF without their telemetry: Milepost sends nothing anywhere.

OpenVINO is also imported without its converter, which takes half of the import time and is only
needed for exports.
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
    """Make ``openvino_telemetry`` impossible to import inside a ``with`` block.

    OpenVINO reports each import to Google Analytics and stores an id in ``~/intel`` unless the user
    has opted out. OpenVINO and NNCF also work without that package. If the program has imported it
    already, nothing changes.
    """
    if _TELEMETRY in sys.modules:
        yield
        return
    sys.modules[_TELEMETRY] = None  # type: ignore[assignment] # Python's way to block an import
    try:
        yield
    finally:
        del sys.modules[_TELEMETRY]


def import_openvino() -> Any:
    """Import OpenVINO; its ``convert_model`` is imported on first access.

    Importing the converter takes 0.3 CPU seconds at each start, and OpenVINO works without it. If
    the program has imported OpenVINO already, the converter is there.
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
    """Import ``openvino.convert_model`` on first access."""
    if name != "convert_model":
        raise AttributeError(f"module 'openvino' has no attribute {name!r}")
    with no_telemetry():
        return import_module(_CONVERTER).convert_model
