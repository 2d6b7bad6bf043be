"""The next file is read while one is encoded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import milepost
from milepost.errors import UnreadableFile
from milepost.intake import Step, file_signature
from milepost.reading_ahead import ReadingAhead, ToRead
from milepost.testing import fake_encoder
from milepost.types import READ_DEFAULTS


def _file(number: int, path: Path) -> ToRead:
    return number, path, READ_DEFAULTS, file_signature(path)


def _files(folder: Path, texts: list[str]) -> list[ToRead]:
    made = []
    for number, text in enumerate(texts, 1):
        path = folder / f"{number}.txt"
        path.write_text(text, encoding="utf-8")
        made.append(_file(number, path))
    return made


def test_the_next_file_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    one, two = _files(tmp_path, ["Bees dance.", "Owls see."])
    begun = threading.Event()

    def coming() -> Iterator[ToRead]:
        yield one
        yield two
        begun.set()  # the last one was taken and read

    with ReadingAhead(coming()) as ahead:
        assert ahead.read(one).text == "Bees dance."
        ahead._pool.shutdown(wait=True)
        two[1].unlink()
        assert ahead.read(two).text == "Owls see."
    assert begun.is_set()


def test_a_file_that_has_changed_meanwhile_is_read_again(tmp_path: Path) -> None:
    one, two = _files(tmp_path, ["Bees dance.", "Owls see."])
    with ReadingAhead([one, two]) as ahead:
        ahead.read(one)
        two[1].write_text("Owls hear well.", encoding="utf-8")
        assert ahead.read(_file(2, two[1])).text == "Owls hear well."


def test_errors_come_when_their_file_is_asked_for(tmp_path: Path) -> None:
    one, two, three = _files(tmp_path, ["Bees dance.", "", "Owls see."])
    two[1].write_bytes(b"\x00\x01\x02\xff" * 99)
    with ReadingAhead([one, two, three]) as ahead:
        assert ahead.read(one).text == "Bees dance."
        with pytest.raises(UnreadableFile):
            ahead.read(two)
        assert ahead.read(three).text == "Owls see."


def test_an_index_reads_while_it_encodes(tmp_path: Path) -> None:
    _files(tmp_path, [f"Document {number} is about bees." for number in range(1, 6)])
    steps: list[Step] = []
    with milepost.open(model=fake_encoder()) as index:
        first = index.add(tmp_path, progress=steps.append)
        assert len(first.added) == 5
        assert [index.document(name).text for name in first.added] == [
            f"Document {number} is about bees." for number in range(1, 6)
        ]
        (tmp_path / "3.txt").write_text("Owls hear well.", encoding="utf-8")
        again = index.add(tmp_path)
        assert (len(again.changed), len(again.unchanged)) == (1, 4)
