"""Import an optional dependency, or say which extra installs it."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from milepost.errors import MissingExtra


def require(module: str, *, extra: str) -> ModuleType:
    """Import ``module``, or say which extra installs it.

    Raises:
        MissingExtra: when the module, or something it imports, is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"this needs {module}, which cannot be imported ({error})",
            f"pip install '{_installed()}[{extra}]'",
        ) from error


def _installed() -> str:
    """What ``pip install`` needs to be told to add an extra.

    pip keeps a Milepost that is installed, however it was (from a clone, a wheel, an index), and
    reads the extra from its metadata; it asks no index for it. One that runs from its sources
    without being installed is named by their folder.
    """
    # Not above: it imports the parser of e-mail.
    from importlib.metadata import PackageNotFoundError, distribution

    sources = Path(__file__).resolve().parents[2]
    try:
        distribution("milepost")
    except PackageNotFoundError:
        return str(sources) if (sources / "pyproject.toml").is_file() else "milepost"
    return "milepost"


def check_installed(*modules: str, extra: str) -> None:
    """Find out, without slow imports, whether modules are there.

    Raises:
        MissingExtra: when one is not installed.
    """
    for module in modules:
        if find_spec(module) is None:
            require(module, extra=extra)


def folder_of(package: str) -> Path | None:
    """The folder of an installed package, which is not imported; None where it is missing."""
    found = find_spec(package)
    return Path(found.origin).parent if found and found.origin else None
