"""Fixtures that every room's tests share."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is slow now and then: how long an example takes says nothing of the code.
settings.register_profile("unhurried", settings(), deadline=None)
settings.load_profile("unhurried")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Corpora, tasks and real files beside the checkout; skips where they are missing."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the shared data at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture
def small_controls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Controls that were pre-trained for one step, not for ten seconds."""
    pytest.importorskip("torch", reason="needs the train extra")
    from milepost.lab.controls import readers as control_readers
    from milepost.lab.controls.byte_training import ByteRecipe
    from milepost.lab.controls.encoders import control_encoder

    quick = partial(control_encoder, recipe=ByteRecipe(steps=1, batch=2))
    monkeypatch.setattr(control_readers, "control_encoder", quick)
