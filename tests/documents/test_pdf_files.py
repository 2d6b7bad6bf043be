"""The PDF reader on the real files of the shared data, with the questions of their README."""

import hashlib
import re

import pytest

from milepost.documents import read
from milepost.documents.readers.pdf.glyphs import PDFIUM
from milepost.documents.readers.pdf.read import read_pdf
from milepost.errors import UnreadableFile
from milepost.types import Document
from support.pdf_writer import check_document
from support.real_files import FILES, QUESTIONS, squeezed


def _find(document: Document, sentence: str) -> tuple[int, int]:
    """Where the sentence stands, white space and hyphens left out of account."""
    start = document.text.find(sentence)
    if start >= 0:
        return start, start + len(sentence)
    places = [match.start() for match in re.finditer(r"[^\s\-\u00ad\u2010\u2011]", document.text)]
    at = squeezed(document.text).find(squeezed(sentence))
    assert at >= 0, f"not found: {sentence}"
    return places[at], places[at + len(squeezed(sentence)) - 1] + 1


_read: dict[str, Document] = {}


def _real(name: str) -> Document:
    path = FILES / name
    if not path.is_file():
        pytest.skip(f"needs {path}")
    if name not in _read:
        _read[name] = read(path)
    return _read[name]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "sentence", "page"),
    [(name, said, int(page.split()[0])) for name, said, page in QUESTIONS if ".pdf" in name],
)
def test_each_question_finds_its_sentence_in_its_boxes(name: str, sentence: str, page: int) -> None:
    """The characters whose middle lies in the boxes spell the sentence, by pdfium's own word."""
    import pypdfium2

    document = _real(name)
    start, end = _find(document, sentence)
    assert document.text[start:end] == sentence
    assert document.page(start) == page
    assert document.hash == hashlib.sha256((FILES / name).read_bytes()).hexdigest()
    check_document(document)
    boxes = document.boxes(start, end)
    assert {box.page for box in boxes} == {page}
    with PDFIUM, pypdfium2.PdfDocument(FILES / name) as pdf:
        inside = _characters_in(pdf, boxes)
    want = squeezed(sentence)
    assert sorted(inside) == sorted(want)  # on turned pages pdfium has its own order


def _characters_in(pdf: object, boxes: list) -> str:
    """Characters inside the boxes, counted in displayed points by this test's own arithmetic."""
    found = []
    page = pdf[boxes[0].page - 1]
    text = page.get_textpage()
    left, bottom, right, top = page.get_bbox()
    turn = page.get_rotation()
    displayed = []
    for k in range(text.count_chars()):
        x0, y0, x1, y1 = text.get_charbox(k)
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        displayed.append(
            {
                0: (x - left, top - y),
                90: (y - bottom, x - left),
                180: (right - x, y - bottom),
                270: (top - y, right - x),
            }[turn]
        )
    for box in boxes:
        for k, shown in enumerate(displayed):
            if box.left <= shown[0] <= box.right and box.top <= shown[1] <= box.bottom:
                found.append(text.get_text_range(k, 1))
    text.close()
    page.close()
    joined = "".join(found).replace("\ufffe", "").replace("\x02", "")
    return squeezed(joined.replace("ﬁ", "fi").replace("ﬂ", "fl"))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "words", "count"),
    [
        # Columns with footnotes are read in order.
        ("three-column-footnotes", "disagree alert, and altitude disagree alert,[5] and may", 1),
        # Running heads and page numbers are gone.
        ("three-column-footnotes", "VerDate", 0),
        ("three-column-footnotes", "DSKJLSW7X2PROD", 0),
        ("paper-two-column", "SECURE DECENTRALISED GENERALISED TRANSACTION LEDGER", 1),
        ("long-many-bookmarks", "Application Security Verification Standard May 2025", 0),
        # A table is read row by row.
        (
            "rotated-table",
            "\nAlabama 18,870 23,022 22,650 859 1,178 0 14 15 0 2,179 2,307 11 0 0 0 13 14 0 3 2 0 "
            "71,137\n",
            1,
        ),
        # Ligatures, hyphens, scripts without spaces, letters that are drawn one by one.
        ("latex-book-german", "Qualitätssteigerung am Skript", 1),
        ("paper-two-column", "total difficulty in the case of the Paris update", 1),
        ("chinese", "可以通过工具自动检查", 1),
        ("slides", "V3.1 Web Frontend Security Documentation", 1),
    ],
)
def test_what_is_read_of_real_files(name: str, words: str, count: int) -> None:
    assert min(_real(f"pdf-{name}.pdf").text.count(words), 2) == count


@pytest.mark.shared
def test_bookmarks_become_headings() -> None:
    """Nearly all 223 bookmarks are found where their words stand, in levels 1 to 3."""
    document = _real("pdf-long-many-bookmarks.pdf")
    heads = [mark for mark in document.marks if mark.kind == "heading"]
    assert len(heads) >= 215
    assert {mark.level for mark in heads} == {1, 2, 3}
    for mark in heads:
        words = squeezed(mark.value)
        assert squeezed(document.text[mark.offset : mark.offset + 400]).startswith(words)


@pytest.mark.shared
def test_bad_files_are_named_with_their_reason() -> None:
    if not FILES.is_dir():
        pytest.skip(f"needs {FILES}")
    reasons = {
        "pdf-zero-bytes.pdf": "empty",
        "pdf-password.pdf": "password",
        "pdf-truncated.pdf": "truncated",
        "pdf-scan-no-text.pdf": "scanned",
    }
    for name, reason in reasons.items():
        with pytest.raises(UnreadableFile, match=reason) as caught:
            read_pdf((FILES / name).read_bytes(), name, None)
        assert caught.value.problem.startswith(name)
        assert caught.value.hint


@pytest.mark.shared
def test_pages_without_text_are_noted() -> None:
    note = _real("pdf-report-single-column.pdf").notes[0]
    assert note.startswith("pages 1, 46 have hardly any text (scanned?); --ocr auto takes about")
    assert _real("pdf-truncated-recoverable.pdf").notes[0].startswith("pages 9-23")
