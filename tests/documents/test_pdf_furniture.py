"""Running heads, footers and page numbers of PDFs."""

import re

import pytest

from support.pdf_writer import PdfPage, made, prose


def test_running_heads_and_page_numbers_are_dropped() -> None:
    """What repeats at an edge goes, digits aside; a number that does not count pages stays."""
    pages = [PdfPage() for _ in range(5)]
    for number, page in enumerate(pages):
        page.text(72, 760, f"Annual report 2024, part {number}", 8)
        page.lines(72, 700, prose(40, start=7 * number))
        page.text(300, 30, str(number + 11), 8)
    pages[3].text(72, 60, "731", 10)
    text = made(pages).text
    assert text.count("Annual report") == 1
    assert not re.search(r"\b1[1-5]\b", text)
    assert "731" in text


def test_a_number_that_names_what_is_on_the_page_stays() -> None:
    """Receipts of one page each, numbered in order; slides have the numbers of their pages."""
    pages = [PdfPage() for _ in range(4)]
    for number, page in enumerate(pages, 1):
        page.text(72, 775, f"Receipt {number + 1000}")
        page.lines(72, 760, [f"In month {number} the tenant paid", "what was owed."])
        page.lines(72, 700, [*prose(30, start=9 * number), "Paid in full."])
        page.text(72, 30, f"Slide {number}")
    document = made(pages)
    assert [document.text.count(f"Receipt 100{number}") for number in range(1, 5)] == [1] * 4
    starts = [mark.offset for mark in document.marks if mark.kind == "page"]
    assert all(document.text[start:].startswith("Receipt 100") for start in starts)
    assert document.text.count("Slide") == 1
    assert document.text.count("what was owed.") == 4


@pytest.mark.parametrize(
    ("label", "copies"),
    [("Invoice no. {}", 4), ("INV-101{}", 4), ("Case 88-101{}", 4), ("Sheet no. {}", 1)],
)
def test_the_number_of_a_thing_is_none_of_a_page(label: str, copies: int) -> None:
    pages = [PdfPage() for _ in range(4)]
    for number, page in enumerate(pages, 1):
        page.text(72, 775, label.format(number))
        page.lines(72, 700, [*prose(30, start=9 * number), f"The amount is {number}20 euros."])
    text = made(pages).text
    assert sum(text.count(label.format(number)) for number in range(1, 5)) == copies


@pytest.mark.parametrize(
    ("label", "numbers", "copies"),
    [
        ("Article {}", (25, 26, 28, 33), 4),
        ("B1.{}.4", (3, 5, 6, 7), 4),
        ("Article {}", (5, 5, 6, 6), 1),
    ],
)
def test_titles_at_the_top_of_pages_stay(label: str, numbers: tuple[int, ...], copies: int) -> None:
    """A number that stands on two pages is that of a running head."""
    pages = [PdfPage() for _ in numbers]
    for number, page in zip(numbers, pages, strict=True):
        page.text(72, 715, label.format(number))
        page.lines(72, 700, prose(40, start=7 * number))
    text = made(pages).text
    assert sum(text.count(label.format(number)) for number in {*numbers}) == copies


def test_running_heads_far_from_the_edge_are_dropped() -> None:
    """The text of a small book printed on large paper."""
    pages = [PdfPage() for _ in range(5)]
    for number, page in enumerate(pages, 1):
        page.text(200, 660, "The law of the harbour", 8)
        page.text(400, 660, str(number), 8)
        page.lines(72, 630, prose(60, start=7 * number))
    text = made(pages).text
    assert text.count("The law of the harbour") == 1
    assert not re.search(r"\d", text)


def test_names_of_columns_and_labels_below_a_head_stay() -> None:
    """A table at the top of each page: only the head above it repeats without need."""
    pages = [PdfPage() for _ in range(4)]
    for number, page in enumerate(pages):
        page.text(72, 765, "Annual report of the harbour", 8)
        page.text(72, 750, ("Sales by harbour", "Costs by pier", "Staff by year", "Ships")[number])
        row = ((300, 735, "2022"), (400, 735, "2021"), (72, 720, "Net total"))
        for x, y, words in (*row, (300, 720, f"1{number},694"), (400, 720, "14,544")):
            page.text(x, y, words)
        page.lines(72, 660, prose(30, start=9 * number))
    text = made(pages).text
    assert text.count("Annual report") == 1
    assert [text.count(each) for each in ("2022", "2021", "Net total", "14,544")] == [4] * 4


def test_a_line_on_few_pages_far_from_each_other_is_text() -> None:
    """The running head of a part stands on pages that follow each other."""
    pages = [PdfPage() for _ in range(40)]
    for number, page in enumerate(pages):
        if number in (4, 17, 33):
            page.text(72, 750, "Numeric variable")
        elif 20 < number < 25:
            page.text(72, 750, "Of the harbour")
        page.lines(72, 660, prose(30, start=9 * number))
    text = made(pages).text
    assert text.count("Numeric variable") == 3
    assert text.count("Of the harbour") == 1


def test_names_of_columns_right_above_a_row_come_on_each_page() -> None:
    names = "No. Rule L1 L2".split()  # noqa: SIM905
    pages = [PdfPage() for _ in range(4)]
    for number, page in enumerate(pages):
        page.text(72, 765, "Rules of the harbour")
        page.text(520, 765, "Draft")
        cells = f"{number}.4", f"{('Moor', 'Ship', 'Tow', 'Pull')[number]} it", "x", "x"
        for row, y in ((names, 750), (cells, 735)):
            for x, words in zip((72, 120, 400, 440), row, strict=True):
                page.text(x, y, words)
        page.lines(72, 660, prose(30, start=9 * number))
    text = made(pages).text
    assert text.count("No. Rule L1 L2") == 4
    assert text.count("Rules of the harbour") == 1


@pytest.mark.parametrize("label", ["{}", "- {} -", "Page {} of 90", "F-{}"])
def test_page_numbers_below_the_text_are_dropped_at_any_height(label: str) -> None:
    """As browsers print filings; the numbers in last rows of tables do not count the pages."""
    heights, sums = (520, 300, 610, 450), ("12", "13", "17", "88")
    text = {}
    for kind in ("page", "sum"):
        pages = [PdfPage() for _ in heights]
        for number, (page, height) in enumerate(zip(pages, heights, strict=True), 1):
            page.lines(72, 700, prose(20, start=9 * number))
            page.text(
                300, height, label.format(number + 10 if kind == "page" else sums[number - 1])
            )
        text[kind] = made(pages).text
    assert not re.search(r"\d", text["page"])
    assert re.findall(r"\d+", text["sum"].replace("90", "")) == list(sums)


def test_words_with_page_numbers_below_the_text_are_dropped_at_any_height() -> None:
    """The first copy of the words is kept. Roman numbers count, too."""
    pages = [PdfPage() for _ in range(8)]
    for number, page in enumerate(pages):
        page.lines(72, 700, prose(20, start=9 * number))
        page.text(72, 300, "www.harbour.org")
        page.text(400, 300, f"Rev. 3.0 {number + 11}")
    text = made(pages).text
    assert [text.count(each) for each in ("www.harbour.org", "Rev. 3.0")] == [1, 1]
    for page, number in zip(pages, ("ii", "iii", "iv", "v"), strict=False):
        page.text(300, 40, f"Page {number}")
    assert "Page" not in made(pages[:4]).text


def test_two_equal_sums_at_the_foot_of_a_page_are_no_page_numbers() -> None:
    pages = [PdfPage(), PdfPage()]
    pages[0].lines(72, 700, [f"Post {number}" for number in range(40)], step=14)
    pages[0].rows(60, [[("28,380", 300), ("28,380", 400)]])
    pages[1].lines(72, 700, prose(20))
    assert made(pages).text.count("28,380") == 2
