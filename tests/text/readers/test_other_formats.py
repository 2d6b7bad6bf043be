"""Books, mails and saved pages of programs that do not keep to the standards; RTF; slides."""

from __future__ import annotations

import json

import pytest

from milepost.errors import UnreadableFile
from milepost.text import read_bytes
from support.office_writer import opendocument, zipped

MAIL = (
    b"From: a@x.org\nSubject: Well\nContent-Type: text/plain; charset=utf-8\n\nThe well is dry.\n"
)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\xef\xbb\xbf" + MAIL, "a.eml"),
        (b"\r\n\n" + MAIL, "a.eml"),
        (MAIL.decode().encode("utf-16"), "a.eml"),
        (b"99   \n" + MAIL + b"<?xml version='1.0'?><plist/>", "a.emlx"),
        (b"From a Mon Jun  1 10:00:00 2009\n\nThe well is dry.\n", "a.mbox"),
        (
            b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=B\n\n--B\n"
            b"Content-Type: text/html\n\n<p>The well is dry.</p>\n--B--\n",
            "a.mht",
        ),
        (
            b"<?xml version='1.0'?><FictionBook xmlns='f'><body><section><p>The well is dry.</p>"
            b"</section></body></FictionBook>",
            "a.fb2",
        ),
        (
            b"<?xml version='1.0'?><office:document xmlns:office='o' xmlns:text='t'><office:body>"
            b"<office:text><text:p>The well is dry.</text:p></office:text></office:body>"
            b"</office:document>",
            "a.fodt",
        ),
    ],
)
def test_files_of_other_programs(data: bytes, name: str) -> None:
    """They are read, and not as their source."""
    text = read_bytes(data, name).text
    assert "The well is dry." in text
    assert not any(sign in text for sign in ("<", "boundary", "Content-Type"))


def _mixed(kind: str, *parts: str) -> bytes:
    body = "".join(f"--A\n{part}\n" for part in parts)
    return f"From: a@x.org\nSubject: S\nContent-Type: {kind}; boundary=A\n\n{body}--A--\n".encode()


def test_alternatives() -> None:
    """A text that only says that there is HTML is not the text; attachments are not lost."""
    page = "Content-Type: text/html\n\n<p>We moved to Mill Street.</p>"
    stub = "Content-Type: text/plain\n\nPlease enable HTML."
    assert "Mill Street" in read_bytes(_mixed("multipart/alternative", stub, page), "a.eml").text
    inner = (
        "Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: text/html\n\n<p>See.</p>"
        "\n--B\nContent-Type: text/csv\nContent-Disposition: attachment; filename=a.csv\n\n"
        "Step,Day\nDig,Monday\n--B--"
    )
    plain = "Content-Type: text/plain\n\nSee it."
    text = read_bytes(_mixed("multipart/alternative", plain, inner), "a.eml").text
    assert "Step: Dig | Day: Monday" in text


def test_encrypted_mail_is_told() -> None:
    """There is a note, because nothing else says that the mail has a text."""
    data = _mixed("multipart/encrypted", "Content-Type: application/octet-stream\n\nxx")
    assert any("encrypted" in note for note in read_bytes(data, "a.eml").notes)


def test_headers_in_raw_bytes() -> None:
    """Letters that are not encoded have the encoding of the text."""
    data = "From: a@x.org\nSubject: Über Öl\nContent-Type: text/plain; charset=latin1\n\nÖl.\n"
    assert read_bytes(data.encode("latin-1"), "a.eml").text.startswith("Über Öl")


@pytest.mark.parametrize(
    ("package", "page", "kind"),
    [
        ("book.opf", "Text/One.xhtml", "application/xhtml+xml"),
        ("book.opf", "one.html", "text/x-oeb1-document"),
    ],
)
def test_books(package: str, page: str, kind: str) -> None:
    """Paths that differ in case, old types of pages, a bare ampersand."""
    parts = {
        "META-INF/container.xml": f"<c><rootfile full-path='{package}'/></c>",
        package: f"<p><metadata><title>Jam & Tea&nbsp;</title></metadata><manifest><item id='a' "
        f"href='{page}' media-type='{kind}'/></manifest><spine><itemref idref='a'/></spine></p>",
        page.lower(): "<html><body><p>The lamp burned.</p></body></html>",
    }
    assert read_bytes(zipped(parts), "a.epub").text == "The lamp burned."


def test_rich_text() -> None:
    """Hidden text, pictures, footnotes, text boxes and the numbers of items."""
    data = (
        rb"{\rtf1\ansi Open {\v secret }part.{\footnote Small print.}\par"
        rb"{\pict\pngblip 89504e47}{\*\shppict{\pict{\*\picprop}8950}}"
        rb"{\listtext 2.\tab}Second\par{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt Boxed.\par}}}"
        rb"{\deleted gone}{\strike old }End.\par}"
    )
    document = read_bytes(data, "a.rtf")
    assert document.text == "Open part.\n\nSmall print.\n2. Second\n\nEnd.\n\nBoxed."
    assert "struck-out" in document.notes[0]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        # A picture of bytes, among them zeros and braces; the words after it were lost.
        (rb"Before {\pict\jpegblip\bin9 " + b"\0}\0{\0\\\0}\0" + rb"}after.\par", "Before after."),
        # A star that opens no group.
        (rb"{\i0\*\cs7\cf0 The well} is dry.\par", "The well is dry."),
        # A row that has no end.
        (rb"{\f0 Name\cell Depth\cell }", "Name | Depth"),
    ],
)
def test_rich_text_of_other_programs(body: bytes, wanted: str) -> None:
    """Pictures stored as bytes, stray stars, rows without an end."""
    assert read_bytes(rb"{\rtf1\ansi " + body + b"}", "a.rtf").text == wanted


def test_open_documents() -> None:
    """Hidden paragraphs and sections are left out."""
    body = (
        "<text:p>Open.</text:p><text:p><text:hidden-paragraph text:is-hidden='true'/>No.</text:p>"
        "<text:section text:display='none'><text:p>Hidden.</text:p></text:section>"
    )
    assert read_bytes(opendocument("text", body), "a.odt").text == "Open."


def test_output_of_notebooks() -> None:
    """Formatted output is read; printed lines are as a terminal shows them."""
    outputs = [
        {"data": {"text/html": "<table><tr><td>Oslo<td>7</table>", "text/plain": "<HTML>"}},
        {"data": {"text/markdown": "The mean is **4**."}},
        {"output_type": "stream", "text": "10%\r100%\n"},
    ]
    cell = {"cell_type": "code", "source": "x", "outputs": outputs}
    text = read_bytes(json.dumps({"cells": [cell]}).encode(), "a.ipynb").text
    assert text == "x\nOslo | 7\n\nThe mean is **4**.\n\n100%"


def test_documents_in_xml_are_named() -> None:
    """Old Office files in XML are refused with a hint."""
    data = b"<?xml version='1.0'?><w:wordDocument xmlns:w='w'/>"
    with pytest.raises(UnreadableFile, match="a document in XML"):
        read_bytes(data, "a.xml")
