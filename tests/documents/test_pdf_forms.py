"""Forms in PDFs: fields and notes, and dynamic forms (XFA), which have their words in XML."""

from dataclasses import replace

import pytest

from milepost.documents import locator, read_bytes
from milepost.types import READ_DEFAULTS
from support.pdf_writer import HELVETICA, drawing, one_page, stream_of

FONTS = b"/DR << /Font << /F1 5 0 R >> >>"


def _shown(data: bytes) -> str:
    return " ".join(read_bytes(data, "a.pdf").text.split())


@pytest.mark.parametrize("kind", [b"", b"/XFA [(preamble) 13 0 R]"])  # of Adobe LiveCycle too
def test_fields_and_notes_of_pdfs(kind: bytes) -> None:
    widget = b"<< /Type /Annot /Subtype /Widget /Rect [100 %d 300 %d] /DA (/F1 12 Tf) /T (%d) %s >>"
    data = one_page(
        "BT /F1 12 Tf 40 605 Td (Name:) Tj ET",
        HELVETICA,
        drawing("0 0 m 9 9 l S", box=b"0 0 9 9"),
        widget % (600, 620, 1, b"/Parent 12 0 R"),
        widget % (560, 580, 2, b"/FT /Ch /Ff 131072 /Opt [[(s) (small)] [(l) (large)]] /V (l)"),
        widget % (520, 540, 3, b"/FT /Btn /V /Yes /AS /Yes /AP << /N << /Yes 6 0 R >> >>"),
        widget % (480, 500, 4, b"/FT /Tx /Ff 16777216 /MaxLen 3 /V (123)"),
        b"<< /Type /Annot /Subtype /FreeText /Rect [100 400 300 420] /Contents (Approved \\374) >>",
        b"<< /FT /Tx /T (p) /V (Marta Lind) /Kids [7 0 R] >>",
        stream_of("<x></x>"),
        catalogue=b"/AcroForm << /Fields [12 0 R 8 0 R 9 0 R 10 0 R] %s %s >>" % (FONTS, kind),
        page=b"/Annots [7 0 R 8 0 R 9 0 R 10 0 R 11 0 R]",
    )
    assert _shown(data) == "Name: Marta Lind large [x] 123 Approved ü"


def _typed(labels: list[tuple[int, int, str]], notes: list[tuple[int, int, str]]) -> str:
    """Read a page with labels in this order, and notes that a viewer draws at these places."""
    drawn = "\n".join(f"BT /F1 10 Tf 1 0 0 1 {x} {y} Tm ({word}) Tj ET" for x, y, word in labels)
    written = [
        f"<< /Type /Annot /Subtype /FreeText /Rect [{x} {y - 2} {x + 120} {y + 10}] /Contents "
        f"<FEFF{words.encode('utf-16-be').hex()}> >>".encode()
        for x, y, words in notes
    ]
    names = " ".join(f"{number} 0 R" for number in range(6, 6 + len(notes)))
    return _shown(one_page(drawn, HELVETICA, *written, page=b"/Annots [%s]" % names.encode()))


def test_what_is_typed_stands_at_its_label_wherever_the_file_has_that() -> None:
    """Labels of a form in two blocks, the left one first; a tick stands before its label."""
    left, right = ("Surname:", "Town:", "Phone:"), ("Company:", "Place:", "Office:")
    labels = [(72, 700 - 20 * row, label) for row, label in enumerate(left)]
    labels += [(320, 700 - 20 * row, label) for row, label in enumerate(right)]
    labels += [(90, 600, "yes"), (190, 600, "no")]
    typed = [("Meier", "Acme"), ("Bern", "Basel"), ("031", "061")]
    notes = [
        (x, 700 - 20 * row, pair[side])
        for row, pair in enumerate(typed)
        for side, x in ((0, 130), (1, 380))
    ]
    assert _typed(labels, [*notes, (178, 600, "x")]) == (
        "Surname: Meier Town: Bern Phone: 031 Company: Acme Place: Basel Office: 061 yes x no"
    )


def test_labels_above_fields_and_names_of_columns() -> None:
    """A field follows the label above it; below the names of columns, fields are rows."""
    labels = [
        (72, 700, "Surname:"),
        (320, 700, "Company:"),
        (72, 660, "Town:"),
        (320, 660, "Place:"),
    ]
    notes = [(72, 685, "Meier"), (320, 685, "Acme"), (72, 645, "Bern"), (320, 645, "Basel")]
    assert _typed(labels, notes) == "Surname: Meier Company: Acme Town: Bern Place: Basel"
    table = [(72, 685, "Bolts"), (320, 685, "12"), (72, 670, "Nuts"), (320, 670, "40")]
    names = [(72, 700, "Item"), (320, 700, "Pieces")]
    assert _typed(names, table) == "Item Pieces Bolts 12 Nuts 40"


def test_long_answers_are_no_column_of_text() -> None:
    labels = [(72, 700 - 30 * row, f"Question of this form, number {row}") for row in range(4)]
    answers = [(320, 700 - 30 * row, f"an answer as long, {row}") for row in range(4)]
    pairs = zip(labels, answers, strict=True)
    wanted = " ".join(f"{label} {answer}" for (*_, label), (*_, answer) in pairs)
    assert _typed(labels, answers) == wanted


@pytest.mark.parametrize("words", ["Łódź, Şişli, Ωmega", "Пётр", "النهر الكبير 12", "תודה רבה"])
def test_typed_letters_that_the_font_has_not(words: str) -> None:
    label = "Name and address of the owner:"
    assert _typed([(72, 700, label)], [(240, 700, words)]) == f"{label} {words}"


@pytest.mark.parametrize(
    ("field", "wanted"),
    [
        (b"/FT /Tx /V (Marta) /AP << >>", "Marta"),
        (b"/FT /Tx /V (Marta) /AP << /N 6 0 R >>", "Marta"),  # a drawing without words
        (b"/FT /Tx /V <FEFF041C0430044004420430> /AP << /N 6 0 R >>", "Марта"),
        (b"/FT /Ch /Ff 2097152 /Opt [(red) (green) (blue)] /V [(red) (blue)]", "red, blue"),
        (b"/FT /Tx /AP << /N 6 0 R >>", ""),
        (b"/FT /Tx /AP << /N 8 0 R >>", "Answer:"),  # words in a drawing alone
        (b"/FT /Sig /V << /Name (Marta) >> /AP << /N 8 0 R >>", "Answer:"),
        (b"/FT /Btn /Ff 65536 /AP << /N 8 0 R >>", ""),
        (b"/Contents (Answer:) /AP << /N 8 0 R >>", "Answer:"),  # a note, which is no field
    ],
)
def test_values_of_fields_without_a_drawing(field: bytes, wanted: str) -> None:
    label = "BT /F1 12 Tf 40 605 Td (Answer:) Tj ET"
    kind = b"FreeText" if b"/Contents" in field else b"Widget"
    drawn = b"<< /Type /Annot /Subtype /%s /Rect [100 600 300 620] /DA (/F1 12 Tf) /T (t) %s >>"
    data = one_page(
        label,
        HELVETICA,
        drawing("/Tx BMC EMC", box=b"0 0 9 9"),
        drawn % (kind, field),
        drawing(label, box=b"0 595 200 615"),
        catalogue=b"/AcroForm << /Fields [7 0 R] %s >>" % FONTS,
        page=b"/Annots [7 0 R]",
    )
    assert _shown(data) == f"Answer: {wanted}".strip()


TEMPLATE = """<template xmlns='http://www.xfa.org/schema/xfa-template/3.3/'>
<subform name='form1'><pageSet><pageArea><draw><value><text>Footer</text></value></draw></pageArea>
</pageSet><draw><value><exData><body xmlns='http://www.w3.org/1999/xhtml'><p>Visa <b>form</b></p>
</body></exData></value></draw>
<subform name='Person'><field name='Family'><ui><textEdit/></ui>
<caption><value><text>Family name:</text></value></caption></field>
<field name='Land'><ui><choiceList/></ui><caption><value><text>Land</text></value></caption>
<items save='1'><text>FR</text><text>DE</text></items><items><text>France</text><text>Germany</text>
</items></field></subform>
<exclGroup name='Paid'><field name='a'><ui><checkButton/></ui><items><text>Y</text></items>
<caption><value><text>paid</text></value></caption></field><field name='b'><ui><checkButton/></ui>
<items><text>N</text></items><caption><value><text>not paid</text></value></caption></field>
</exclGroup><field name='Go'><ui><button/></ui><caption><value><text>Send</text></value></caption>
</field><draw><value><image>SUkqAOMI</image></value></draw>
<draw presence='hidden'><value><text>No</text></value></draw></subform></template>"""
DATA = """<xfa:datasets xmlns:xfa='http://www.xfa.org/schema/xfa-data/1.0/'><xfa:data><form1>
<Person><Family>Lee</Family><Land>DE</Land></Person><Person><Family>Orr</Family></Person>
<Paid>N</Paid></form1></xfa:data></xfa:datasets>"""


def dynamic(*packets: str) -> bytes:
    """A form whose only page asks to wait; the packets are named, or one without a name."""
    named = b"[(template) 6 0 R (datasets) 7 0 R]" if len(packets) > 1 else b"6 0 R"
    return one_page(
        "BT /F1 12 Tf 50 700 Td (Please wait...) Tj ET",
        HELVETICA,
        *map(stream_of, packets),
        catalogue=b"/NeedsRendering true /AcroForm << /Fields [] /XFA %s >>" % named,
    )


@pytest.mark.parametrize(
    "packets", [(TEMPLATE, DATA), (f"<xdp:xdp xmlns:xdp='x'>{TEMPLATE}{DATA}</xdp:xdp>",)]
)
def test_a_dynamic_form_is_read_from_its_template_and_data(packets: tuple[str, ...]) -> None:
    document = read_bytes(dynamic(*packets), "form.pdf")
    lines = ["Visa form", "Family name: Lee", "Land Germany", "Family name: Orr", "Land",
             "☐ paid", "☒ not paid"]  # fmt: skip
    assert document.text.split("\n\n") == lines
    assert "XFA" in document.notes[0]
    assert locator(replace(document, source="form.pdf"), READ_DEFAULTS) is None


def test_a_dynamic_form_that_is_damaged_has_the_text_of_its_page() -> None:
    document = read_bytes(dynamic(TEMPLATE[:500], DATA), "form.pdf")
    assert document.text.strip() == "Please wait..."
    assert "XFA" in document.notes[0]
