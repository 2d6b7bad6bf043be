"""Dynamic forms (XFA), which have their words in XML and a notice on their only page."""

from dataclasses import replace

import pytest

from milepost.documents import locator, read_bytes
from milepost.types import READ_DEFAULTS
from support.pdf_writer import numbered

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
</field><draw presence='hidden'><value><text>No</text></value></draw></subform></template>"""
DATA = """<xfa:datasets xmlns:xfa='http://www.xfa.org/schema/xfa-data/1.0/'><xfa:data><form1>
<Person><Family>Lee</Family><Land>DE</Land></Person><Person><Family>Orr</Family></Person>
<Paid>N</Paid></form1></xfa:data></xfa:datasets>"""


def dynamic(*packets: str) -> bytes:
    """A form whose only page asks to wait; the packets are named, or one without a name."""
    streams = [b"<< /Length %d >>\nstream\n%s\nendstream" % (len(p), p.encode()) for p in packets]
    names = ("(template) 6 0 R (datasets) 7 0 R" if len(packets) > 1 else "").encode()
    content = b"BT /F1 12 Tf 50 700 Td (Please wait...) Tj ET"
    return numbered([
        b"<< /Type /Catalog /Pages 2 0 R /NeedsRendering true /AcroForm << /Fields [] /XFA "
        + (b"[" + names + b"]" if names else b"6 0 R") + b" >> >>",
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *streams,
    ])  # fmt: skip


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
