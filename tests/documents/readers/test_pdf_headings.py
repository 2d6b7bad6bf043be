"""What is a heading on PDF pages without bookmarks."""

from support.pdf_writer import PdfPage, made


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
    document = made([page])
    assert [m.value for m in document.marks if m.kind == "heading"] == ["Estimate of the repair"]
    assert "Claim none yet Make Batman\nPolicy IM-BATMAN Model Batmobile" in document.text


PROSE = [
    "The mills of the valley were built by the river, and they have turned ever since that year."
]


def _headings(*pages: PdfPage) -> list[tuple[str, int]]:
    document = made(list(pages))
    return [(mark.value, mark.level) for mark in document.marks if mark.kind == "heading"]


def test_of_a_title_page_the_largest_line_is_the_heading() -> None:
    """The others name the office, the form and the place, and head nothing."""
    page, after = PdfPage(), PdfPage()
    page.text(237, 740, "OFFICE OF MILLS", 16)
    page.text(279, 715, "Stonebridge", 10)
    page.text(264, 690, "FORM 10-K", 16)
    page.text(282, 668, "(Mark one)", 10)
    page.text(198, 640, "Valley Mills Corporation", 20)
    page.text(232, 620, "(name of the registrant as it is)", 10)
    after.text(72, 720, "Business", 16)
    after.lines(72, 690, PROSE * 20)
    assert _headings(page, after) == [("Valley Mills Corporation", 1), ("Business", 2)]


def test_the_first_section_below_the_title_is_a_heading() -> None:
    page = PdfPage()
    page.text(200, 740, "On the mills of the valley", 20)
    page.text(274, 715, "Ada Moor", 14)
    page.text(281, 695, "3 May 2021", 10)
    page.text(72, 660, "Abstract", 14)
    page.lines(72, 640, PROSE * 20)
    assert _headings(page) == [("On the mills of the valley", 1), ("Abstract", 2)]


def test_bold_lines_above_running_text_are_headings() -> None:
    page = PdfPage()
    page.text(72, 740, "Report on the mills", 16)
    page.text(72, 715, "Water and wind", bold=True)
    page.lines(72, 695, PROSE * 8)
    page.text(72, 580, "Mills without water in a dry summer", bold=True)
    page.text(72, 568, "and in winter", bold=True)
    page.lines(72, 550, PROSE * 8)
    assert _headings(page) == [
        ("Report on the mills", 1),
        ("Water and wind", 2),
        ("Mills without water in a dry summer and in winter", 2),
    ]


def test_labels_in_bold_are_no_headings() -> None:
    page = PdfPage()
    page.text(72, 755, "Report on the mills", 16)
    for number, title in enumerate(("Wind", "Example", "Example", "Water", "Note:", "Example")):
        page.text(72, 730 - 115 * number, title, bold=True)
        page.lines(72, 715 - 115 * number, PROSE * 5)
    assert _headings(page) == [("Report on the mills", 1), ("Wind", 2), ("Water", 2)]


def test_bold_words_that_head_no_text_are_no_headings() -> None:
    """Names of columns, labels, the begin of a sentence, and pages that are all bold."""
    page = PdfPage()
    page.lines(72, 740, PROSE * 20)
    page.text(72, 480, "Mill", bold=True)
    page.text(300, 480, "Wheels", bold=True)
    for number, name in enumerate(("Upper mill", "Lower mill", "Old mill")):
        page.text(72, 465 - 12 * number, name)
        page.text(300, 465 - 12 * number, str(number + 2))
    page.text(72, 400, "Total:", bold=True)
    page.text(72, 388, "9 wheels")
    page.text(
        72,
        350,
        "No mill may take more of the water than is written in the book of mills,",
        bold=True,
    )
    page.lines(72, 338, PROSE * 2)
    bold = PdfPage()
    for number in range(30):
        bold.text(72, 740 - 14 * number, f"{'Mills' if number % 5 == 0 else PROSE[0]}", bold=True)
    assert _headings(page) == []
    assert _headings(bold) == []
