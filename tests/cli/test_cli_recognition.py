"""``--ocr`` of ``check``, ``annotate`` and ``mcp``: what is on a scanned page is found there."""

import json
from pathlib import Path

import pytest

import milepost
from support.pdf_writer import pdf_of
from support.scan_writer import joined, needs_ocr, scan

LINES = ["The harbour master counts every ship.", "Badgers dig deep setts under the old oak."]
LIGHT = ["--model", "landmark-light"]
PRINTED = "Gold melts at 1064 degrees and never rusts."


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    path = tmp_path / "mixed.pdf"
    scanned, printed = (pdf_of(lines, size=14, step=40) for lines in (LINES, [PRINTED]))
    path.write_bytes(joined(scan(scanned, dpi=100), printed))
    return path


def test_scanned_pages_are_checked_and_marked(cli, pdf):
    needs_ocr()
    asked = "check", pdf, LINES[1], "--json", *LIGHT
    result = cli(*asked, "--min-score", 1)
    assert (result.exit_code, json.loads(result.stdout)["verdict"]) == (1, "not found")
    result = cli(*asked, "--ocr", "auto")
    (place,) = json.loads(result.stdout)["places"]
    assert (result.exit_code, place["page"]) == (0, 1)

    result = cli(
        "annotate", pdf, "What do badgers dig?", "--min-score", 0, "-k", 1, "--ocr", "auto", *LIGHT
    )
    assert result.exit_code == 0, result.stderr
    assert "page 1 has text recognised from a picture" in result.stderr
    with_text = milepost.read(pdf, ocr="never")
    printed = with_text.text.index(PRINTED)
    (true,) = with_text.boxes(printed, printed + len(PRINTED))
    (number, left, top, right, bottom) = highlight(pdf.with_name("mixed.marked.pdf"))
    # The second line of the first page is 40 points below the first; print and scan are alike.
    assert number == 1
    assert left == pytest.approx(true.left, abs=9)
    assert top == pytest.approx(true.top + 40, abs=9)
    assert bottom == pytest.approx(true.bottom + 40, abs=9)
    assert 200 < right - left < 350


def highlight(path: Path) -> tuple[float, ...]:
    import pypdfium2
    import pypdfium2.raw as pdfium

    found = []
    with pypdfium2.PdfDocument(path) as document:
        for number, sheet in enumerate(document, 1):
            for at in range(pdfium.FPDFPage_GetAnnotCount(sheet)):
                annotation = pdfium.FPDFPage_GetAnnot(sheet, at)
                box = pdfium.FS_RECTF()
                pdfium.FPDFAnnot_GetRect(annotation, box)
                pdfium.FPDFPage_CloseAnnot(annotation)
                height = sheet.get_height()
                found.append((number, box.left, height - box.top, box.right, height - box.bottom))
            sheet.close()
    (one,) = found
    return one


def test_pages_that_were_not_recognised_are_named(cli, pdf):
    result = cli("annotate", pdf, "What never rusts?", "--min-score", 0, *LIGHT)
    assert result.exit_code == 0
    assert "page 1 has hardly any text (scanned?); --ocr auto takes about 6 s" in result.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("check", "gold never rusts", "--db", "x"),
        ("annotate", "x.pdf", "why?", "--db", "x"),
        ("mcp", "run", "--db", "x"),
        ("mcp", "install", "cursor", "--db", "x"),
    ],
)
def test_an_index_was_read_already(refusal, args):
    said = refusal(*args, "--ocr", "auto")
    assert "--ocr is for" in said
    assert "milepost index" in said
