"""What all tests of the studies share: a cache of their own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests, so that vectors and graphs are made once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Keep the user's cache out of the tests."""
    monkeypatch.setenv("MILEPOST_CACHE", str(cache))
