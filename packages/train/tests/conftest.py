"""What the tests of training share."""

from pathlib import Path

import pytest

from milepost_train import loop
from milepost_train.config import read_config
from milepost_train.run import Trained, train
from support.tiny_runs import CHECK, write_run


@pytest.fixture(autouse=True)
def no_curves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Drawing takes longer than a tiny training, and has tests of its own."""
    monkeypatch.setattr(loop, "draw", lambda folder: [])
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A tiny run that is done; a test that changes its folder copies it."""
    file = write_run(tmp_path_factory.mktemp("finished"), CHECK)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop, "draw", lambda folder: [])
        return train(read_config(file))
