"""What all tests of the studies share: a cache of their own, and compiled models."""

from collections.abc import Callable
from pathlib import Path

import pytest

from milepost.encoder.engine import openvino
from milepost.encoder.engine.folder import ModelFolder


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setenv("MILEPOST_CACHE", str(cache))


@pytest.fixture(scope="session")
def open_once() -> Callable[..., object]:
    """Opens the engine of a model folder, compiled once: engines keep nothing of a text."""
    known: dict[object, object] = {}
    really = openvino.open_engine

    def open_engine(folder: ModelFolder, **settings: object) -> object:
        key = folder.path, *sorted(settings.items())
        if key not in known:
            known[key] = really(folder, **settings)
        return known[key]

    return open_engine


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch, open_once: Callable[..., object]) -> None:
    """No test waits for a graph that another has compiled."""
    monkeypatch.setattr(openvino, "open_engine", open_once)


@pytest.fixture
def run_study() -> Callable[..., dict[str, object]]:
    import json

    from click.testing import CliRunner

    from milepost.cli.console.options import Settings

    def call(command: object, *args: object) -> dict[str, object]:
        given = [*map(str, args), "--json"]
        result = CliRunner().invoke(command, given, obj=Settings(), standalone_mode=False)
        if result.exception is not None:
            raise result.exception
        found: dict[str, object] = json.loads(result.stdout)
        return found

    return call
