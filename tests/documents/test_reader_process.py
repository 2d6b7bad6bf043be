"""Boxes of a stored document: in its file, or in the index where its text was recognised."""

from dataclasses import replace
from pathlib import Path

import pytest

import milepost
from milepost.documents import reader_process
from milepost.documents.isolated import Isolated
from milepost.errors import InputError
from milepost.server.documents import Indexer, Library
from milepost.testing import fake_index
from milepost.types import READ_DEFAULTS, Document, ReadOptions
from support.page_documents import ACROSS, harbour
from support.pdf_writer import PdfPage, write_pdf
from support.scan_writer import needs_ocr, scan


def test_a_span_over_two_pages_has_boxes_on_both(tmp_path: Path) -> None:
    path = tmp_path / "harbour.pdf"
    path.write_bytes(harbour())
    read = milepost.read(path)
    start, end = read.text.index(ACROSS[0]), read.text.index(ACROSS[1]) + len(ACROSS[1])
    document = reader_process.read_plain(path, READ_DEFAULTS)
    assert document.locator is None
    place = reader_process.place(path, document, READ_DEFAULTS, start, end)
    assert [box.page for box in place.boxes] == [1, 2]
    for found, wanted in zip(place.boxes, read.boxes(start, end), strict=True):
        edges = [(box.left, box.top, box.right, box.bottom) for box in (found, wanted)]
        assert edges[0] == pytest.approx(edges[1], abs=0.1)
    assert place.sizes == {1: (612.0, 792.0), 2: (612.0, 792.0)}
    path.write_bytes(harbour() + b"\n% changed")
    with pytest.raises(InputError, match="changed"):
        reader_process.place(path, document, READ_DEFAULTS, start, end)
    with pytest.raises(InputError, match="is not a PDF"):
        reader_process.place(path, replace(document, source=None), READ_DEFAULTS, start, end)


def test_what_versions_before_kept_of_printed_lines_is_swept(tmp_path: Path) -> None:
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "0.npz").write_bytes(b"of a document")
    Library(fake_index({}), tmp_path / "uploads").sweep()
    assert not (tmp_path / "lines").exists()


def test_a_server_recognises_and_keeps_boxes(tmp_path: Path) -> None:
    needs_ocr()
    page = PdfPage()
    page.text(72, 700, "Badgers dig deep setts under the oak.", size=14)
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    path = uploads / "scan.pdf"
    path.write_bytes(scan(write_pdf([page])))
    reader = Isolated()

    def read(path: Path, options: ReadOptions) -> Document:
        return reader.call_within(60, reader_process.read_plain, path, options)

    with milepost.open() as index:
        indexer = Indexer(index, read, end=reader.close, ocr="auto")
        library = Library(index, uploads, pictures=True)
        indexer.start()
        try:
            indexer.add([uploads])
            assert indexer.join(60)
            assert indexer.progress().failed == ()
            (info,) = library.index.documents()
            assert info.options == "ocr=auto"
            document = replace(index.document(info.name), locator=None)
            place = reader_process.place(path, document, ReadOptions.parse(info.options), 0, 7)
        finally:
            indexer.stop()
    (box,) = place.boxes
    assert (box.page, round(box.left / 10), round(box.top / 10)) == (1, 7, 8)
    assert place.sizes == {1: (612.0, 792.0)}
