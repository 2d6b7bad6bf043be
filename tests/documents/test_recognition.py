"""Text recognition: scanned pages among others, pictures, boxes, and what is said without it."""

from difflib import SequenceMatcher
from io import BytesIO
from pathlib import Path

import pytest

import milepost
from milepost.documents.readers.pdf.read import read_pdf
from milepost.errors import UnreadableFile
from milepost.types import Box, Document, ReadOptions
from support.pdf_writer import PdfPage, check_document, pdf_of, write_pdf
from support.scan_writer import drawn, joined, needs_ocr, scan

LINES = ["The harbour master counts every ship.", "Badgers dig deep setts under the old oak tree."]


def _page(*lines: str) -> bytes:
    return pdf_of(list(lines), size=14, step=20)


def _near(found: Box, true: Box, points: float) -> bool:
    pairs = zip(
        (found.left, found.top, found.right, found.bottom),
        (true.left, true.top, true.right, true.bottom),
        strict=True,
    )
    return found.page == true.page and all(abs(a - b) <= points for a, b in pairs)


@pytest.mark.shared
def test_a_scanned_page_of_a_real_report_has_its_text(shared_data: Path) -> None:
    needs_ocr()
    data = (shared_data / "files" / "pdf-report-single-column.pdf").read_bytes()
    plain = read_pdf(joined(data, pages=[21]), "report.pdf", None)
    done: list[tuple[int, int]] = []
    found = read_pdf(
        scan(data, [22]), "scan.pdf", None, ReadOptions(ocr="auto"), lambda *page: done.append(page)
    )
    check_document(found)
    assert done == [(0, 1)]
    assert found.notes == ("page 1 has text recognised from a picture",)
    texts = (" ".join(each.text.split()) for each in (plain, found))
    matcher = SequenceMatcher(None, *texts, autojunk=False)
    assert matcher.ratio() > 0.97


def test_only_pages_without_text_are_recognised_and_boxes_are_kept(tmp_path: Path) -> None:
    needs_ocr()
    printed = "Gold melts at 1064 degrees and never rusts."
    original = joined(_page(*LINES), _page(printed))
    path = tmp_path / "mixed.pdf"
    path.write_bytes(joined(scan(_page(*LINES)), _page(printed)))
    pages: list[tuple[int, int]] = []
    document = read_pdf(
        path.read_bytes(),
        str(path),
        str(path),
        ReadOptions(ocr="auto"),
        lambda *page: pages.append(page),
    )
    check_document(document)
    true = read_pdf(original, "original.pdf", None)
    assert pages == [(0, 1)]
    assert document.text.split() == true.text.split()
    for sentence, page in ((LINES[0], 1), (LINES[1], 1), (printed, 2)):
        start = document.text.index(sentence)
        assert document.page(start) == page
        (found,) = document.boxes(start, start + len(sentence))
        place = true.text.index(sentence)
        (expected,) = true.boxes(place, place + len(sentence))
        assert _near(found, expected, 6.0)
    badgers = document.text.index("Badgers")
    (line,) = document.boxes(badgers, badgers + len(LINES[1]))
    (word,) = document.boxes(badgers, badgers + len("Badgers"))
    share = len("Badgers") / len(LINES[1])
    assert word.left == line.left
    assert word.right - word.left == pytest.approx(share * (line.right - line.left))


def test_without_recognition_scans_are_named_with_what_reads_them() -> None:
    scanned = scan(_page(*LINES), dpi=72)
    with pytest.raises(UnreadableFile, match="1 scanned page; try: --ocr auto"):
        read_pdf(scanned, "scan.pdf", None)
    mixed = read_pdf(joined(scanned, _page("Gold never rusts.")), "mixed.pdf", None)
    (note,) = mixed.notes
    assert note.startswith("page 1 has hardly any text (scanned?); --ocr auto takes about")


def test_pictures_are_read_when_asked(tmp_path: Path) -> None:
    needs_ocr()
    one, two = (drawn(_page(line), [1], 100)[0].crop((50, 50, 800, 250)) for line in LINES)
    png, tiff = tmp_path / "one.png", tmp_path / "two.tif"
    one.save(png)
    one.save(tiff, save_all=True, append_images=[two])
    with pytest.raises(UnreadableFile, match="is a picture; try: --ocr auto"):
        milepost.read(png)
    document = milepost.read(png, ocr="auto")
    check_document(document)
    assert (document.text.strip(), document.page(0)) == (LINES[0], None)
    (box,) = document.boxes(0, len(LINES[0]))
    assert _near(box, Box(1, 50, 58, 382, 82), 12)
    both = milepost.read(tiff, ocr="auto")
    assert [both.page(both.text.index(line)) for line in LINES] == [1, 2]


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_picture_that_lies_on_its_side_or_head_is_turned(tmp_path: Path, turn: int) -> None:
    needs_ocr()
    (upright,) = drawn(_page(*LINES), [1], 100)
    upright.rotate(turn, expand=True).save(tmp_path / "turned.png")
    text = milepost.read(tmp_path / "turned.png", ocr="auto").text
    assert " ".join(text.split()) == " ".join(LINES)


def test_lines_in_two_directions(tmp_path: Path) -> None:
    """Columns beside rows and rows beside columns; a part of a column is a part of its height."""
    needs_ocr()
    page = PdfPage()
    page.lines(72, 700, LINES, size=14, step=20)
    page.operations.append("BT /F1 14 Tf 0 -1 1 0 480 700 Tm (This column runs downwards.) Tj ET")
    (one,) = drawn(write_pdf([page]), [1], 100)
    page.operations += [
        f"BT /F1 14 Tf 0 -1 1 0 {x} 600 Tm (Line {name} of the columns that run down.) Tj ET"
        for name, x in (("one", 460), ("two", 440), ("three", 420), ("four", 400))
    ]
    (two,) = drawn(write_pdf([page]), [1], 100)
    for number, picture in enumerate((one, two)):
        picture.save(tmp_path / f"{number}.png")
    found = [milepost.read(tmp_path / f"{number}.png", ocr="auto") for number in range(2)]
    for document in found:
        check_document(document)
        assert all(line in document.text for line in LINES)
        start = document.text.index("downwards")
        (box,) = document.boxes(start, start + 9)
        assert _near(box, Box(1, 660, 290, 686, 378), 10)
    rows, columns = (document.text for document in found)
    assert rows.index(LINES[1]) < rows.index("This column")
    words = [columns.index(word) for word in ("This", "one", "two", "three", "four", LINES[1])]
    assert words == sorted(words)


def test_damaged_pictures_are_refused(tmp_path: Path) -> None:
    needs_ocr()
    from PIL import Image

    whole = BytesIO()
    drawn(_page(*LINES), [1], 50)[0].save(whole, "PNG")
    cut = tmp_path / "cut.png"
    cut.write_bytes(whole.getvalue()[:400])
    with pytest.raises(UnreadableFile, match=r"cut\.png is damaged: [^<]+; try"):
        milepost.read(cut, ocr="auto")
    large = tmp_path / "large.png"
    Image.new("1", (20_000, 6_000)).save(large)
    with pytest.raises(UnreadableFile, match="more than 100 million pixels"):
        milepost.read(large, ocr="auto")


def test_an_index_remembers_that_text_was_recognised(tmp_path: Path) -> None:
    needs_ocr()
    path = tmp_path / "scan.pdf"
    path.write_bytes(scan(_page(*LINES)))
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    with milepost.open() as index:
        assert "--ocr auto" in index.add(tmp_path).failed[str(path)]
        first = index.add(tmp_path, ocr="auto")
        assert first.added == (str(path),)
        assert "damaged" in first.failed[str(tmp_path / "photo.png")]
        again = index.add(tmp_path)
        assert (again.unchanged, again.failed) == ((str(path),), {})
        (passage,) = index.search("What do badgers dig?", k=1)
        assert (passage.page, "setts" in passage.text) == (1, True)
        assert index.boxes(passage)[0].page == 1
        stored: Document = index.document(path)
        path.write_bytes(path.read_bytes() + b"\n")
        with pytest.raises(milepost.MilepostError, match="has changed"):
            stored.boxes(0, 10)
