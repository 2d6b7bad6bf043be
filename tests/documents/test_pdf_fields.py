"""Form fields and notes of PDFs: what a person sees of their values."""

import pytest

from milepost.documents import read_bytes
from support.pdf_writer import numbered


def _shown(data: bytes) -> str:
    return " ".join(read_bytes(data, "a.pdf").text.split())


def test_fields_and_notes_of_pdfs() -> None:
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    box = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 13 >>\n"
        b"stream\n0 0 m 9 9 l S\nendstream"
    )
    texts = b"BT /F 12 Tf 40 605 Td (Name:) Tj ET"
    widget = b"<< /Type /Annot /Subtype /Widget /Rect [100 %d 300 %d] /DA (/F 12 Tf) /T (%d) %s >>"
    fields = [
        widget % (600, 620, 1, b"/Parent 11 0 R"),
        widget % (560, 580, 2, b"/FT /Ch /Ff 131072 /Opt [[(s) (small)] [(l) (large)]] /V (l)"),
        widget % (520, 540, 3, b"/FT /Btn /V /Yes /AS /Yes /AP << /N << /Yes 5 0 R >> >>"),
        widget % (480, 500, 4, b"/FT /Tx /Ff 16777216 /MaxLen 3 /V (123)"),
        b"<< /Type /Annot /Subtype /FreeText /Rect [100 400 300 420] /Contents (Approved \\374) >>",
    ]
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [11 0 R 7 0 R 8 0 R 9 0 R] "
        b"/DR << /Font << /F 3 0 R >> >> >> >>",
        b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
        font,
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 12 0 R /Resources "
        b"<< /Font << /F 3 0 R >> >> /Annots [6 0 R 7 0 R 8 0 R 9 0 R 10 0 R] >>",
        box,
        *fields,
        b"<< /FT /Tx /T (p) /V (Marta Lind) /Kids [6 0 R] >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(texts), texts),
    ]
    text = _shown(numbered(objects))
    assert text == "Name: Marta Lind large [x] 123 Approved ü"


@pytest.mark.parametrize(
    ("field", "wanted"),
    [
        (b"/FT /Tx /V (Marta) /AP << >>", "Marta"),
        (b"/FT /Tx /V (Marta) /AP << /N 5 0 R >>", "Marta"),  # a drawing without words
        (b"/FT /Tx /V <FEFF041C0430044004420430> /AP << /N 5 0 R >>", "Марта"),
        (b"/FT /Ch /Ff 2097152 /Opt [(red) (green) (blue)] /V [(red) (blue)]", "red, blue"),
        (b"/FT /Tx /AP << /N 5 0 R >>", ""),
    ],
)
def test_values_of_fields_without_a_drawing(field: bytes, wanted: str) -> None:
    box = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 11 >>\n"
        b"stream\n/Tx BMC EMC\nendstream"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] "
        b"/DR << /Font << /F 3 0 R >> >> >> >>",
        b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 7 0 R /Resources "
        b"<< /Font << /F 3 0 R >> >> /Annots [6 0 R] >>",
        box,
        b"<< /Type /Annot /Subtype /Widget /Rect [100 600 300 620] /DA (/F 12 Tf) /T (t) %s >>"
        % field,
        b"<< /Length 37 >>\nstream\nBT /F 12 Tf 40 605 Td (Answer:) Tj ET\nendstream",
    ]
    assert _shown(numbered(objects)) == f"Answer: {wanted}".strip()
