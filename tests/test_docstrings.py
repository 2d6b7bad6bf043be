"""The worked numbers in docstrings are true."""

import doctest
import pkgutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest


def _source(module: pkgutil.ModuleInfo) -> str:
    found = module.module_finder.find_spec(module.name, None)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).read_text(encoding="utf-8")


PACKAGES = [
    name
    for name in ("milepost", "milepost_eval", "milepost_lab.pooling")
    if find_spec(name.partition(".")[0])
]
"""Those that need no torch."""
MODULES = [
    module.name
    for package in PACKAGES
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
    if not module.name.endswith("__main__") and ">>>" in _source(module)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    if name.startswith("milepost.integrations."):
        module = pytest.importorskip(name, reason="needs its framework", exc_type=ImportError)
    else:
        module = import_module(name)
    assert doctest.testmod(module).failed == 0
