"""The class that clusters run: batches of files in, rows and an index out."""

from __future__ import annotations

from pathlib import Path

import pytest

import milepost
from milepost.bulk import IndexFiles
from milepost.bulk.worker import COLUMNS

LIGHT = "landmark-light"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.txt").write_text("Bees make wax. They fly.", encoding="utf-8")
    (folder / "b.txt").write_text("Ships sail the sea.", encoding="utf-8")
    (folder / "c.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    return [str(path) for path in sorted(folder.iterdir())]


def test_a_batch_is_indexed_and_again_is_unchanged(files: list[str], tmp_path: Path) -> None:
    worker = IndexFiles(str(tmp_path / "db"), LIGHT)
    first = worker({"path": files})
    assert tuple(first) == COLUMNS
    assert first["outcome"] == ["added", "added", "failed"]
    assert first["sentences"] == [2, 1, 0]
    assert "c.pdf" in first["reason"][2]
    Path(files[0]).write_text("Bees make honey.", encoding="utf-8")
    assert worker({"path": files})["outcome"] == ["changed", "unchanged", "failed"]
    worker.close()
    with milepost.open(tmp_path / "db", model=LIGHT) as index:
        assert [info.name for info in index.documents()] == [files[1], files[0]]
        assert index.search("honey")[0].text == "Bees make honey."


def test_a_file_that_is_gone_is_a_row(tmp_path: Path) -> None:
    worker = IndexFiles(str(tmp_path / "db"), LIGHT)
    rows = worker({"path": [str(tmp_path / "gone.txt")]})
    worker.close()
    assert rows["outcome"] == ["failed"]
    assert "gone.txt" in rows["reason"][0]
