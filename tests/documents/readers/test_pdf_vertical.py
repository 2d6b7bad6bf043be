"""PDF pages whose columns run from top to bottom and follow each other from right to left."""

import re

import pytest

from milepost.types import Document
from support.pdf_writer import in_own_font, one_page, read_checked

SIZE, STEP, TOP, RIGHT = 12, 20, 500, 360

PARAGRAPHS = [
    "　第一章では、二〇二四年の夏に測定した川の水位を報告する。"
    "測定は毎朝六時に行い、担当者が記録簿に書き込んだ。",
    "　八月の初めには大雨が三日続き、水位は普段より二メートルも高くなった。"
    "「橋の下は危ない」と言われた。",
    "　測定を手伝ってくれた村の人々に感謝する。来年の予算は三百万円と見積もられている。",
]


def _glyph(x: float, y: float, character: str, *, turned: bool = False) -> tuple[str, str]:
    return f"{'0 -1 1 0' if turned else '1 0 0 1'} {x:.2f} {y:.2f}", character


def _columns(
    texts: list[str], rows: int, right: int = RIGHT, top: float = TOP
) -> list[tuple[str, str]]:
    """Set texts in columns of so many characters, each by itself, as browsers and offices do."""
    drawn = []
    for text in texts:
        for at, character in enumerate(text):
            x, y = right - at // rows * STEP, top - SIZE * (at % rows + 1)
            if character != "　":
                drawn.append(_glyph(x, y, character))
        right -= (len(text) - 1) // rows * STEP + STEP
    return drawn


def _read(drawn: list[tuple[str, str]]) -> Document:
    return read_checked(in_own_font(drawn, 1000))


@pytest.mark.parametrize("rows", [26, 31, 37])
def test_columns_follow_each_other_from_right_to_left(rows: int) -> None:
    document = _read(_columns(PARAGRAPHS, rows))
    assert document.text.split("\n\n") == [each.strip() for each in PARAGRAPHS]


def test_a_column_of_two_characters_ends_a_paragraph() -> None:
    """The page is read in rows first, so that its end and the next column change places."""
    rows = (len(PARAGRAPHS[0]) - 2) // 2
    document = _read(_columns(PARAGRAPHS, rows))
    assert document.text.split("\n\n") == [each.strip() for each in PARAGRAPHS]


def test_the_order_of_the_page_counts_where_the_file_is_written_from_the_left() -> None:
    lines = ["春の川の水位", "夏の川の水位はもっと", "秋の川の水位も低い", "冬の橋"]
    drawn = [_columns([line], 20, RIGHT - 40 * k) for k, line in enumerate(lines)]
    text = _read([glyph for column in reversed(drawn) for glyph in column]).text
    assert re.findall(r"\S+", text) == lines


def test_the_upper_columns_come_before_the_lower_ones() -> None:
    above, below = (each * 2 for each in PARAGRAPHS[:2])
    text = _read([*_columns([above], 18), *_columns([below], 18, top=240)]).text
    assert "".join(text.split()) == (above + below).replace("　", "")


def test_digits_side_by_side_and_latin_words_on_their_side() -> None:
    drawn = _columns(["平成"], 20)
    y = TOP - 3.0 * SIZE
    drawn += [_glyph(RIGHT, y, "3"), _glyph(RIGHT + SIZE / 2, y, "1")]
    drawn += _columns(["年の値は"], 20, top=y)
    y -= 4 * SIZE
    for letter in "Tokyo":
        drawn.append(_glyph(RIGHT + 2.5, y, letter, turned=True))
        y -= SIZE / 2
    drawn += _columns(["より高い。"], 20, top=y)
    assert re.sub(r"\s", "", _read(drawn).text) == "平成31年の値はTokyoより高い。"


def test_rows_on_a_page_of_columns_stay_rows() -> None:
    head = [_glyph(40 + k * SIZE, 560, letter) for k, letter in enumerate("川の報告")]
    text = _read([*head, *_columns(PARAGRAPHS, 31)]).text
    assert "川の報告" in text.split("\n\n")
    assert PARAGRAPHS[0].strip() in text


def test_a_page_of_rows_is_read_as_before() -> None:
    """Also where a column stands beside it."""
    lines = ["甲は東京へ行く。", "乙は大阪へ行く。", "丙は京都に残る。"]
    drawn = [
        _glyph(60 + k * SIZE, 500 - row * 16, sign)
        for row, line in enumerate(lines)
        for k, sign in enumerate(line)
    ]
    assert _read(drawn).text == "".join(lines)
    assert _read([*drawn, *_columns(["緊急連絡先"], 9)]).text.split() == [
        "".join(lines),
        "緊急連絡先",
    ]


def test_boxes_of_columns_are_upright() -> None:
    document = _read(_columns(PARAGRAPHS, 31))
    start = document.text.index("八月の初め")
    (box,) = document.boxes(start, start + 5)
    assert box.bottom - box.top > 3 * (box.right - box.left)


def test_chinese_and_the_marks_of_columns() -> None:
    """Brackets and stops have other signs in columns; the text has the usual ones."""
    text = _read(_columns(["他说︓﹁今天不开会︒﹂大家都很高兴︐马上回家去了︒"], 20)).text
    assert text == "他说：「今天不开会。」大家都很高兴，马上回家去了。"


def test_columns_in_a_font_that_is_not_in_the_file() -> None:
    """There are no shapes for them, so that they have no width."""
    lines = ["春と修羅の序", "わたくしといふ現象は"]
    lines += ["假定された有機交流電燈の", "ひとつの青い照明です"]
    shown = "".join(
        f"1 0 0 1 {300 - 20 * k} 500 Tm <{line.encode('utf-16-be').hex()}> Tj "
        for k, line in enumerate(lines)
    )
    stream = f"BT /F1 {SIZE} Tf {shown}ET".encode()
    font = (
        b"<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/UniJIS-UTF16-V"
        b"/DescendantFonts[6 0 R]>>",
        b"<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/FontDescriptor 7 0 R"
        b"/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>>>",
        b"<</Type/FontDescriptor/FontName/Ryumin-Light/Flags 4/FontBBox[0 -120 1000 880]"
        b"/ItalicAngle 0/Ascent 880/Descent -120/CapHeight 880/StemV 80>>",
    )
    document = read_checked(one_page(stream, *font))
    assert re.sub(r"\s", "", document.text) == "".join(lines)
