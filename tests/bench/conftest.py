"""The folder ``bench`` as a place to import from, as its scripts do."""

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

# The scripts measure with milepost-eval.
collect_ignore_glob = [] if find_spec("milepost_eval") else ["test_*.py"]

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    if not (BENCH / "stress.py").is_file():
        pytest.skip("needs the checkout")
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module
