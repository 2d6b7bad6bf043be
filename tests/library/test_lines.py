"""The printed lines of PDFs are kept, so that a place is found without reading the file again."""

from pathlib import Path

import pytest

import milepost
from milepost.errors import InputError
from milepost.library import Library, reading
from milepost.testing import fake_encoder
from milepost.types import READ_DEFAULTS, ReadOptions
from support.page_documents import ACROSS, harbour


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_locators", type(reading._locators)())


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    path = tmp_path / "harbour.pdf"
    path.write_bytes(harbour())
    return path


def span(path: Path) -> tuple[str, int, int]:
    document = milepost.read(path)
    start = document.text.index(ACROSS[0])
    return document.hash, start, document.text.index(ACROSS[1]) + len(ACROSS[1])


def test_kept_lines_give_the_boxes_of_the_file(pdf: Path, tmp_path: Path) -> None:
    digest, start, end = span(pdf)
    wanted = reading.place(pdf, digest, READ_DEFAULTS, start, end)
    assert [box.page for box in wanted.boxes] == [1, 2]
    document = reading.read_plain(pdf, READ_DEFAULTS, tmp_path / "lines")
    assert document.locator is None
    assert [path.name for path in (tmp_path / "lines").iterdir()] == [f"{digest}.npz"]
    reading._locators.clear()
    assert reading.place(pdf, digest, READ_DEFAULTS, start, end, tmp_path / "lines") == wanted


def test_the_file_is_not_read_again(
    pdf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest, start, end = span(pdf)
    reading.read_plain(pdf, READ_DEFAULTS, tmp_path / "lines")

    def never(path: Path, options: ReadOptions) -> None:
        raise AssertionError(f"{path} was read again")

    monkeypatch.setattr(reading, "read_file", never)
    assert reading.place(pdf, digest, READ_DEFAULTS, start, end, tmp_path / "lines").boxes


@pytest.mark.parametrize("damage", ["cut", "empty", "other"])
def test_damaged_lines_are_made_again(pdf: Path, tmp_path: Path, damage: str) -> None:
    digest, start, end = span(pdf)
    wanted = reading.place(pdf, digest, READ_DEFAULTS, start, end)
    reading._locators.clear()
    reading.read_plain(pdf, READ_DEFAULTS, tmp_path / "lines")
    kept = tmp_path / "lines" / f"{digest}.npz"
    data = kept.read_bytes()
    kept.write_bytes({"cut": data[: len(data) // 2], "empty": b"", "other": b"x" * 99}[damage])
    assert reading.place(pdf, digest, READ_DEFAULTS, start, end, tmp_path / "lines") == wanted
    assert kept.read_bytes() == data or len(kept.read_bytes()) > 100, "made again"


def test_a_changed_file_is_refused_with_and_without_lines(pdf: Path, tmp_path: Path) -> None:
    digest, start, end = span(pdf)
    reading.read_plain(pdf, READ_DEFAULTS, tmp_path / "lines")
    pdf.write_bytes(harbour() + b"\n% changed")
    for lines in (None, tmp_path / "lines"):
        with pytest.raises(InputError, match="changed"):
            reading.place(pdf, digest, READ_DEFAULTS, start, end, lines)
        reading._locators.clear()


def test_a_folder_that_cannot_be_written_harms_nothing(pdf: Path, tmp_path: Path) -> None:
    digest, start, end = span(pdf)
    (tmp_path / "lines").write_text("a file where the folder should be", encoding="utf-8")
    assert reading.read_plain(pdf, READ_DEFAULTS, tmp_path / "lines").text
    assert reading.place(pdf, digest, READ_DEFAULTS, start, end, tmp_path / "lines").boxes


def test_lines_of_documents_that_are_gone_are_swept(pdf: Path, tmp_path: Path) -> None:
    with milepost.open(tmp_path / "index", model=fake_encoder()) as index:
        library = Library(index, tmp_path / "index" / "uploads")
        index.add([reading.read_plain(pdf, READ_DEFAULTS, library.lines)])
        (library.lines / f"{0:064x}.npz").write_bytes(b"of another document")
        (library.lines / ".part-abc").write_bytes(b"broken off")
        library.sweep()
        assert [path.stem for path in library.lines.iterdir()] == [milepost.read(pdf).hash]
