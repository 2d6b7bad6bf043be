"""Call pdfium with handles as whole numbers: pointer objects take twice the time.

The lock of the interpreter is not released, which would take as long as most calls do.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from itertools import repeat
from typing import Any

_MAX_BYTES = 1 << 26

HANDLE, INT = ctypes.c_void_p, ctypes.c_int


def plain(function: Any, result: Any, *arguments: Any) -> Any:
    """Return the same function for handles that are whole numbers."""
    return _at(address(function), result, arguments)


@lru_cache(maxsize=64)  # a new type of function takes as long as a hundred calls
def _at(function: int, result: Any, arguments: tuple[Any, ...]) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)(function)


def address(item: Any) -> int:
    """Return the address of a handle or a function."""
    return ctypes.cast(item, ctypes.c_void_p).value or 0


def text_of(function: Any, *arguments: Any) -> str:
    """Call a function that puts a text in UTF-16 at a place; empty if it is over 64 MB."""
    size = function(*arguments, None, 0)
    if not 2 < size <= _MAX_BYTES:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    function(*arguments, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "ignore")


def fill(function: Any, handle: int, numbers: Iterable[int], *places: Iterable[int]) -> None:
    """Call a function for each number, with the addresses at which it puts its results."""
    deque(map(function, repeat(handle), numbers, *places), maxlen=0)
