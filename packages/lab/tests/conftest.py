"""What all tests of the studies share: a cache of their own, and how one is run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setenv("MILEPOST_CACHE", str(cache))


@pytest.fixture
def run_study() -> Callable[..., dict[str, object]]:
    import json

    from support.cli_fixtures import invoked

    def call(command: Any, *args: object) -> dict[str, object]:
        result = invoked(command, *args, "--json", standalone_mode=False)
        if result.exception is not None:
            raise result.exception
        found: dict[str, object] = json.loads(result.stdout)
        return found

    return call
