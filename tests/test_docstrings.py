"""The worked numbers in docstrings are true, and the files that they name exist."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import milepost


def _source(module: pkgutil.ModuleInfo) -> str:
    """The text of a module, which is not imported."""
    found = module.module_finder.find_spec(module.name, None)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).read_text(encoding="utf-8")


TORCH = ("milepost.lab", "milepost.model", "milepost.train")
MODULES = [
    module.name
    for module in pkgutil.walk_packages(milepost.__path__, "milepost.")
    if not module.name.startswith(TORCH)
    and not module.name.endswith("__main__")
    and ">>>" in _source(module)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    """Every example in a docstring gives what is written below it."""
    if name.startswith("milepost.integrations."):
        module = pytest.importorskip(name, reason="needs its framework", exc_type=ImportError)
    else:
        module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_there_are_examples() -> None:
    """The examples are found at all: the rooms with worked numbers have some."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in ("windows.plan", "windows.cut", "windows.batches", "search.lexical", "testing"):
        module = importlib.import_module(f"milepost.{name}")
        assert any(test.examples for test in finder.find(module)), name


def test_files_that_docstrings_name_exist() -> None:
    """Beside the module, beside its package, or in milepost."""
    root = Path(milepost.__file__).parent
    named = [
        (file, name)
        for file in sorted(root.rglob("*.py"))
        for name in re.findall(
            r"``(?!bench/)([\w/]+\.py)``",
            ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "",
        )
    ]
    assert len(named) > 100
    missing = [
        f"{file.relative_to(root)}: {name}"
        for file, name in named
        if not any((place / name).is_file() for place in (file.parent, file.parents[1], root))
    ]
    assert not missing
