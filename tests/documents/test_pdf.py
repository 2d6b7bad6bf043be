"""The PDF reader on small files made on the fly."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.documents.readers.pdf.line_joiner import LineJoiner
from milepost.documents.readers.pdf.read import read_pdf
from milepost.errors import UnreadableFile
from milepost.marks import place_in_words, places_at
from support.pdf_writer import WORDS, PdfPage, made, pdf_of, prose, write_pdf
from support.threads import at_once


def test_lines_of_a_paragraph_are_joined_by_one_space() -> None:
    page = PdfPage()
    page.lines(72, 700, prose(30))
    page.lines(72, 600, prose(30, start=30))
    document = made([page])
    words = WORDS.split() * 2
    assert document.text == " ".join(words[:30]) + "\n\n" + " ".join(words[30:60])
    assert document.blocks == (0, document.text.index("\n\n") + 2)


def test_two_and_three_columns_are_read_down_before_across() -> None:
    for count, gap in ((2, 250), (3, 230)):
        columns = [prose(80, start=10 + 13 * number) for number in range(count)]
        rows = min(len(column) for column in columns)
        page = PdfPage(width=72 + gap * count)
        for row in range(rows):
            for number, column in enumerate(columns):
                page.text(40 + gap * number, 700 - 12 * row, column[row])
        text = made([page]).text.split()
        assert text == " ".join(" ".join(column[:rows]) for column in columns).split()


def test_a_paragraph_goes_on_over_columns_and_pages() -> None:
    first, second = PdfPage(), PdfPage()
    lines = prose(240)
    first.lines(60, 700, lines[:12])
    first.lines(320, 700, lines[12:24])
    second.lines(60, 700, lines[24:])
    document = made([first, second])
    assert "\n" not in document.text
    assert [mark.value for mark in document.marks] == ["1", "2"]
    assert document.text[document.marks[1].offset :].startswith(" ".join(lines[24:26]))


def test_the_first_line_of_a_numbered_paragraph_is_not_cut_before_a_capital() -> None:
    page = PdfPage()
    page.text(108, 700, "(1) There are wide and short lines in all of the laws of the")
    page.text(72, 688, "Republic, which go on until the margin and begin with a capital")
    page.text(72, 676, "or two.")
    page.text(108, 656, "(2) This one ends in its line.")
    page.text(72, 644, "Others begin below it.")
    text = made([page]).text
    assert "laws of the Republic" in text
    assert "\nOthers" in text


def test_pages_that_are_all_heads_keep_them() -> None:
    pages = [PdfPage() for _ in range(4)]
    for page in pages:
        page.text(72, 760, "This page is left empty on purpose")
    assert made(pages).text.count("left empty on purpose") == 4


def test_bookmarks_of_the_items_of_a_text_are_no_headings() -> None:
    page = PdfPage()
    items = ["(a) fish;", "(b) salt;", "(c) wood."]
    page.lines(72, 700, ["The harbour takes", *items, *prose(40)])
    assert not [m for m in made([page], [(item, 0) for item in items]).marks if m.kind == "heading"]


def test_a_sentence_in_larger_type_is_no_heading() -> None:
    """The examples of a law may be longer than its sections."""
    page = PdfPage()
    page.text(72, 720, "The law of the harbour", 14)
    page.text(72, 690, "Each ship that stays pays what is owed.", 12)
    page.text(72, 660, "Each ship that stays for a night pays what is owed.", 12)
    page.lines(72, 600, prose(90))
    heads = [m.value for m in made([page]).marks if m.kind == "heading"]
    assert heads == ["The law of the harbour", "Each ship that stays pays what is owed."]


def test_pages_without_text_are_counted() -> None:
    pages = [PdfPage() for _ in range(5)]
    pages[1].text(72, 720, "The ferry leaves at noon.")
    pages[3].text(72, 720, "It is full.")
    document = made(pages)
    starts = [0, 0, document.text.index("It"), document.text.index("It"), len(document.text)]
    marks = [(mark.offset, int(mark.value)) for mark in document.marks if mark.kind == "page"]
    assert marks == list(zip(starts, range(1, 6), strict=True))


def test_text_turned_by_rotate_is_read_in_order() -> None:
    for turn in (0, 90, 180, 270):
        page = PdfPage(rotate=turn)
        page.lines(72, 700, prose(60))
        document = made([page])
        assert document.text == " ".join((WORDS * 2).split()[:60])
        width, height = (792, 612) if turn in (90, 270) else (612, 792)
        for box in document.boxes(0, len(document.text)):
            assert 0 <= box.left < box.right <= width
            assert 0 <= box.top < box.bottom <= height
        page.operations.append("BT /F1 10 Tf 0.0001 0 0 1 300 20 Tm (I) Tj ET")  # has no width
        assert made([page]).boxes(0, 9) == document.boxes(0, 9)


def test_list_items_begin_blocks() -> None:
    page = PdfPage()
    page.text(72, 700, "• first item of the list that goes on")
    page.text(80, 688, "in a second line")
    page.text(72, 676, "• second item")
    document = made([page])
    items = "• first item of the list that goes on in a second line", "• second item"
    assert document.text == "\n".join(items)
    assert document.blocks == (0, document.text.index("\n") + 1)


@pytest.mark.parametrize(("drawn", "mark"), [("o", "◦"), ("0.0.1.", "0.0.1.")])
def test_second_bullets_and_numbers_of_levels_begin_items(drawn: str, mark: str) -> None:
    """A letter before a tab, as office programs write it; the same before a space is a word."""
    page = PdfPage()
    for at, words in enumerate(("strongly approve", "somewhat approve", "no opinion")):
        page.text(90, 700 - 14 * at, drawn)
        page.text(130 if len(drawn) > 1 else 106, 700 - 14 * at, words)
    page.text(72, 600, "o moinho novo fica perto da ponte e o moinho velho")
    page.text(72, 588, "o faz andar.")
    items = (f"{mark} strongly approve", f"{mark} somewhat approve", f"{mark} no opinion")
    words = "o moinho novo fica perto da ponte e o moinho velho o faz andar."
    assert made([page]).text == "\n".join(items) + f"\n\n{words}"


def test_letters_without_a_code_point_are_noted() -> None:
    """Two digits of a font that does not tell its letters; a bullet alone is no word."""
    page, other = PdfPage(), PdfPage()
    page.text(72, 700, "A fine of \x17\x13Y is due")
    other.text(72, 700, "\x17 A fine of 40 is due")
    (note,) = made([page, other]).notes
    assert note.startswith("page 1 has 2 characters")


def test_bookmarks_are_found_in_the_text() -> None:
    """A bookmark's title without the printed number finds its line; a lost one is left out."""
    page = PdfPage()
    for number, title in enumerate(("1 Beginnings", "2 Middle things", "3 Ends")):
        page.text(72, 740 - 200 * number, title)
        page.lines(72, 710 - 200 * number, prose(40, start=5 * number))
    outline = [("Beginnings", 0), ("Middle things", 0), ("Not there", 0), ("3 Ends", 0)]
    document = made([page], outline)
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
        document = made([page])
    except UnreadableFile:
        assert not any(re.search(r"[A-Za-z0-9]", words) for _, _, words, _ in spots)
        return
    middle = len(document.text) // 2
    assert {box.page for box in document.boxes(middle, middle + 1)} <= {1}


def test_a_page_full_of_labels_loses_no_word() -> None:
    page = PdfPage(width=2000, height=2000)
    labels = [f"label{number}" for number in range(1000)]
    for number, label in enumerate(labels):
        page.text(number * 7919 % 1950, number * 104729 % 1950, label, 5)
    document = made([page])
    assert sorted(re.findall(r"label\d+", document.text)) == sorted(labels)
    start = document.text.index("label999")  # behind thousands of letters
    (box,) = document.boxes(start, start + 8)
    assert box.left == pytest.approx(999 * 7919 % 1950, abs=1)
    assert box.bottom == pytest.approx(2000 - 999 * 104729 % 1950, abs=1)


@pytest.mark.parametrize(
    "drawn",
    [
        "4 Tc (Notice of a meeting) Tj",
        "(N o t i c e   o f   a   m e e t i n g) Tj",
        "[(N)-450(o)-450( )-450(o)-450(n)-450(e)] TJ",
        "[(N)-150(o)-150( )-150(o)-150(n)-150(e)] TJ",
    ],
)
def test_short_words_that_are_set_wide(drawn: str) -> None:
    page = PdfPage(operations=[f"BT /F1 12 Tf 72 700 Td {drawn} ET"])
    assert made([page]).text == ("No one" if "TJ" in drawn else "Notice of a meeting")


def test_threads_take_turns() -> None:
    data = pdf_of(prose(80))
    texts: list[str] = []
    assert at_once(*[lambda: texts.append(read_pdf(data, "x.pdf", None).text)] * 8) == []
    assert len(set(texts)) == 1


def test_a_place_names_what_viewers_call_a_page() -> None:
    pages = [PdfPage() for _ in range(4)]
    for page, word in zip(pages, ("Cover.", "Preface.", "Bees build.", "Wax melts."), strict=True):
        page.text(72, 700, word)
    labels = b" /PageLabels << /Nums [0 << /S /r >> 2 << /S /D >> 3 << /S /D /St 4 >>] >>"
    document = read_pdf(write_pdf(pages, catalogue=labels), "labelled.pdf", None)
    marks = [(mark.kind, mark.value) for mark in document.marks if mark.kind in ("page", "label")]
    assert marks == [
        *(("page", "1"), ("label", "i")),
        *(("page", "2"), ("label", "ii")),
        *(("page", "3"), ("label", "1")),
        ("page", "4"),
    ]
    at = [document.text.index(word) for word in ("Preface", "Bees", "Wax")]
    assert [place_in_words(places_at(document.marks, each)) for each in at] == [
        "page 2, labelled ii",
        "page 3, labelled 1",
        "page 4",
    ]
    assert document.page(at[1]) == 3
