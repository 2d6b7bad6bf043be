"""Call pdfium with references and whole numbers: pointer objects take twice the time.

The lock of the interpreter is not released, which would take as long as most calls do. The lock of
``glyphs`` must be held.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from milepost.documents.readers.pdf.records import Integers

_MAX_BYTES = 1 << 26
_ROWS, _ROW = 2048, 32  # calls whose results are read together, and bytes for each

HANDLE, INT = ctypes.c_size_t, ctypes.c_int
"""Types of results; a handle that is missing is 0."""

_ROOM = (ctypes.c_char * (_ROWS * _ROW))()
_BYTES: NDArray[Any] = np.frombuffer(memoryview(_ROOM), np.uint8).reshape(_ROWS, _ROW)


_PLAIN: dict[tuple[str, Any], Any] = {}  # a new type of function takes as long as a hundred calls


def plain(function: Any, result: Any) -> Any:
    """Return the same function for references and whole numbers of 32 bits."""
    key = function.__name__, result
    if key not in _PLAIN:
        _PLAIN[key] = ctypes.PYFUNCTYPE(result)(address(function))
    return _PLAIN[key]


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


def references(addresses: Integers) -> list[Any]:
    """Return handles as functions of ``plain`` take them."""
    offsets = (addresses - ctypes.addressof(_ROOM)).tolist()
    return [*map(ctypes.byref, repeat(_ROOM), offsets)]


def reference(item: Any) -> Any:
    """Return one handle as functions of ``plain`` take it."""
    return ctypes.byref(_ROOM, address(item) - ctypes.addressof(_ROOM))


def asked(function: Any, result: Any, each: Sequence[Any], *before: Any) -> NDArray[Any]:
    """Ask a function of pdfium for a number many times: ``each`` is the last argument of a call."""
    found = map(plain(function, result), *map(repeat, before), each)
    return np.fromiter(found, np.float64 if result is ctypes.c_double else np.int64, len(each))


@cache
def _places(offset: int) -> list[Any]:
    """References to a place in each row of the room: making one takes half as long as a call."""
    return [ctypes.byref(_ROOM, row + offset) for row in range(0, len(_ROOM), _ROW)]


def results(
    function: Any, kind: type, values: int, each: Sequence[Any], *before: Any, apart: bool = False
) -> tuple[NDArray[Any], list[int]]:
    """Call a function many times that puts numbers at a place.

    Args:
        function: one of pdfium.
        kind: type of the numbers.
        values: how many there are for each call.
        each: the last argument before the place, for each call.
        before: the arguments before that.
        apart: whether the function takes a place for each number.

    Returns:
        ``(calls, values)`` numbers, 0 where there is no result; what each call returned.
    """
    found: NDArray[Any] = np.zeros((len(each), values), kind)
    places = [_places(found.itemsize * value) for value in range(values if apart else 1)]
    answers: list[int] = []
    for start in range(0, len(each), _ROWS):
        part = each[start : start + _ROWS]
        ctypes.memset(_ROOM, 0, _ROW * len(part))
        answers += map(plain(function, INT), *map(repeat, before), part, *places)
        found[start : start + len(part)] = _BYTES.view(kind)[: len(part), :values]
    return found, answers
