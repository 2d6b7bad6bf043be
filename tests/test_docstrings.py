"""The worked numbers in docstrings are true, and the files that they name exist."""

from __future__ import annotations

import ast
import doctest
import pkgutil
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import milepost
from milepost._optional import folder_of


def _source(module: pkgutil.ModuleInfo) -> str:
    """The text of a module, which is not imported."""
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
    """Every example in a docstring gives what is written below it."""
    if name.startswith("milepost.integrations."):
        module = pytest.importorskip(name, reason="needs its framework", exc_type=ImportError)
    else:
        module = import_module(name)
    assert doctest.testmod(module).failed == 0


def test_there_are_examples() -> None:
    """The examples are found at all: the rooms with worked numbers have some."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in ("windows.plan", "windows.cut", "windows.batches", "terms", "testing"):
        module = import_module(f"milepost.{name}")
        assert any(test.examples for test in finder.find(module)), name


def test_files_that_docstrings_name_exist() -> None:
    """Beside the module, beside its package, or in milepost."""
    root = Path(milepost.__file__).parent
    others = map(folder_of, ("milepost_eval", "milepost_train", "milepost_lab"))
    roots = [root, *filter(None, others)]
    above = [each.parent for each in roots]
    above += root.parents[1].glob("packages/*/src")  # where they are not installed
    named = [
        (file, name)
        for each in roots
        for file in sorted(each.rglob("*.py"))
        for name in re.findall(
            r"``(?!bench/)([\w/]+\.py)``",
            ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "",
        )
    ]
    assert len(named) > 100
    missing = [
        f"{file}: {name}"
        for file, name in named
        if not any((place / name).is_file() for place in (*file.parents[:2], *roots, *above))
    ]
    assert not missing
