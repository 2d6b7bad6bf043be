"""Marked copies: the original bytes, highlights in the right places, as other viewers see them."""

import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium
import pytest

import milepost
from milepost.errors import BadQuestion, InputError
from milepost.exports import marking
from milepost.exports.marking.highlights import count_highlights
from milepost.exports.marking.update import RESOURCES
from milepost.index import Index
from milepost.testing import fake_index
from support.pdf_writer import PdfPage, pdf_of, with_stream_table, write_pdf

annotate = partial(marking.annotate, min_score=0)  # the fake model gives no probabilities

LINES = [
    "Bees build cells of wax.",
    "Gold melts at 1064 degrees, and it is heavier than lead, says",
    "the old book about metals.",
    "Tugs pull large ships to the quay.",
]


def make(path: Path, *, stream: bool = False, **options: object) -> Path:
    pages = [PdfPage(**options), PdfPage(**options)]
    pages[0].text(72, 700, LINES[0])
    pages[0].lines(72, 660, LINES[1:3])
    pages[1].lines(72, 700, LINES[3:])
    data = write_pdf(pages)
    path.write_bytes(with_stream_table(data) if stream else data)
    return path


def indexed(path: Path) -> Index:
    index = fake_index()
    assert index.add(path).added
    return index


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return make(tmp_path / "metals.pdf")


def pixels(path: Path, number: int = 0) -> np.ndarray:
    """A page as PDFium draws it at 72 dots an inch, ``(height, width, 3)``, with annotations."""
    with pypdfium2.PdfDocument(path) as document:
        return document[number].render(scale=1, may_draw_forms=False).to_numpy()[:, :, ::-1].copy()


def poppler(path: Path, number: int = 1) -> np.ndarray:
    """The same as poppler draws it."""
    if shutil.which("pdftoppm") is None:
        pytest.skip("needs poppler-utils")
    done = subprocess.run(
        ["pdftoppm", "-cropbox", "-r", "72", "-f", str(number), "-l", str(number), str(path)],
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    kind, size, _, data = done.stdout.split(b"\n", 3)
    assert kind == b"P6"
    width, height = map(int, size.split())
    return np.frombuffer(data, np.uint8).reshape(height, width, 3)


def coloured(picture: np.ndarray) -> np.ndarray:
    """Where a page is neither white nor grey nor black."""
    values = picture.astype(int)
    return values.max(axis=2) - values.min(axis=2) > 60


def annotations(path: Path) -> list[dict[str, object]]:
    found = []
    document = pypdfium2.PdfDocument(path)
    for number in range(len(document)):
        page = pdfium.FPDF_LoadPage(document.raw, number)
        for at in range(pdfium.FPDFPage_GetAnnotCount(page)):
            each = pdfium.FPDFPage_GetAnnot(page, at)
            if pdfium.FPDFAnnot_GetSubtype(each) != pdfium.FPDF_ANNOT_HIGHLIGHT:
                continue
            texts = {}
            for key in (b"Contents", b"T", b"M"):
                size = pdfium.FPDFAnnot_GetStringValue(each, key, None, 0)
                buffer = (pdfium.FPDF_WCHAR * (size // 2))()
                pdfium.FPDFAnnot_GetStringValue(each, key, buffer, size)
                texts[key.decode()] = bytes(buffer)[:-2].decode("utf-16-le")
            quads = pdfium.FPDFAnnot_CountAttachmentPoints(each)
            flags = pdfium.FPDFAnnot_GetFlags(each)
            found.append({"page": number + 1, "quads": quads, "flags": flags, **texts})
            pdfium.FPDFPage_CloseAnnot(each)
        pdfium.FPDF_ClosePage(page)
    document.close()
    return found


QUESTION = "which old book says that gold is heavier than lead?"


@pytest.mark.parametrize("stream", [False, True])
def test_a_copy_begins_with_the_original(tmp_path: Path, stream: bool) -> None:
    path, out = make(tmp_path / "a.pdf", stream=stream), tmp_path / "out.pdf"
    marked = annotate(indexed(path), path, QUESTION, out, k=1)
    assert marked.path == out
    data, made = path.read_bytes(), out.read_bytes()
    assert made.startswith(data)
    added = made[len(data) :]
    assert (b"/Type/XRef" in added) == stream
    assert (b"\ntrailer" in added) == (not stream)
    assert b"/Prev" in added
    assert re.findall(rb"(\d+) 0 obj", added)
    assert b"/BaseFont" not in added
    assert count_highlights(made, "out") == marked.highlights == 1
    with pypdfium2.PdfDocument(out) as document:
        assert len(document) == 2
    if shutil.which("qpdf"):
        done = subprocess.run(["qpdf", "--check", str(out)], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")


def test_what_a_highlight_says(pdf: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pdf"
    index = indexed(pdf)
    asked = ["gold heavier than lead, says “the old book” 金?", "which ships\ndo tugs pull"]
    marked = annotate(index, pdf, asked, out, k=1)
    first, second = annotations(out)
    score = marked.passages[asked[0]][0].score
    assert first["Contents"].startswith(f"{asked[0]}\n")
    assert f"{score:.0%}" in first["Contents"]
    assert second["Contents"].startswith("which ships do tugs pull\n")
    assert (first["page"], first["quads"]) == (1, 2)
    assert (second["page"], second["quads"]) == (2, 1)
    for each in (first, second):
        assert each["flags"] == pdfium.FPDF_ANNOT_FLAG_PRINT
        assert each["T"] == "Milepost"
        assert re.fullmatch(r"D:\d{14}Z", each["M"])
    assert out.read_bytes().count(RESOURCES) == 2


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (50, 200, 560, 780)])
@pytest.mark.parametrize("draw", ["pdfium", "poppler"])
def test_highlights_lie_on_their_words(tmp_path: Path, rotate: int, crop, draw: str) -> None:
    path, out = make(tmp_path / "a.pdf", rotate=rotate, crop=crop), tmp_path / "out.pdf"
    index = indexed(path)
    marked = annotate(index, path, QUESTION, out, k=1)
    (passage,) = marked.passages[QUESTION]
    boxes = index.document(path).boxes(passage.hits[0].start, passage.hits[0].end)
    assert len(boxes) == 2
    picture = pixels(out) if draw == "pdfium" else poppler(out)
    before = pixels(path) if draw == "pdfium" else poppler(path)
    colour = coloured(picture)
    assert not coloured(before).any()
    inside = np.zeros(colour.shape, bool)
    for box in boxes:
        rows = slice(round(box.top), round(box.bottom))
        columns = slice(round(box.left), round(box.right))
        assert colour[rows, columns].mean() > 0.5
        inside[
            max(0, rows.start - 3) : rows.stop + 3, max(0, columns.start - 3) : columns.stop + 3
        ] = True
        part = picture[rows, columns].max(axis=2)
        assert part.min() < 110  # letters, through the colour
    assert not colour[~inside].any()


def test_the_cells_of_a_row_that_answers_are_marked(tmp_path: Path) -> None:
    page, path, out = PdfPage(), tmp_path / "a.pdf", tmp_path / "out.pdf"
    down = [(x, 640, 700) for x in (72, 272, 472)]
    page.rule([(y, 72, 472) for y in (700, 680, 660, 640)], down)
    cells = (("Metal", "Weight"), ("gold", "heavier than lead"), ("tin", "lighter than ships"))
    page.rows(686, (((metal, 76), (weight, 276)) for metal, weight in cells), 20)
    path.write_bytes(write_pdf([page]))
    marked = annotate(indexed(path), path, "gold heavier than lead", out, k=1)
    assert marked.highlights == 1
    colour = coloured(pixels(out))
    assert colour[792 - 674 : 792 - 664, 78:94].mean() > 0.5  # gold
    assert colour[792 - 674 : 792 - 664, 280:340].mean() > 0.5  # heavier than lead
    assert not colour[: 792 - 680].any()
    assert not colour[792 - 656 :].any()


def test_questions_have_their_own_colours(pdf: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pdf"
    asked = ["gold heavier than lead says the book", "tugs pull ships", "tugs pull ships"]
    marked = annotate(indexed(pdf), pdf, asked, out, k=1)
    assert list(marked.passages) == asked[:2]
    colours = [
        pixels(out, number)[coloured(pixels(out, number))].max(axis=0).tolist() for number in (0, 1)
    ]
    assert colours[0][0] > colours[0][1] > colours[0][2]  # yellow
    assert colours[1][1] > colours[1][0]  # green


def test_a_copy_of_a_copy_keeps_both(pdf: Path, tmp_path: Path) -> None:
    once, twice = tmp_path / "once.pdf", tmp_path / "twice.pdf"
    annotate(indexed(pdf), pdf, QUESTION, once, k=1)
    annotate(indexed(once), once, "tugs pull ships", twice, k=1)
    assert twice.read_bytes().startswith(once.read_bytes())
    assert [each["page"] for each in annotations(twice)] == [1, 2]
    again = tmp_path / "again.pdf"
    annotate(indexed(twice), twice, QUESTION, again, k=1)
    assert [each["page"] for each in annotations(again)] == [1, 1, 2]


def test_a_passage_over_two_pages_has_two_highlights(tmp_path: Path) -> None:
    first = ["Gold melts at 1064 degrees and is, as the old"]
    path, out = tmp_path / "a.pdf", tmp_path / "out.pdf"
    path.write_bytes(pdf_of(first, ["book about metals says, heavier than lead."]))
    marked = annotate(indexed(path), path, QUESTION, out, k=1)
    assert marked.highlights == 2
    first, second = annotations(out)
    assert (first["page"], second["page"]) == (1, 2)
    assert first["Contents"] == second["Contents"]


@pytest.mark.shared
def test_encrypted_files_stay_encrypted(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "files" / "pdf-encrypted-opens-without-password.pdf"
    out = tmp_path / "out.pdf"
    index = indexed(path)
    marked = annotate(index, path, "who may circumvent access controls?", out, k=2)
    data, made = path.read_bytes(), out.read_bytes()
    assert made.startswith(data)
    assert b"/Encrypt" in made[len(data) :]
    assert b"circumvent" not in made[len(data) :]
    assert len(annotations(out)) == marked.highlights
    assert all("who may circumvent" in each["Contents"] for each in annotations(out))
    page = annotations(out)[0]["page"]
    assert coloured(pixels(out, page - 1)).any()
    assert coloured(poppler(out, page)).any()


def test_restricted_files_are_refused(pdf: Path, tmp_path: Path) -> None:
    if shutil.which("qpdf") is None:
        pytest.skip("needs qpdf")
    for number, allowed in ((3, "none"), (4, "annotate")):
        path = tmp_path / f"{number}.pdf"
        options = ["--encrypt", "", "owner", "256", f"--modify={allowed}", "--"]
        subprocess.run(["qpdf", *options, str(pdf), str(path)], check=True)
        index, out = indexed(path), tmp_path / f"out{number}.pdf"
        if allowed == "none":
            with pytest.raises(InputError, match="does not allow comments"):
                annotate(index, path, QUESTION, out, k=1)
            assert not out.exists()
        else:
            assert annotate(index, path, QUESTION, out, k=1).highlights == 1
            assert QUESTION in annotations(out)[0]["Contents"]
            assert coloured(poppler(out)).any()


def test_damaged_ends_are_refused(pdf: Path, tmp_path: Path) -> None:
    data = pdf.read_bytes()
    for number, broken in enumerate(
        (data[: data.rindex(b"startxref")], data + b"trailing", b"junk\n" + data)
    ):
        path, out = tmp_path / f"{number}.pdf", tmp_path / "out.pdf"
        path.write_bytes(broken)
        with pytest.raises(InputError, match=r"damaged at its end or beginning.*qpdf"):
            annotate(indexed(path), path, QUESTION, out, k=1)
        assert not out.exists()


def test_files_are_replaced_when_told(pdf: Path, tmp_path: Path) -> None:
    index, data = indexed(pdf), pdf.read_bytes()
    with pytest.raises(InputError, match="is the PDF itself"):
        annotate(index, pdf, QUESTION, pdf)
    link = tmp_path / "link.pdf"
    link.symlink_to(pdf)
    with pytest.raises(InputError, match="is the PDF itself"):
        annotate(index, pdf, QUESTION, link)
    other = tmp_path / "other.pdf"
    other.write_bytes(b"mine")
    with pytest.raises(InputError, match=r"other\.pdf exists"):
        annotate(index, pdf, QUESTION, other)
    with pytest.raises(InputError, match="is a folder"):
        annotate(index, pdf, QUESTION, tmp_path, overwrite=True)
    assert (pdf.read_bytes(), other.read_bytes()) == (data, b"mine")
    annotate(index, pdf, QUESTION, other, overwrite=True)
    assert other.read_bytes().startswith(data)
    assert annotate(index, pdf, QUESTION).path == tmp_path / "metals.marked.pdf"
    annotate(index, pdf, QUESTION, pdf, overwrite=True)
    assert pdf.read_bytes().startswith(data)
    assert len(pdf.read_bytes()) > len(data)
    assert not list(tmp_path.glob("*.part"))


def test_what_cannot_be_marked(pdf: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Gold is heavier than lead.", encoding="utf-8")
    index = indexed(pdf)
    index.add([note, milepost.Document("mine", "Gold is heavy.")])
    for name in (note, "mine"):
        with pytest.raises(InputError, match="is not a PDF file"):
            annotate(index, name, QUESTION)
    with pytest.raises(InputError, match="there is no question"):
        annotate(index, pdf, [])
    with pytest.raises(BadQuestion):
        annotate(index, pdf, "?!")
    pdf.write_bytes(pdf.read_bytes() + b"\n")
    with pytest.raises(InputError, match="has changed since it was read"):
        annotate(index, pdf, QUESTION)


def test_signed_files_get_a_note(tmp_path: Path) -> None:
    page, path = PdfPage(), tmp_path / "metals.pdf"
    page.lines(72, 660, LINES[1:3])
    fields = b"/AcroForm << /SigFlags 3 /Fields [<< /FT /Sig /T (S) /V << /Type /Sig /Filter /F "
    fields += b"/ByteRange [0 1 2 3] /Contents <00> >> >>] >>"
    path.write_bytes(write_pdf([page], catalogue=fields))
    with pypdfium2.PdfDocument(path) as document:
        assert pdfium.FPDF_GetSignatureCount(document.raw) == 1
    marked = annotate(indexed(path), path, QUESTION, tmp_path / "out.pdf", k=1)
    assert marked.notes == (
        "metals.pdf is signed: viewers may show that the copy was changed afterwards",
    )
