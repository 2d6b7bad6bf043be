"""A server's reader recognises text in its own process; boxes come from the index afterwards."""

from dataclasses import replace
from pathlib import Path

import milepost
from milepost.library import reading
from milepost.library.documents import Library
from milepost.library.indexing import Indexer
from milepost.library.isolated import Isolated
from milepost.types import Document, ReadOptions
from support.pdf_writer import PdfPage, write_pdf
from support.scan_writer import needs_ocr, scan


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
        return reader.call_within(60, reading.read_plain, path, options)

    with milepost.open() as index:
        indexer = Indexer(index, read, end=reader.close, ocr="auto")
        library = Library(index, uploads, pictures=True)
        indexer.start()
        try:
            indexer.add([uploads])
            assert indexer.join(60)
            assert indexer.progress().failed == ()
            (info,) = library.infos()
            assert info.options == "ocr=auto"
            document = replace(index.document(info.name), locator=None)
            place = reading.place(path, document, ReadOptions.parse(info.options), 0, 7)
        finally:
            indexer.stop()
    (box,) = place.boxes
    assert (box.page, round(box.left / 10), round(box.top / 10)) == (1, 7, 8)
    assert place.sizes == {1: (612.0, 792.0)}
