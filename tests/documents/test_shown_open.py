"""What is read of OpenDocument texts is what a person sees."""

import pytest

from support.office_writer import opendocument
from support.shown import shown


def span(properties: str, body: str, family: str = "text") -> bytes:
    style = (
        f"<style:style style:name='X' style:family='{family}'><style:text-properties {properties}/>"
        "</style:style><style:style style:name='Y'><style:text-properties text:display='true'/>"
        "</style:style>"
    )
    return opendocument("text", body, style)


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (span("style:text-position='super 58%'", "<text:p>10<text:span text:style-name='X'>9"
              "</text:span></text:p>"), "10^9"),
        (span("style:text-line-through-type='double'", "<text:p>A<text:span text:style-name='X'>no"
              "</text:span></text:p>"), "A"),
        (span("style:text-line-through-style='solid'", "<text:p text:style-name='X'>no</text:p>"),
         ""),
        (span("text:display='none'", "<text:p text:style-name='X'>no<text:span "
              "text:style-name='Y'>A</text:span></text:p>"), "A"),
        (span("", "<text:p>A<draw:rect><text:p>b</text:p></draw:rect>c</text:p>"), "Ac b"),
        (span("", "<text:p>1712<text:note-ref>4</text:note-ref></text:p>"), "1712[4]"),
        (span("", "<text:p><text:meta><text:title>A</text:title></text:meta><text:page-count>1"
              "</text:page-count><svg:title xmlns:svg='svg'>no</svg:title></text:p>"), "A1"),
        (span("text:display='none'", "<text:p>A<text:span text:style-name='X'><text:note><text:p>no"
              "</text:p></text:note></text:span></text:p>"), "A"),
        (opendocument("presentation", "<draw:page><draw:g><draw:frame draw:y='9cm'><text:p>b"
                      "</text:p></draw:frame></draw:g><draw:frame draw:y='1cm'><text:p>A</text:p>"
                      "</draw:frame></draw:page>"), "A b"),
        (opendocument("presentation", "<draw:page><draw:g><draw:desc/><draw:rect draw:y='9cm'>"
                      "<text:p>d</text:p></draw:rect><draw:rect draw:y='7cm'><text:p>c</text:p>"
                      "</draw:rect></draw:g><draw:connector draw:x1='3cm' draw:y1='5cm' "
                      "draw:x2='3cm' draw:y2='6cm'><text:p>b</text:p></draw:connector><draw:rect "
                      "draw:y='1cm'><text:p>A</text:p></draw:rect></draw:page>"), "A b c d"),
        (opendocument("presentation", "<draw:page><draw:frame draw:transform='rotate (1) translate "
                      "(1cm 9cm)'><text:p>b</text:p></draw:frame><draw:frame draw:y='1cm'>"
                      "<text:p>A</text:p></draw:frame></draw:page>"), "A b"),
        (span("", "<text:p>A<text:expression text:display='none'>no</text:expression></text:p>"),
         "A"),
        (span("style:font-name='Symbol'", "<text:p><text:span text:style-name='X'>m</text:span>g"
              "</text:p>"), "µg"),
    ],
)  # fmt: skip
def test_open_documents(data: bytes, wanted: str) -> None:
    assert shown(data, "a.odt") == wanted


def test_form_fields_of_open_documents() -> None:
    body = (
        "<office:forms><form:form xmlns:form='f'><form:text form:id='c' form:current-value='Lind'/>"
        "<form:hidden form:id='h' form:value='no'/><form:textarea form:id='t'><text:p>A</text:p>"
        "</form:textarea><form:checkbox form:id='b' form:disabled='true' form:label='B'/>"
        "<form:radio form:id='r' form:selected='true' form:label='R'/></form:form></office:forms>"
        "<text:p><draw:control draw:control='b'/> <draw:control draw:control='r'/> Name: "
        "<draw:control draw:control='c'/><draw:control draw:control='h'/>, "
        "<draw:control draw:control='t'/><text:fieldmark text:type='FORMCHECKBOX'>"
        "<text:param text:name='Checkbox_Checked' text:value='true'/></text:fieldmark></text:p>"
    )
    assert shown(opendocument("text", body), "a.odt") == "☐ B ☒ R Name: Lind, A☒"
