"""Writes small PDFs for the tests (one standard font, no compression), and checks documents."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from milepost.documents.readers.pdf.read import read_pdf
from milepost.types import Document

Row = Iterable[tuple[str, float]]
Rule = tuple[float, float, float]
HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


@dataclass
class PdfPage:
    """A page to be written: ``text`` puts one line, x and y in points from the bottom left.

    ``forms`` are drawn by ``/X0 Do`` and so on; ``/G0 gs`` makes what follows transparent.
    """

    width: float = 612
    height: float = 792
    rotate: int = 0
    operations: list[str] = field(default_factory=list)
    crop: tuple[int, int, int, int] | None = None
    forms: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, size: float = 10, *, bold: bool = False) -> None:
        escaped = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        font = "F2" if bold else "F1"
        self.operations.append(f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({escaped}) Tj ET")

    def picture(self, x: float, y: float, width: float, height: float, grey: int = 200) -> None:
        self.operations.append(
            f"q {width} 0 0 {height} {x} {y} cm BI /W 1 /H 1 /CS /G /BPC 8 /F /AHx ID "
            f"{grey:02x}> EI Q"
        )

    def lines(
        self, x: float, y: float, lines: list[str], size: float = 10, step: float = 12
    ) -> None:
        for number, line in enumerate(lines):
            self.text(x, y - number * step, line, size)

    def rows(self, y: float, rows: Iterable[Row], step: float = 14) -> None:
        """Write rows of words, each with its x."""
        for number, row in enumerate(rows):
            for words, x in row:
                self.text(x, y - number * step, words)

    def rule(self, across: Iterable[Rule], down: Iterable[Rule] = ()) -> None:
        """Draw lines: y and the ends of each line across, x and the ends of each one down."""
        self.operations += [f"{left} {y} m {right} {y} l S" for y, left, right in across]
        self.operations += [f"{x} {low} m {x} {high} l S" for x, low, high in down]


def write_pdf(
    pages: list[PdfPage], outline: list[tuple[str, int]] | None = None, catalogue: bytes = b""
) -> bytes:
    """Write the pages; ``outline`` is titles and page indexes, ``catalogue`` more entries there."""
    objects: list[bytes] = [b""] * 4
    objects[2:] = HELVETICA, HELVETICA.replace(b"Helvetica", b"Helvetica-Bold")
    kids = []
    for page in pages:
        forms = ""
        for number, form in enumerate(page.forms):
            head = (
                b"/Type /XObject /Subtype /Form /BBox [0 0 %d %d] /Resources "
                b"<< /Font << /F1 3 0 R /F2 4 0 R >> >>"
            )
            objects.append(stream_of(form, head % (page.width, page.height)))
            forms += f"/X{number} {len(objects)} 0 R "
        objects.append(stream_of("\n".join(page.operations)))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /CropBox [%d %d %d %d] /Rotate %d "
            b"/Contents %d 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> /XObject << %s>> "
            b"/ExtGState << /G0 << /ca 0 /CA 0 >> >> >> >>"
            % (
                page.width,
                page.height,
                *(page.crop or (0, 0, page.width, page.height)),
                page.rotate,
                len(objects),
                forms.encode(),
            )
        )
        kids.append(len(objects))
    refs = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), refs)
    root = b"<< /Type /Catalog /Pages 2 0 R" + catalogue
    if outline:
        first = len(objects) + 2
        last = first + len(outline) - 1
        objects.append(b"<< /First %d 0 R /Last %d 0 R /Count %d >>" % (first, last, len(outline)))
        root += b" /Outlines %d 0 R" % (first - 1)
        for number, (title, page_index) in enumerate(outline):
            following = (
                b"/Next %d 0 R " % (first + number + 1) if number + 1 < len(outline) else b""
            )
            objects.append(
                b"<< /Title (%s) /Parent %d 0 R %s/Dest [%d 0 R /XYZ 0 792 0] >>"
                % (title.encode("ascii"), first - 1, following, kids[page_index])
            )
    objects[0] = root + b" >>"
    return numbered(objects)


def pdf_of(
    *pages: list[str], x: float = 72, y: float = 700, size: float = 10, step: float = 12
) -> bytes:
    """A PDF with these lines on its pages."""
    made = [PdfPage() for _ in pages]
    for page, lines in zip(made, pages, strict=True):
        page.lines(x, y, lines, size, step)
    return write_pdf(made)


def numbered(objects: list[bytes]) -> bytes:
    """Write a file of numbered objects; the first is the catalogue."""
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start, size = len(out), len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return bytes(out)


def stream_of(content: str | bytes, head: bytes = b"") -> bytes:
    """An object with this content; ``head`` are more entries of its dictionary."""
    data = content.encode("cp1252") if isinstance(content, str) else content
    return b"<<%s/Length %d>>\nstream\n%s\nendstream" % (head, len(data), data)


def drawing(content: str, more: bytes = b"", *, box: bytes = b"0 0 612 792") -> bytes:
    """What ``Do``, a note or a field of ``one_page`` draws; ``more`` are entries, too."""
    head = b"/Type/XObject/Subtype/Form/BBox[%s]/Resources<</Font<</F1 5 0 R>>>>%s"
    return stream_of(content, head % (box, more))


def one_page(
    content: str | bytes,
    *objects: bytes,
    catalogue: bytes = b"",
    page: bytes = b"",
    resources: bytes = b"",
) -> bytes:
    """A page with this content; its font and what else there is are objects 5, 6 and so on.

    ``catalogue``, ``page`` and ``resources`` are more entries there.
    """
    return numbered(
        [
            b"<</Type/Catalog/Pages 2 0 R%s>>" % catalogue,
            b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
            b"/Resources<</Font<</F1 5 0 R>>%s>>%s>>" % (resources, page),
            stream_of(content),
            *objects,
        ]
    )


def in_own_font(pieces: list[tuple[str, str]], wide: int) -> bytes:
    """A page of pieces of text, each with its matrix, in a font that says their letters itself.

    Letters beyond ASCII are so wide, in thousandths of their size; others 500.
    """
    letters = sorted({letter for _, piece in pieces for letter in piece})
    codes = dict(zip(letters, [*range(33, 127), *range(161, 256)], strict=False))
    stream = " ".join(
        f"BT /F1 12 Tf {matrix} Tm <{''.join(f'{codes[each]:02x}' for each in piece)}> Tj ET"
        for matrix, piece in pieces
    )
    of_code = {code: letter for letter, code in codes.items()}
    widths = " ".join(
        "500" if of_code.get(code, "川").isascii() else str(wide) for code in range(33, 256)
    )
    names = [f"<{code:02x}><{each.encode('utf-16-be').hex()}>" for each, code in codes.items()]
    mapped = "".join(
        f"{len(part)} beginbfchar {' '.join(part)} endbfchar "
        for part in (names[at : at + 100] for at in range(0, len(names), 100))
    )
    mapping = f"begincmap 1 begincodespacerange <00><ff> endcodespacerange {mapped}endcmap"
    font = (
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/FirstChar 33"
        b"/LastChar 255/Widths[%s]/ToUnicode 6 0 R>>" % widths.encode()
    )
    return one_page(stream, font, stream_of(mapping))


def with_stream_table(data: bytes) -> bytes:
    """The same file with its table of objects as a stream (PDF 1.5)."""
    start = int(re.findall(rb"startxref\n(\d+)", data)[-1])
    rows = [int(place) for place in re.findall(rb"(\d{10}) 00000 n", data[start:])]
    size = len(rows) + 2
    table = b"\0\0\0\0\0\0" + b"".join(
        b"\x01" + place.to_bytes(4, "big") + b"\0" for place in (*rows, start)
    )
    return data[:start] + (
        b"%d 0 obj\n<< /Type /XRef /Size %d /Root 1 0 R /W [1 4 1] /Length %d >>\nstream\n%s\n"
        b"endstream\nendobj\nstartxref\n%d\n%%%%EOF\n" % (size - 1, size, len(table), table, start)
    )


def check_document(document: Document) -> None:
    """Check what holds for every document a PDF gives."""
    text = document.text
    offsets = [mark.offset for mark in document.marks]
    assert offsets == sorted(offsets)
    for mark in document.marks:  # a page without text at the end begins there
        assert 0 <= mark.offset < len(text) + (mark.kind == "page")
    assert list(document.blocks) == sorted(set(document.blocks))
    assert all(not text[at].isspace() for at in document.blocks)
    assert all(at == 0 or text[at - 1] == "\n" for at in document.blocks)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff\ufb00-\ufb06]", text)
    assert not re.search(r"\n{3}|  | \n|\n ", text)
    pages = [int(mark.value) for mark in document.marks if mark.kind == "page"]
    assert pages == sorted(set(pages))


WORDS = (
    "the quick brown fox jumps over a lazy dog while seven grey geese fly slowly across that wide "
    "river and nobody on either bank looks up from his work to see them pass into morning light "
)


def prose(words: int, start: int = 0) -> list[str]:
    """Lines of about 40 characters."""
    stream = (WORDS * 20).split()[start : start + words]
    lines, line = [], ""
    for word in stream:
        if len(line) + len(word) > 40:
            lines.append(line.strip())
            line = ""
        line += word + " "
    return [*lines, line.strip()]


def read_checked(data: bytes) -> Document:
    document = read_pdf(data, "made.pdf", None)
    check_document(document)
    return document


def made(pages: list[PdfPage], outline: list[tuple[str, int]] | None = None) -> Document:
    return read_checked(write_pdf(pages, outline))
