"""Fixtures and markers that all tests share."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings

from milepost.engine import shipped_models

# Workers of pytest-xdist share the cores; NumPy, torch and ONNX Runtime would each take them all.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# OpenVINO forks a process to report each conversion to its makers, a copy of the whole worker;
# tests that import it before Milepost does would let it.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]

# Haystack reports each import and each run of a pipeline to its makers.
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

# A busy machine is slow now and then: how long an example takes says nothing of the code.
settings.register_profile("unhurried", settings(), deadline=None)
settings.load_profile("unhurried")

LAB = Path(__file__).resolve().parent / "lab"
SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the studies; ``pytest -m "not lab"`` is the quick suite."""
    for item in items:
        if item.path.is_relative_to(LAB):
            item.add_marker(pytest.mark.lab)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Corpora, tasks and real files beside the checkout; skips where they are missing."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the shared data at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def model() -> list[str]:
    """Arguments that name the model: none for the shipped one; another by MILEPOST_TEST_MODEL."""
    other = os.environ.get("MILEPOST_TEST_MODEL")
    if other:
        return ["--model", str(Path(other).absolute())]
    if not shipped_models():
        pytest.skip("needs a model: none is shipped here, and MILEPOST_TEST_MODEL names none")
    return []


@pytest.fixture
def small_controls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Controls that were pre-trained for one step, not for ten seconds."""
    pytest.importorskip("torch", reason="needs the train extra")
    from milepost.lab.controls import readers as control_readers
    from milepost.lab.controls.byte_training import ByteRecipe
    from milepost.lab.controls.encoders import control_encoder

    quick = partial(control_encoder, recipe=ByteRecipe(steps=1, batch=2))
    monkeypatch.setattr(control_readers, "control_encoder", quick)
