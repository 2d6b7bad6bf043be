"""Following files: what changes while nobody looks is found."""

import shutil
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

import milepost
from milepost.errors import MilepostError
from milepost.server.documents.watching import Watch
from milepost.types import IndexReport
from support.files import write_files

pytest.importorskip("watchfiles", reason="needs the extra watch")


def _next(updates: Generator[IndexReport | MilepostError, None, None]) -> IndexReport:
    """The next report, waited for in a thread so that a missed change fails and does not hang."""
    reports: list[IndexReport | MilepostError] = []
    thread = threading.Thread(target=lambda: reports.append(next(updates)), daemon=True)
    thread.start()
    thread.join(30)
    assert reports, "the change was missed"
    assert isinstance(reports[0], IndexReport)
    return reports[0]


def test_changes_between_two_looks_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with milepost.open(None, model="landmark-light") as index:
        updates = Watch(index, [folder], tmp_path / "db").updates(index.add([folder]))
        (folder / "early.txt").write_text("Moles are nearly blind.\n", encoding="utf-8")
        assert _next(updates).added == (str(folder / "early.txt"),)
        shutil.rmtree(folder)
        while str(folder) not in _next(updates).failed:
            pass  # the file went first
        # The generator stands still here: only a look after it follows the folder finds the file.
        folder.mkdir()
        (folder / "late.txt").write_text("Frogs croak at night.\n", encoding="utf-8")
        while str(folder / "late.txt") not in _next(updates).added:
            pass  # that the old file is gone is a report of its own
        updates.close()


def test_a_sidecar_that_is_corrected_is_read_again(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "folder", {"note.txt": "Moles are nearly blind.\n"})
    beside = folder / "note.txt.meta.json"
    with milepost.open(None, model="landmark-light") as index:
        updates = Watch(index, [folder], tmp_path / "db").updates(index.add([folder]))
        beside.write_text("{", encoding="utf-8")
        assert "is not JSON" in _next(updates).notes[str(folder / "note.txt")][0]
        beside.write_text('{"project": "hive"}', encoding="utf-8")
        report = _next(updates)
        assert (report.changed, report.sentences) == ((str(folder / "note.txt"),), 0)
        assert index.documents()[0].properties == {"project": "hive"}
        updates.close()
