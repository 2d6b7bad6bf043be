"""Call pdfium with handles as whole numbers: pointer objects take twice the time.

The lock of the interpreter is not released, which would take as long as most calls do.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_BYTES = 1 << 26

HANDLE, INT = ctypes.c_void_p, ctypes.c_int


def plain(function: Any, result: Any, *arguments: Any) -> Any:
    """Return the same function for handles that are whole numbers.

    If the types of its arguments are not given, it is faster still, and takes handles from
    ``pointer``, whole numbers of 32 bits and ``ctypes.byref``.
    """
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


def pointer(item: Any) -> ctypes.c_void_p:
    """Return a handle as functions of ``plain`` without arguments take it."""
    return ctypes.cast(item, ctypes.c_void_p)


def fill(
    function: Any, handle: Any, numbers: Sequence[int], results: NDArray[Any], places: int = 1
) -> None:
    """Call a function for each number, which puts its results at one or several places of a row.

    Args:
        function: from ``plain``, with no arguments named.
        handle: from ``pointer``.
        numbers: the second argument of each call.
        results: ``(numbers, values)``, changed.
        places: 1 if the function takes the place of the row, or the number of values, if it takes
            the place of each.
    """
    if not len(numbers):
        return
    row, step = results.strides
    whole = (ctypes.c_char * results.nbytes).from_buffer(results.data)
    arguments = (
        map(ctypes.byref, repeat(whole), range(step * place, results.nbytes, row))
        for place in range(places)
    )
    deque(map(function, repeat(handle), numbers, *arguments), maxlen=0)
