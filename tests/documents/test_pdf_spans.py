"""Boxes of a stored document, from its pages alone: those that reading the whole file gives."""

import random
from pathlib import Path

import pytest

import milepost
from milepost.documents import again
from milepost.documents.readers.pdf.boxes import boxes_of_span, page_sizes
from milepost.documents.readers.pdf.read import read_pdf
from milepost.errors import InputError, UnreadableFile
from milepost.index import Index
from milepost.testing import fake_index
from milepost.types import Box, Document
from support.pdf_writer import PdfPage, with_stream_table, write_pdf

REAL = ["pdf-table-prices.pdf", "pdf-rotated-pages.pdf", "pdf-form-tax.pdf"]


def rounded(boxes: list[Box]) -> list[tuple[float, ...]]:
    return sorted(
        (box.page, *(round(side, 1) for side in (box.left, box.top, box.right, box.bottom)))
        for box in boxes
    )


def same(data: bytes, document: Document, start: int, end: int) -> bool:
    """Whether the pages alone give the boxes that the whole file gives."""
    found = boxes_of_span(data, "x", document.text, document.marks, (start, end))
    return found is not None and rounded(found) == rounded(document.boxes(start, end))


def book(pages: int = 4, **options: object) -> bytes:
    """Pages with running heads, page numbers and hyphens at the ends of lines and pages."""
    made = []
    for number, kind in enumerate(["quick red", "sly grey", "shy white", "big-eared"][:pages]):
        page = PdfPage(**options)
        page.text(72, 760, f"The book of foxes, part {number}", 8)
        page.lines(
            72,
            700,
            [
                f"The {kind} fox jumps over a lazy dog, and a hedge-",
                "hog looks on; nobody sees it pass. A self-",
                "made man - of course - writes about an astonish-",
            ],
        )
        page.text(300, 30, str(number + 1), 8)
        page.text(72, 664, f"ing animal, the {kind} one, that lives in burrows or a leaf-")
        made.append(page)
    return write_pdf(made)


def test_every_span_of_a_small_file() -> None:
    data = book()
    document = read_pdf(data, "book.pdf", None)
    assert "hedgehog" in document.text
    length = len(document.text)
    for start in range(0, length - 1, 53):
        for end in (start + 1, start + 25, length):
            part = document.text[start:end]
            if any(map(str.isalnum, part)):
                assert same(data, document, start, min(end, length)), part
    dash = document.text.index(" - ") + 1
    assert boxes_of_span(data, "x", document.text, document.marks, (dash, dash + 1)) is None
    assert boxes_of_span(data, "x", document.text, document.marks, (dash - 1, dash)) == []


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (50, 20, 560, 780)])
def test_turned_and_cropped_pages(rotate: int, crop: tuple[int, ...] | None) -> None:
    data = book(2, rotate=rotate, crop=crop)
    document = read_pdf(data, "book.pdf", None)
    assert same(data, document, 0, len(document.text))
    wide, high = (612, 792) if crop is None else (crop[2] - crop[0], crop[3] - crop[1])
    sizes = page_sizes(data, "book.pdf", [2, 1, 2])
    assert sizes == dict.fromkeys((2, 1), (high, wide) if rotate in (90, 270) else (wide, high))
    for box in document.boxes(0, len(document.text)):
        assert 0 <= box.left < box.right <= sizes[box.page][0]
        assert 0 <= box.top < box.bottom <= sizes[box.page][1]


@pytest.mark.shared
@pytest.mark.parametrize("name", REAL)
def test_real_files(shared_data: Path, name: str) -> None:
    data = (shared_data / "files" / name).read_bytes()
    document, choice = read_pdf(data, name, None), random.Random(1)
    for _ in range(2):
        start = choice.randrange(len(document.text))
        assert same(data, document, start, min(len(document.text), start + 200))


def test_a_text_that_is_not_that_of_the_page_has_none() -> None:
    """Where lines do not fit the text nothing is guessed."""
    data = book(1)
    document = read_pdf(data, "book.pdf", None)
    other = document.text.replace("lazy", "busy")
    at = other.index("busy")
    assert boxes_of_span(data, "x", other, document.marks, (at, at + 4)) is None
    at = other.index("burrows")
    found = boxes_of_span(data, "x", other, document.marks, (at, at + 7))
    assert found == document.boxes(at, at + 7)


def test_damaged_files_are_named() -> None:
    document = read_pdf(book(1), "book.pdf", None)
    with pytest.raises(UnreadableFile, match="x is not a PDF"):
        boxes_of_span(b"no", "x", document.text, document.marks, (0, 5))
    with pytest.raises(UnreadableFile, match="damaged"):
        boxes_of_span(book(1)[:300], "x", document.text, document.marks, (0, 5))
    assert page_sizes(with_stream_table(book(1)), "x", [1, 9]) == {1: (612, 792)}


@pytest.fixture
def indexed(tmp_path: Path) -> tuple[Index, Path]:
    path = tmp_path / "book.pdf"
    path.write_bytes(book())
    index = fake_index()
    index.add(path)
    return index, path


def test_stored_documents_read_only_their_pages(indexed, monkeypatch) -> None:
    index, path = indexed
    stored, fresh = index.document(path), milepost.read(path)
    read: list[str] = []
    real = again.read_bytes
    monkeypatch.setattr(again, "read_bytes", lambda *args: read.append(args[1]) or real(*args))
    at = stored.text.index("lazy")
    assert rounded(stored.boxes(at, at + 20)) == rounded(fresh.boxes(at, at + 20))
    assert read == []
    monkeypatch.setattr("milepost.documents.readers.pdf.boxes.boxes_of_span", lambda *_, **__: None)
    for _ in range(3):
        assert rounded(stored.boxes(at, at + 20)) == rounded(fresh.boxes(at, at + 20))
    assert read == [str(path)]


def test_files_that_have_changed_are_refused(indexed) -> None:
    index, path = indexed
    stored = index.document(path)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(InputError, match="has changed since it was indexed"):
        stored.boxes(0, 5)
    path.unlink()
    with pytest.raises(InputError, match="no longer exists"):
        stored.boxes(0, 5)
    path.mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        stored.boxes(0, 5)
