"""OpenVINO and NNCF are imported without their telemetry: Milepost sends nothing anywhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TELEMETRY = "openvino_telemetry"


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
