"""What is a heading on PDF pages without bookmarks."""

from milepost.documents.readers.pdf.read import read_pdf
from support.pdf_writer import PdfPage, check_document, write_pdf


def test_the_rows_of_a_form_in_large_type_are_no_headings() -> None:
    page = PdfPage()
    page.text(72, 740, "Estimate of the repair", 16)
    rows = [
        ("Insured name", "Bruce Wayne", "Year", "2025"),
        ("Claim", "none yet", "Make", "Batman"),
        ("Policy", "IM-BATMAN", "Model", "Batmobile"),
        ("Phone", "555-1234", "Trim", "Limited"),
    ]
    for number, row in enumerate(rows):
        for x, cell in zip((72, 172, 330, 430), row, strict=True):
            page.text(x, 700 - 15 * number, cell, 12)
    page.lines(72, 600, ["The estimate holds for thirty days from the day of its issue."] * 12, 9)
    document = read_pdf(write_pdf([page]), "a.pdf", None)
    check_document(document)
    assert [m.value for m in document.marks if m.kind == "heading"] == ["Estimate of the repair"]
    assert "Claim none yet Make Batman\nPolicy IM-BATMAN Model Batmobile" in document.text
