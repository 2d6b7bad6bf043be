"""Three notes in a folder, and an empty index: one in memory, one in a folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import milepost
from support.small_index import MODEL, write_notes


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes")


@pytest.fixture(params=["memory", "folder"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[milepost.Index]:
    folder = tmp_path / "db" if request.param == "folder" else None
    with milepost.open(folder, model=MODEL) as opened:
        yield opened
