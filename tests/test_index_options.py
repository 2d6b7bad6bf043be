"""How an index remembers the way in which its files were read."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import milepost
from milepost.errors import InputError
from milepost.index import Index
from milepost.types import ReadOptions
from support.pdf_writer import PdfPage, write_pdf
from support.small_index import BEES, MODEL


@pytest.fixture(params=["memory", "folder"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    folder = tmp_path / "db" if request.param == "folder" else None
    with milepost.open(folder, model=MODEL) as opened:
        yield opened


@pytest.fixture
def fees(tmp_path: Path) -> Path:
    """A PDF with a line that is seen under one that is not, and a text beside it."""
    page = PdfPage()
    page.operations.append("BT 3 Tr /F1 10 Tf 1 0 0 1 72 720 Tm (Badgers dig setts.) Tj ET")
    page.operations.append("BT 0 Tr /F1 10 Tf 1 0 0 1 72 700 Tm (The fee is five euros.) Tj ET")
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "fees.pdf").write_bytes(write_pdf([page]))
    (folder / "bees.txt").write_text(BEES, encoding="utf-8")
    return folder


def text(index: Index, folder: Path) -> str:
    return index.document(folder / "fees.pdf").text


def test_another_way_of_reading_is_no_unchanged_file(index: Index, fees: Path) -> None:
    first = index.add(fees)
    assert (len(first.added), len(first.notes)) == (2, 1)
    assert "Badgers" not in text(index, fees)
    second = index.add(fees, hidden="keep")
    assert second.changed == (str(fees / "fees.pdf"),)
    assert second.unchanged == (str(fees / "bees.txt"),)
    assert "Badgers" in text(index, fees)
    assert {info.options for info in index.documents()} == {"hidden=keep"}
    third = index.add(fees, hidden="drop")
    assert third.changed == (str(fees / "fees.pdf"),)
    assert "Badgers" not in text(index, fees)


def test_without_an_option_a_file_is_read_as_before(index: Index, fees: Path) -> None:
    index.add(fees, hidden="keep")
    assert len(index.add(fees).unchanged) == 2
    os.utime(fees / "fees.pdf", ns=(1, 10**18))
    assert len(index.add(fees).unchanged) == 2
    assert "Badgers" in text(index, fees)
    (fees / "more.pdf").write_bytes((fees / "fees.pdf").read_bytes())
    index.add(fees)
    assert "Badgers" not in index.document(fees / "more.pdf").text


def test_boxes_of_a_stored_document_are_those_of_its_text(index: Index, fees: Path) -> None:
    """The file is read again in the way in which it was indexed, or every box would be off."""
    tops = []
    for hidden in ("drop", "keep"):
        index.add(fees, hidden=hidden)
        document = index.document(fees / "fees.pdf")
        at = document.text.index("five")
        (box,) = document.boxes(at, at + 4)
        tops.append(box.top)
    assert tops[0] == tops[1]


def test_a_wrong_word_is_refused_before_anything_is_read(index: Index, fees: Path) -> None:
    with pytest.raises(InputError, match="hidden is 'show'"):
        index.add(fees, hidden="show")  # type: ignore[arg-type]
    assert index.documents() == []


def test_options_are_written_and_read_back() -> None:
    assert str(ReadOptions()) == ""
    kept = ReadOptions(hidden="keep")
    assert ReadOptions.parse(str(kept)) == kept
    assert ReadOptions.parse("hidden=keep colour=blue") == kept
    assert kept.changed(hidden=None) == kept
    assert kept.changed(hidden="drop") == ReadOptions()
