"""Models by their name on the Hugging Face hub: its real client, its cache, no network."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.engine import Manifest, find_model
from milepost.errors import ModelError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty hub cache, and a hub that nobody answers for."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    return tmp_path


def test_a_cached_hub_model_asks_nobody(cache: Path) -> None:
    """A model in the hub's cache is found there, though the hub cannot be reached."""
    snapshot = cache / "models--somebody--small" / "snapshots" / "0123abc"
    snapshot.mkdir(parents=True)
    (cache / "models--somebody--small" / "refs").mkdir()
    (cache / "models--somebody--small" / "refs" / "main").write_text("0123abc")
    Manifest(name="small", fingerprint="00ff", dimensions=8).write(snapshot)
    found = find_model("somebody/small")
    assert found.path == snapshot
    assert found.manifest.name == "small"


def test_a_hub_that_cannot_be_reached(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network a hub name is refused in one line with what to do next."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="from the Hugging Face hub failed") as raised:
        find_model("nobody/nothing")
    assert "\n" not in str(raised.value)
    assert "milepost models" in raised.value.hint


def test_a_folder_goes_before_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of that name in the current folder is taken, and the hub is not asked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "somebody" / "small").mkdir(parents=True)
    Manifest(name="own", fingerprint="00ff", dimensions=8).write(tmp_path / "somebody" / "small")
    assert find_model("somebody/small").manifest.name == "own"
