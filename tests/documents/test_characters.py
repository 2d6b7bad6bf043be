"""Encodings, line breaks and superscripts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.documents import breaks, read_bytes, split
from milepost.documents.encoding import decode
from milepost.documents.readers.scripts import lowered, raised, shown
from milepost.errors import UnreadableFile
from support.office_writer import opendocument, word
from support.pdf_writer import PdfPage, write_pdf

GERMAN = "Die Straße führt über den Fluß. Er wäre gern früher gekommen, äußerte er später.\n" * 5
FRENCH = "L'été dernier, la forêt était très agréable à traverser; où êtes-vous allés?\n" * 5
RUSSIAN = "Стандарт определяет требования к безопасности приложений и служб.\n" * 5
JAPANESE = "日本語の文章です。これは漢字とひらがなとカタカナを含みます。\n" * 5


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((GERMAN, f"utf-{name}") for name in ("8", "8-sig", "16", "16-le", "16-be", "32")),
        *((GERMAN, "cp1252"), (FRENCH, "cp1252"), (FRENCH, "iso-8859-1")),
        *((RUSSIAN, name) for name in ("koi8-r", "cp1251", "utf-16-le")),
        (f"From: chess@example.org\n{'A line of ASCII.' * 400}\n{RUSSIAN * 40}", "koi8-r"),
        (f"<div class='a wide column of the page'>{JAPANESE.strip()}</div>" * 40, "cp932"),
        *((JAPANESE, name) for name in ("cp932", "euc-jp")),
        # Few letters
        ("場所は駅です。", "iso2022_jp"),
        ("장소는 역입니다.", "iso2022_kr"),
        ("Место: вокзал.", "utf_7"),
        ("地点是车站。", "utf-16-le"),
        ("地点是车站，明天见。", "utf-16-be"),
        ("Где ключ от дома?", "koi8-r"),
        ("Где ключ от дома?", "cp866"),
        ("איפה המפתח של הבית?", "cp1255"),
        ("Πού είναι το κλειδί;", "cp1253"),
        ("我們明天在車站見面。", "big5"),
        ("駅で会いましょう。", "euc_jp"),
        ("역에서 만납시다.", "cp949"),
        ("การประชุมเริ่มวันศุกร์", "utf-16-be"),
        ("The library", "utf-32-le"),
        ("Ключ", "utf-32-be"),
        ("Zażółć gęślą jaźń w piątek.", "iso8859-2"),
        ("Toplantı cuma günü üçte başlıyor. Iğdır.", "cp1254"),
        ("A sheet of 5 ± 3 µm, ½ of it • “thin”.", "cp1252"),
        ("Der Brunnen ist für Fußgänger schön.", "cp437"),
    ],
)
def test_encodings_are_found(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "a.txt")[0] == text


def test_a_guess_is_told() -> None:
    assert decode(RUSSIAN.encode("koi8-r"), "a.txt")[1] == ("read as koi8-r, a guess",)
    assert decode(RUSSIAN.encode("utf-8"), "a.txt")[1] == ()


def test_what_the_file_says_is_believed() -> None:
    """A declared encoding is used, in the sense browsers give its name."""
    data = "“Ærø”".encode("cp1252")
    assert decode(data, "a.html", "iso-8859-1") == ("“Ærø”", ())
    assert decode(data, "a.html", "no-such-thing")[0]
    assert decode(b"plain", "a.html", "hex") == ("plain", ())


def test_a_few_broken_bytes_are_told_not_fatal() -> None:
    text, notes = decode((GERMAN * 3).encode() + b"\xff end", "a.txt")
    assert text.startswith(GERMAN)
    assert notes == ("1 place could not be decoded as utf-8",)


def test_newlines_and_marks_are_made_plain() -> None:
    assert decode(b"a\r\nb\rc\nd", "a.txt")[0] == "a\nb\nc\nd"
    assert decode("\ufeffa\ufeffb".encode(), "a.txt")[0] == "ab"
    assert decode(b"\xff\xfea\0\0\xd8b\0", "a.txt")[0] == "a\ufffdb"


@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 40, b"\0" * 100, b"\x7fELF\x02\x01\x01" + b"\0\x01\x02\x03" * 99]
)
def test_binary_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"thing\.bin"):
        decode(data, "thing.bin")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_clean_text_or_one_error(data: bytes) -> None:
    try:
        text, _ = decode(data, "x")
    except UnreadableFile:
        return
    assert not set(text) & {"\0", "\r", "\ufeff"}
    text.encode("utf-8")


def test_declared_encodings_of_seven_bits() -> None:
    """Their bytes are ASCII, which does not make them ASCII."""
    for text, encoding in (("京都", "iso2022_jp"), ("北京", "hz"), ("Zürich", "utf-7")):
        assert decode(text.encode(encoding), "a.txt", encoding)[0] == text
    assert decode(b"a ~{ b ~} c", "a.txt")[0] == "a ~{ b ~} c"


@settings(max_examples=80, deadline=None)
@given(
    st.text(
        alphabet=st.sampled_from("ab .!?“”»)]」。！।॥؟۔։።។༎อไ한あ、…—\n") | st.characters(),
        max_size=50,
    )
)
def test_borders_are_those_of_the_full_search(text: str) -> None:
    found = split(text)
    shortcut = breaks._BEYOND
    try:
        breaks._BEYOND = breaks.re.compile("")
        assert split(text) == found
    finally:
        breaks._BEYOND = shortcut


@pytest.mark.parametrize(
    ("marked", "wanted"),
    [
        (f"fees of 50 {raised('2')} euros, 10 {raised('3')}", "fees of 50 ^2 euros, 10 ^3"),
        (f"the fees {raised('3')}.", "the fees [3]."),
        (
            f"Lee{raised('a')}, Bo Ek{raised('b,c')}, Roy{raised('dd1')}",
            "Lee[a], Bo Ek[b,c], Roy[dd1]",
        ),
        (
            f"XIV{raised('e')}, M{raised('me')}, Capt{raised('n')}, XVI{raised('a')}",
            "XIVe, Mme, Captn, XVIa",
        ),
        (f"20% to 33 {raised('1/3')}%, 1 − {raised('1')}/n", "20% to 33 1/3%, 1 − 1/n"),
        (f"ε = {raised('1')} 2, Lausanne {raised('2')})", "ε = 1 2, Lausanne 2)"),
        (f"3 x 10{raised('8')} m s{raised('-1')}", "3 x 10^8 m s^-1"),
        (f"1{raised('st')} of 2{raised('n')} and x{raised('n+1')}", "1st of 2^n and x^(n+1)"),
        (f"The end.{raised('4')} A word{raised('5, 6')} more", "The end.[4] A word[5, 6] more"),
        (f"H{lowered('2')}O, 10{lowered('2')}, log{lowered('10')}5", "H2O, 10_2, log_(10)5"),
        (f"2{raised('1')}/{lowered('2')} cups of {raised('14')}C", "2 1/2 cups of ^14C"),
        (f"1{raised('0')}{raised('6')}", "1^06"),
        (f"le 2{raised('e')}, 1{raised('a')}, 2{raised('º')}, 3{raised('d')}", "le 2e, 1a, 2º, 3d"),
        (f"XIX{raised('e')}, 1{raised('er')}, 1,001{raised('st')}", "XIXe, 1er, 1,001st"),
        (f"1,100{raised('a')} of 1 200{raised('e')}", "1,100^a of 1 200^e"),
        (f"$12{raised('d')}, in 2024{raised('e')}", "$12^d, in 2024^e"),
        (f"12{raised('a')}", "12^a"),  # the cell of a table
        (f"{raised('1')}By day. {raised('11')}We see {raised('3')}He", "1 By day. 11 We see ^3He"),
        (f"{raised('131')}I and {raised('13')}C decay", "^131I and ^13C decay"),
    ],
)
def test_forms(marked: str, wanted: str) -> None:
    assert shown(marked) == wanted


def _pdf() -> bytes:
    page = PdfPage()
    page.operations.append(
        "BT /F1 12 Tf 72 700 Td (It has 10) Tj /F1 7 Tf 5 Ts (9) Tj /F1 12 Tf 0 Ts ( cells.) Tj ET"
    )
    page.text(72, 600, "Another line of plain words.", 12)
    return write_pdf([page])


FILES = {
    "a.html": b"<p>It has 10<sup>9</sup> cells.</p>",
    "b.html": b"<p>It has 10<span style='vertical-align: super'>9</span> cells.</p>",
    "a.rtf": rb"{\rtf1 It has 10{\super 9} cells.}",
    "a.docx": word(
        "<w:p><w:r><w:t>It has 10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr>"
        "<w:t>9</w:t></w:r><w:r><w:t xml:space='preserve'> cells.</w:t></w:r></w:p>"
    ),
    "a.odt": opendocument(
        "text",
        "<text:p>It has 10<text:span text:style-name='T1'>9</text:span> cells.</text:p>",
        "<style:style style:name='T1'><style:text-properties style:text-position='super 58%'/>"
        "</style:style>",
    ),
    "a.pdf": _pdf(),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format(name: str) -> None:
    """10 to the power of 9 is not 109."""
    assert "It has 10^9 cells." in read_bytes(FILES[name], name).text
