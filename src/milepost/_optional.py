"""Optional dependencies are asked for at the door of the room that needs them."""

from __future__ import annotations

import importlib
from types import ModuleType

from milepost.errors import MissingExtra


def require(module: str, *, extra: str) -> ModuleType:
    """Import ``module`` or say which extra brings it.

    Raises:
        MissingExtra: when the module, or something it imports, is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"this needs {module}, which cannot be imported ({error})",
            f"pip install 'milepost[{extra}]'",
        ) from error
