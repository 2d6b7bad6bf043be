"""The folder ``bench`` as a place to import from, as its scripts do."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import a script of ``bench`` by its name."""
    if not (BENCH / "reliability.py").is_file():
        pytest.skip("needs the checkout")
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module
