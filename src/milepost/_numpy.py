"""NumPy as ``np``, imported when the first of its names is used, and its type of arrays.

Modules that a command imports before it knows whether it will compute anything have it from here:
importing NumPy takes longer than the rest of such a command. ``NDArray`` is for annotations alone.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

__all__ = ["NDArray", "np", "read_arrays"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:

    class _Late:
        def __getattr__(self, name: str) -> Any:
            found = getattr(importlib.import_module("numpy"), name)
            setattr(self, name, found)  # the next time it is as quick as any name
            return found

    np, NDArray = _Late(), Any

_reading = Lock()


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of an ``.npz`` file, in one thread at a time.

    NumPy parses a header by ``ast``, which fails in Python 3.11 if another thread does so, too:
    "AST constructor recursion depth mismatch".
    """
    # NumPy would leave the file open if it is not an archive.
    with _reading, path.open("rb") as file, np.load(file, allow_pickle=False) as held:
        return {name: held[name] for name in held}
