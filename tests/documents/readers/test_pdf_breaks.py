"""Where the lines of PDFs are joined, and which are left out."""

from milepost.documents.readers.pdf.read import read_pdf
from support.pdf_writer import PdfPage, check_document, write_pdf


def test_a_word_goes_on_after_a_line_with_wide_spaces() -> None:
    """A justified line with few words looks like a row of cells."""
    page = PdfPage()
    page.lines(82, 712, ["(b) Any person who wants it may"], 10)
    page.lines(72, 700, ["apply to the office, and name the"], 10)
    for x, words in ((72, "Office,"), (130, "Department"), (202, "of Jus-")):
        page.text(x, 688, words)
    page.lines(
        72, 676, ["tice, Washington, for the paper", "that it has been waiting for since"], 10
    )
    document = read_pdf(write_pdf([page]), "a.pdf", None)
    check_document(document)
    assert "Office, Department of Justice, Washington, for the paper" in document.text


def test_a_line_printed_twice_at_one_place_is_read_once() -> None:
    page = PdfPage()
    lines = ["Please write your name here:", "and your place of birth below."]
    for _ in range(2):
        page.lines(72, 700, [*lines, *(f"Line {number} of the form" for number in range(12))])
    page.text(72, 500, "and your place of birth below.")
    document = read_pdf(write_pdf([page]), "a.pdf", None)
    check_document(document)
    assert document.text.count("your name") == 1
    assert document.text.count("place of birth") == 2
