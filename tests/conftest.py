"""Fixtures that every room's tests share."""

from __future__ import annotations

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
