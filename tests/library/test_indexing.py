"""The thread that adds files: order, failures, an end in the middle."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import milepost
from milepost.library import Indexer
from milepost.text import read_file


@pytest.fixture
def index():
    with milepost.open(None, model="landmark-light") as opened:
        yield opened


def test_everything_given_is_indexed(index, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(f"Note {number} is here.", encoding="utf-8")
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4")
    indexer = Indexer(index, read_file)
    indexer.add([tmp_path])
    assert indexer.progress().waiting == 1
    indexer.start()
    assert indexer.join(60)
    progress = indexer.progress()
    assert (progress.indexed, progress.idle) == (3, True)
    assert [Path(name).name for name, _ in progress.failed] == ["bad.pdf"]
    indexer.stop()


def test_an_end_in_the_middle_keeps_what_was_stored(index, tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("One is whole.", encoding="utf-8")
    second.write_text("Two is long. " * 2000, encoding="utf-8")
    reached, go = threading.Event(), threading.Event()

    def between(*_: object) -> None:
        progress = indexer.progress()
        if progress.step is not None and progress.step.name == str(second) and progress.step.done:
            reached.set()
            assert go.wait(60)

    indexer = Indexer(index, read_file, between)
    indexer.add([first, second])
    indexer.start()
    assert reached.wait(60)
    ending = threading.Thread(target=indexer.stop)
    ending.start()
    go.set()
    ending.join(60)
    assert not ending.is_alive()
    assert [info.name for info in index.documents()] in ([str(first)], [str(first), str(second)])
    assert index.document(str(first)).text == "One is whole."
