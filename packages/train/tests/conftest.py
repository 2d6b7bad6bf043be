"""What the tests of training share."""

from pathlib import Path

import pytest

from milepost_train import loop


@pytest.fixture(autouse=True)
def no_curves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Drawing takes longer than a tiny training, and has tests of its own."""
    monkeypatch.setattr(loop, "draw", lambda folder: [])
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))
