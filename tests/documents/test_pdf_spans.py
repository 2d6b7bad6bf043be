"""Boxes of spans of a PDF, as it was read and as it is stored."""

import re
from dataclasses import replace
from pathlib import Path

import pypdfium2
import pytest

import milepost
from milepost.documents.readers.pdf.boxes import boxes_of_span, page_sizes
from milepost.documents.readers.pdf.read import read_pdf
from milepost.errors import InputError, UnreadableFile
from milepost.index import Index
from milepost.testing import fake_index
from milepost.types import Box
from support.pdf_writer import PdfPage, one_page, stream_of, with_stream_table, write_pdf


def inside(data: bytes, boxes: list[Box]) -> str:
    """What PDFium finds in boxes of pages that are not turned."""
    found = []
    with pypdfium2.PdfDocument(data) as pdf:
        for box in boxes:
            page = pdf[box.page - 1]
            top, bottom = page.get_height() - box.top, page.get_height() - box.bottom
            text = page.get_textpage().get_text_bounded(
                box.left + 0.2, bottom, box.right - 0.2, top
            )
            found.append(text)
    return "".join(found).strip()


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


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
            assert letters(inside(data, document.boxes(start, min(end, length)))) == letters(part)
    dash = document.text.index(" - ") + 1
    assert inside(data, document.boxes(dash - 1, dash + 1)) == "-"


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (50, 20, 560, 780)])
def test_turned_and_cropped_pages(rotate: int, crop: tuple[int, ...] | None) -> None:
    data = book(2, rotate=rotate, crop=crop)
    document = read_pdf(data, "book.pdf", None)
    wide, high = (612, 792) if crop is None else (crop[2] - crop[0], crop[3] - crop[1])
    sizes = page_sizes(data, "book.pdf", [2, 1, 2])
    assert sizes == dict.fromkeys((2, 1), (high, wide) if rotate in (90, 270) else (wide, high))
    for box in document.boxes(0, len(document.text)):
        assert 0 <= box.left < box.right <= sizes[box.page][0]
        assert 0 <= box.top < box.bottom <= sizes[box.page][1]


def test_a_text_that_is_not_that_of_the_page_has_none() -> None:
    """Where lines do not fit the text nothing is guessed."""
    data = book(1)
    document = read_pdf(data, "book.pdf", None)
    other = document.text.replace("lazy", "busy")
    other = replace(document, text=other)
    at = other.text.index("busy")
    assert boxes_of_span(other, data, False, at, at + 4) == []
    at = other.text.index("burrows")
    assert boxes_of_span(other, data, False, at, at + 7) == document.boxes(at, at + 7)


def test_letters_larger_than_their_font_says() -> None:
    """Those of a font of pictures (Type 3) may have any size and height."""
    font = (
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 30]/FontMatrix[1 0 0 1 0 0]/FirstChar 97"
        b"/LastChar 98/Widths[10 10]/Encoding<</Differences[97/a/b]>>"
        b"/CharProcs<</a 6 0 R/b 7 0 R>>>>"
    )
    drawn = (b"10 0 0 0 9 %d d1 0 0 9 %d re f" % (high, high) for high in (10, 30))
    data = one_page(b"BT /F1 1 Tf 72 700 Td (abab) Tj ET", font, *map(stream_of, drawn))
    document = read_pdf(data, "a.pdf", None)
    (box,) = document.boxes(0, len(document.text))
    assert box.bottom - box.top == pytest.approx(30, abs=1)


def test_damaged_files_are_named() -> None:
    document = read_pdf(book(1), "book.pdf", None)
    with pytest.raises(UnreadableFile, match=r"book\.pdf is not a PDF"):
        boxes_of_span(document, b"no", False, 0, 5)
    with pytest.raises(UnreadableFile, match="damaged"):
        boxes_of_span(document, book(1)[:300], False, 0, 5)
    assert page_sizes(with_stream_table(book(1)), "x", [1, 9]) == {1: (612, 792)}


@pytest.fixture
def indexed(tmp_path: Path) -> tuple[Index, Path]:
    path = tmp_path / "book.pdf"
    path.write_bytes(book())
    index = fake_index()
    index.add(path)
    return index, path


def test_stored_documents_have_the_same_boxes(indexed) -> None:
    index, path = indexed
    stored, fresh = index.document(path), milepost.read(path)
    at = stored.text.index("lazy")
    assert stored.boxes(at, at + 20) == fresh.boxes(at, at + 20) != []


def test_files_that_have_changed_are_refused(indexed) -> None:
    index, path = indexed
    stored = index.document(path)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(InputError, match="has changed since it was read"):
        stored.boxes(0, 5)
    path.unlink()
    with pytest.raises(InputError, match="no longer exists"):
        stored.boxes(0, 5)
    path.mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        stored.boxes(0, 5)
