"""Fixtures of the store's tests: each kind of store, a second process, a small disk."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from milepost.store import Store, open_store
from support.cli_process import started
from support.small_disk import small_disk  # noqa: F401 - a fixture
from support.store_checks import placed
from support.store_entries import Child, opened


@pytest.fixture(autouse=True)
def closed_afterwards() -> Iterator[None]:
    """Close whatever a test has opened and not closed."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:

        def kept(*place: object, **options: object) -> Store:
            made = open_store(*place, **options)
            stack.callback(made.close)
            return made

        patch.setattr("support.store_entries.open_store", kept)
        yield


@pytest.fixture(params=["sqlite", "postgres", "lance"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    with placed(request.param, tmp_path) as where:
        yield where


@pytest.fixture(params=["memory", "sqlite", "postgres", "lance"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with placed(request.param, tmp_path) as where:
        # A vacuum waits so long for readers of SQLite's log, which these tests keep open.
        yield opened(where, patience_s=0.1 if request.param == "sqlite" else 5.0)


@pytest.fixture
def child() -> Iterator[Child]:
    """Start Python code in another process, with these tests' modules; it is gone afterwards."""
    running = []

    def start(code: str, *arguments: object) -> subprocess.Popen[str]:
        process = started([sys.executable, "-c", code, *arguments], Path(__file__).parent)
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()
