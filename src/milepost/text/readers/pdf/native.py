"""Call pdfium with handles as whole numbers: pointer objects take twice the time."""

from __future__ import annotations

import ctypes
from typing import Any

HANDLE, INT = ctypes.c_void_p, ctypes.c_int


def plain(function: Any, result: Any, *arguments: Any) -> Any:
    """Return the same function for handles that are whole numbers."""
    return ctypes.CFUNCTYPE(result, *arguments)(address(function))


def address(item: Any) -> int:
    """Return the address of a handle or a function."""
    return ctypes.cast(item, ctypes.c_void_p).value or 0
