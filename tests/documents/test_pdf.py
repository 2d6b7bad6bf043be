"""The PDF reader on small files made on the fly."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.documents.readers.pdf.line_joiner import LineJoiner
from milepost.documents.readers.pdf.read import read_pdf
from milepost.errors import InputError, UnreadableFile
from milepost.table_rows import Tables, tables
from milepost.types import Document
from support.pdf_writer import PdfPage, check_document, pdf_of, write_pdf
from support.threads import at_once

WORDS = (
    "the quick brown fox jumps over a lazy dog while seven grey geese fly slowly across that wide "
    "river and nobody on either bank looks up from his work to see them pass into morning light "
)


def _prose(words: int, start: int = 0) -> list[str]:
    """Lines of about 40 characters."""
    stream = (WORDS * 20).split()[start : start + words]
    lines, line = [], ""
    for word in stream:
        if len(line) + len(word) > 40:
            lines.append(line.strip())
            line = ""
        line += word + " "
    return [*lines, line.strip()]


def _made(pages: list[PdfPage], outline: list[tuple[str, int]] | None = None) -> Document:
    return read_pdf(write_pdf(pages, outline), "made.pdf", None)


def test_lines_of_a_paragraph_are_joined_by_one_space() -> None:
    page = PdfPage()
    page.lines(72, 700, _prose(30))
    page.lines(72, 600, _prose(30, start=30))
    document = _made([page])
    words = WORDS.split() * 2
    assert document.text == " ".join(words[:30]) + "\n\n" + " ".join(words[30:60])
    assert document.blocks == (0, document.text.index("\n\n") + 2)


def test_two_and_three_columns_are_read_down_before_across() -> None:
    for count, gap in ((2, 250), (3, 230)):
        columns = [_prose(80, start=10 + 13 * number) for number in range(count)]
        rows = min(len(column) for column in columns)
        page = PdfPage(width=72 + gap * count)
        for row in range(rows):
            for number, column in enumerate(columns):
                page.text(40 + gap * number, 700 - 12 * row, column[row])
        text = _made([page]).text.split()
        assert text == " ".join(" ".join(column[:rows]) for column in columns).split()


def test_a_paragraph_goes_on_over_columns_and_pages() -> None:
    first, second = PdfPage(), PdfPage()
    lines = _prose(240)
    first.lines(60, 700, lines[:12])
    first.lines(320, 700, lines[12:24])
    second.lines(60, 700, lines[24:])
    document = _made([first, second])
    assert "\n" not in document.text
    assert [mark.value for mark in document.marks] == ["1", "2"]
    assert document.text[document.marks[1].offset :].startswith(" ".join(lines[24:26]))


def test_running_heads_and_page_numbers_are_dropped() -> None:
    """What repeats at an edge goes, digits aside; a number that does not count pages stays."""
    pages = []
    for number in range(5):
        page = PdfPage()
        page.text(72, 760, f"Annual report 2024, part {number}", 8)
        page.lines(72, 700, _prose(40, start=7 * number))
        page.text(300, 30, str(number + 11), 8)
        pages.append(page)
    pages[3].text(72, 60, "731", 10)
    text = _made(pages).text
    assert text.count("Annual report") == 1
    assert not re.search(r"\b1[1-5]\b", text)
    assert "731" in text


def test_a_number_that_names_what_is_on_the_page_stays() -> None:
    """Receipts of one page each, numbered in order; slides have the numbers of their pages."""
    pages = []
    for number in range(1, 5):
        page = PdfPage()
        page.text(72, 775, f"Receipt {number + 1000}")
        page.lines(72, 760, [f"In month {number} the tenant paid", "what was owed."])
        page.lines(72, 700, [*_prose(30, start=9 * number), "Paid in full."])
        page.text(72, 30, f"Slide {number}")
        pages.append(page)
    document = _made(pages)
    assert [document.text.count(f"Receipt 100{number}") for number in range(1, 5)] == [1] * 4
    starts = [mark.offset for mark in document.marks if mark.kind == "page"]
    assert all(document.text[start:].startswith("Receipt 100") for start in starts)
    assert document.text.count("Slide") == 1
    assert document.text.count("what was owed.") == 4


def test_names_of_columns_and_labels_below_a_head_stay() -> None:
    """A table at the top of each page: only the head above it repeats without need."""
    pages = []
    for number in range(4):
        page = PdfPage()
        page.text(72, 765, "Annual report of the harbour", 8)
        page.text(72, 750, ("Sales by harbour", "Costs by pier", "Staff by year", "Ships")[number])
        row = ((300, 735, "2022"), (400, 735, "2021"), (72, 720, "Net total"))
        for x, y, words in (*row, (300, 720, f"1{number},694"), (400, 720, "14,544")):
            page.text(x, y, words)
        page.lines(72, 660, _prose(30, start=9 * number))
        pages.append(page)
    text = _made(pages).text
    assert text.count("Annual report") == 1
    assert [text.count(each) for each in ("2022", "2021", "Net total", "14,544")] == [4] * 4


def test_pages_that_are_all_heads_keep_them() -> None:
    pages = [PdfPage() for _ in range(4)]
    for page in pages:
        page.text(72, 760, "This page is left empty on purpose")
    assert _made(pages).text.count("left empty on purpose") == 4


def test_text_turned_by_rotate_is_read_in_order() -> None:
    for turn in (0, 90, 180, 270):
        page = PdfPage(rotate=turn)
        page.lines(72, 700, _prose(60))
        document = _made([page])
        assert document.text == " ".join((WORDS * 2).split()[:60])
        width, height = (792, 612) if turn in (90, 270) else (612, 792)
        for box in document.boxes(0, len(document.text)):
            assert 0 <= box.left < box.right <= width
            assert 0 <= box.top < box.bottom <= height
        page.operations.append("BT /F1 10 Tf 0.0001 0 0 1 300 20 Tm (I) Tj ET")  # has no width
        assert _made([page]).boxes(0, 9) == document.boxes(0, 9)


def test_rows_of_a_table_stay_rows() -> None:
    table = [["Iowa", "1.35", "1.42"], ["Ohio", "2.10", "2.25"], ["Utah", "0.98", "1.07"]]
    for by_column in (False, True):
        page = PdfPage()
        spots = [(row, column) for row in range(3) for column in range(3)]
        for row, column in sorted(spots, key=lambda spot: spot[::-1] if by_column else spot):
            page.text(72 + 90 * column, 700 - 14 * row, table[row][column])
        assert _made([page]).text == "\n".join(" ".join(row) for row in table)


def test_a_ruled_table_of_words_has_its_cells_in_rows() -> None:
    """The file has it column by column; a cell goes on over two rows, the table over two pages."""
    page = PdfPage()
    page.text(72, 720, "Table 4: Who looks after the machines")
    across = [(y, 72, 500) for y in (700, 680, 640, 600)] + [(620, 200, 500)]
    down = [(x, 600, 700) for x in (72, 200, 330, 500)]
    page.operations += [f"{left} {y} m {right} {y} l S" for y, left, right in across]
    page.operations += [f"{x} {low} m {x} {high} l S" for x, low, high in down]
    page.text(76, 686, "Machine", bold=True)
    page.lines(76, 666, ["The boiler in", "the north wing"])
    page.text(76, 616, "Conveyor")
    page.text(204, 686, "Keeper", bold=True)
    page.text(204, 660, "Ingrid")
    page.text(204, 606, "Ayumi")
    page.text(334, 686, "In case of failure", bold=True)
    page.lines(334, 666, ["Close the valve and", "call the office"])
    page.text(334, 626, "Press the button")
    page.text(334, 606, "Lock the drive")
    rest = PdfPage()
    rest.operations += [f"72 {y} m 500 {y} l S" for y in (740, 720, 700)]
    rest.operations += [f"{x} 700 m {x} 740 l S" for x in (72, 200, 330, 500)]
    for number, row in enumerate((("Oven 2", "Bo", "Open it."), ("Pump 7", "Cy", "Shut it."))):
        for x, words in zip((76, 204, 334), row, strict=True):
            rest.text(x, 726 - 20 * number, words)
    document = _made([page, rest])
    assert document.text.split("\n")[1:6] == [
        "",
        "Machine | Keeper | In case of failure",
        "The boiler in the north wing | Ingrid | Close the valve and call the office",
        "Conveyor | | Press the button",
        "| Ayumi | Lock the drive",
    ]
    table, goes_on = tables(document.marks)
    assert table.columns == goes_on.columns == ("Machine", "Keeper", "In case of failure")
    assert table.caption == "Table 4: Who looks after the machines"
    at = document.text.index("Press")
    assert [box.left for box in document.boxes(at, at + 5)] == [pytest.approx(334, abs=2)]


def test_a_table_with_lines_across_alone_has_its_cells_in_rows() -> None:
    """One has lines above, below its names and at its end; one between its rows, some in part."""
    page = PdfPage()
    rules = [(y, 72, 500) for y in (700, 680, 620, 500, 480, 440, 400)] + [(420, 200, 500)]
    page.operations += [f"{left} {y} m {right} {y} l S" for y, left, right in rules]
    for number, row in enumerate((("Machine", "Keeper"), ("Boiler", "Ingrid"), ("Oven", "Bo"))):
        page.text(76, 686 - 24 * number, row[0])
        page.text(300, 686 - 24 * number, row[1])
    page.lines(76, 626, ["Pump"])
    page.text(300, 626, "Cy")
    page.lines(72, 590, _prose(40))
    names = ((76, "Hall"), (204, "Machine"), (340, "In case of failure"))
    for x, words in names:
        page.text(x, 486, words)
    page.text(76, 456, "North")
    page.lines(204, 466, ["The old", "boiler"])
    page.lines(340, 466, ["Close the valve and", "call the office"])
    for y, hall, machine in ((426, "South", "Conveyor"), (406, "", "Crane")):
        page.text(76, y, hall)
        page.text(204, y, machine)
        page.text(340, y, f"Stop the {machine.casefold()}")
    document = _made([page])
    rows = [line for line in document.text.split("\n") if "|" in line]
    assert rows == [
        *("Machine | Keeper", "Boiler | Ingrid", "Oven | Bo", "Pump | Cy"),
        "Hall | Machine | In case of failure",
        "North | The old boiler | Close the valve and call the office",
        "South | Conveyor | Stop the conveyor",
        "| Crane | Stop the crane",
    ]
    assert [table.columns for table in tables(document.marks)] == [
        ("Machine", "Keeper"),
        tuple(words for _, words in names),
    ]


def test_names_of_columns_may_be_written_sideways_and_cells_merged() -> None:
    """The first cell goes over two columns, and its second line begins in the second of them."""
    page = PdfPage()
    page.operations += [f"72 {y} m 380 {y} l S" for y in (716, 702, 640, 620, 560)]
    page.operations += [
        f"{x} 560 m {x} {702 if x == 320 else 716} l S" for x in (72, 300, 320, 380)
    ]
    page.text(312, 711, "Where it must be done", 5)
    page.text(331, 705, "or not", 5)
    page.text(76, 644, "Rule")
    for x, words in ((314, "Level 1"), (354, "Level 2")):
        page.operations.append(f"BT /F1 10 Tf 0 1 -1 0 {x} 645 Tm ({words}) Tj ET")
    for y, words, ticks in ((626, "Check the input", "x-"), (606, "Log the errors", "-x")):
        for x, each in zip((76, 306, 346), (words, *ticks), strict=True):
            page.text(x, y, each)
    document = _made([page])
    assert document.text.split("\n") == [
        "| Where it must be done or not",
        "Rule | Level 1 | Level 2",
        *("Check the input | x | -", "Log the errors | - | x"),
    ]
    assert next(tables(document.marks)).columns == ("Rule", "Level 1", "Level 2")


def test_tables_have_a_caption_columns_and_sections() -> None:
    """Figures under the years above them; a row whose words alone would mislead is one cell."""
    page = PdfPage()
    page.lines(72, 760, ["The following table lists what the harbour paid (in millions):"])
    page.text(290, 730, "Year ended June 30,")
    rows = [
        (("2022", 300), ("2021", 400)),
        (("Ships", 72),),
        (("Tugs and barges", 72), ("$", 290), ("1,200", 318), ("$", 390), ("(30)", 418)),
        (("Ropes sold by 2020", 72), ("5", 334), ("-", 434)),
        (("Paint (6)", 72), ("70", 429)),
        (("Sum", 72), ("1,205", 318), ("40", 429)),
    ]
    for number, row in enumerate(rows):
        for words, x in row:
            page.text(x, 716 - 14 * number, words)
    page.lines(72, 600, _prose(40))
    document = _made([page])
    start, end = document.text.index("Tugs"), document.text.index("Sum") + 12
    table = next(tables(document.marks)).rows(document.text, 0, [(start, end)], (start, end))
    assert table.caption == "The following table lists what the harbour paid (in millions):"
    assert table.columns == ("", "Year ended June 30, 2022", "Year ended June 30, 2021")
    assert [row.cells for row in table.rows] == [
        ("Tugs and barges", "$ 1,200", "$ (30)"),
        ("Ropes sold by 2020", "5", "-"),
        ("Paint (6) 70", "", ""),
        ("Sum", "1,205", "40"),
    ]
    words = Tables(document.text, document.marks).words(start, start + 10)
    assert [each in words for each in ("harbour paid", "June 30, 2021", "Ships")] == [True] * 3


def test_a_column_without_a_name_keeps_its_figures() -> None:
    page = PdfPage()
    page.text(300, 714, "2022")
    for number, row in enumerate((("Sales 2019", "7", "5"), ("Costs", "9", "4"))):
        for column, cell in enumerate(row):
            page.text((72, 312, 400)[column], 700 - 14 * number, cell)
    document = _made([page])
    end = len(document.text)
    table = next(tables(document.marks)).rows(document.text, 0, [(6, end)], (0, end))
    assert table.columns == ("", "2022", "")
    assert [row.cells for row in table.rows] == [("Sales 2019", "7", "5"), ("Costs", "9", "4")]


def test_a_name_above_several_columns_belongs_to_each() -> None:
    page = PdfPage()
    rows = [
        (("Men", 230), ("Women", 340)),
        (("Paid", 200), ("Free", 240), ("All", 282), ("Paid", 320), ("Free", 360), ("All", 402)),
        *(
            ((label, 72), *((str(4 + k), 206 + 40 * k) for k in range(6)))
            for label in ("Riders on trams", "Riders on ferries")
        ),
    ]
    for number, row in enumerate(rows):
        for words, x in row:
            page.text(x, 700 - 14 * number, words)
    document = _made([page])
    end = len(document.text)
    table = next(tables(document.marks)).rows(document.text, 0, [(end - 2, end)], (0, end))
    named = [f"{group} {name}" for group in ("Men", "Women") for name in ("Paid", "Free", "All")]
    assert table.columns == ("", *named)


def test_list_items_begin_blocks() -> None:
    page = PdfPage()
    page.text(72, 700, "• first item of the list that goes on")
    page.text(80, 688, "in a second line")
    page.text(72, 676, "• second item")
    document = _made([page])
    assert document.text == (
        "• first item of the list that goes on in a second line\n• second item"
    )
    assert document.blocks == (0, document.text.index("\n") + 1)


def test_large_lines_are_headings_where_there_are_no_bookmarks() -> None:
    page = PdfPage()
    page.text(72, 740, "Great Title", 24)
    page.text(72, 700, "A Section", 16)
    page.lines(72, 670, _prose(60))
    document = _made([page])
    heads = [(m.value, m.level) for m in document.marks if m.kind == "heading"]
    assert heads == [("Great Title", 1), ("A Section", 2)]
    assert document.heading(len(document.text) - 1) == "A Section"


def test_letters_without_a_code_point_are_noted() -> None:
    """Two digits of a font that does not tell its letters; a bullet alone is no word."""
    page, other = PdfPage(), PdfPage()
    page.text(72, 700, "A fine of \x17\x13Y is due")
    other.text(72, 700, "\x17 A fine of 40 is due")
    (note,) = _made([page, other]).notes
    assert note.startswith("page 1 has 2 characters")


def test_bookmarks_are_found_in_the_text() -> None:
    """A bookmark's title without the printed number finds its line; a lost one is left out."""
    page = PdfPage()
    for number, title in enumerate(("1 Beginnings", "2 Middle things", "3 Ends")):
        page.text(72, 740 - 200 * number, title)
        page.lines(72, 710 - 200 * number, _prose(40, start=5 * number))
    outline = [("Beginnings", 0), ("Middle things", 0), ("Not there", 0), ("3 Ends", 0)]
    document = _made([page], outline)
    heads = [m for m in document.marks if m.kind == "heading"]
    assert [m.value for m in heads] == ["Beginnings", "Middle things", "3 Ends"]
    assert [document.text[m.offset] for m in heads] == ["1", "2", "3"]
    # As after pages were taken out: the bookmarks point to others, and their lines are on a page.
    kept = [("1 Beginnings", 0), ("Not there", 0), ("2 Middle things", 0), ("3 Ends", 0)]
    data = write_pdf([page], kept).replace(b"/Dest [", b"/Dest [9")
    heads = [m for m in read_pdf(data, "cut.pdf", None).marks if m.kind == "heading"]
    assert [m.value for m in heads] == ["1 Beginnings", "2 Middle things", "3 Ends"]


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("a long hyphen-", "ation here", "a long hyphenation here"),
        ("the reduced sur\u2011", "face of it", "the reduced surface of it"),
        ("it is self-", "contained", "it is self-contained"),
        ("known as EIP-", "155 by him", "known as EIP-155 by him"),
        ("in Porto-", "Novo today", "in Porto-Novo today"),
        ("die Vor-", "und Nachteile", "die Vor- und Nachteile"),
        ("that was - ", "in short", "that was - in short"),
        ("所有应用程序应争取的最低", "限度。", "所有应用程序应争取的最低限度。"),
        ("控制 Level 1", "的应用", "控制 Level 1 的应用"),
        ("한국어 문장은", "띄어 쓴다", "한국어 문장은 띄어 쓴다"),
        ("see https://example.org/", "path/file", "see https://example.org/path/file"),
        ("the work—", "which", "the work—which"),
        ("from 2018–", "23 on", "from 2018–23 on"),
        ("one", "two", "one two"),
    ],
)
def test_line_ends_are_glued_as_a_reader_would(before: str, after: str, joined: str) -> None:
    glue = LineJoiner(
        ["a self-contained thing and another self-contained thing", "the user", "is defined"]
    )
    fallen, between = glue.join(before.strip(), after)
    text = before.strip()
    assert text[: len(text) - fallen] + between + after == joined


@given(
    st.lists(
        st.tuples(
            st.integers(0, 600),
            st.integers(0, 780),
            st.text(st.characters(codec="cp1252", exclude_categories=["C"]), max_size=30),
            st.sampled_from([6.0, 10.0, 18.0]),
        ),
        max_size=25,
    ),
    st.sampled_from([0, 90, 180, 270]),
)
@settings(max_examples=25, deadline=None)
def test_any_scatter_of_words_is_read_whole(
    spots: list[tuple[int, int, str, float]], turn: int
) -> None:
    page = PdfPage(rotate=turn)
    for x, y, words, size in spots:
        page.text(x, y, words, size)
    try:
        document = _made([page])
    except UnreadableFile:
        assert not any(re.search(r"[A-Za-z0-9]", words) for _, _, words, _ in spots)
        return
    check_document(document)
    middle = len(document.text) // 2
    assert {box.page for box in document.boxes(middle, middle + 1)} <= {1}


def test_a_page_full_of_labels_loses_no_word() -> None:
    page = PdfPage(width=2000, height=2000)
    labels = [f"label{number}" for number in range(1000)]
    for number, label in enumerate(labels):
        page.text(number * 7919 % 1950, number * 104729 % 1950, label, 5)
    document = _made([page])
    assert sorted(re.findall(r"label\d+", document.text)) == sorted(labels)
    start = document.text.index("label999")  # behind thousands of letters
    (box,) = document.boxes(start, start + 8)
    assert box.left == pytest.approx(999 * 7919 % 1950, abs=1)
    assert box.bottom == pytest.approx(2000 - 999 * 104729 % 1950, abs=1)


@pytest.mark.parametrize(
    "drawn",
    [
        "6 Tc (Notice of a meeting) Tj",
        "(N o t i c e   o f   a   m e e t i n g) Tj",
        "[(N)-450(o)-450( )-450(o)-450(n)-450(e)] TJ",
    ],
)
def test_short_words_that_are_set_wide(drawn: str) -> None:
    page = PdfPage(operations=[f"BT /F1 12 Tf 72 700 Td {drawn} ET"])
    assert _made([page]).text == ("No one" if "TJ" in drawn else "Notice of a meeting")


def test_boxes_need_the_same_file(tmp_path: Path) -> None:
    data = pdf_of(_prose(20))
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    document = read_pdf(data, "a.pdf", str(path))
    (box,) = document.boxes(0, 9)
    assert box.page == 1
    assert 71 < box.left < 75
    assert 792 - 700 - 10 < box.top < box.bottom < 792 - 700 + 4
    path.write_bytes(data + b"\n")
    with pytest.raises(InputError, match="changed"):
        document.boxes(0, 9)
    path.unlink()
    with pytest.raises(InputError, match=r"a\.pdf"):
        document.boxes(0, 9)


def test_threads_take_turns() -> None:
    data = pdf_of(_prose(80))
    texts: list[str] = []
    assert at_once(*[lambda: texts.append(read_pdf(data, "x.pdf", None).text)] * 8) == []
    assert len(set(texts)) == 1
