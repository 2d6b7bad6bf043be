"""Files made to harm: bombs, endless nesting, loops, names that lead elsewhere."""

import io
import json
import random
import zipfile
import zlib
from collections.abc import Callable

from faults.originals import dated, mail
from support.office_writer import SHEET, opendocument, pptx, shape, word, xlsx, zipped

SECRET = "the secret of another file"
"""Text of the file that hostile files try to reach; see ``files.py``."""

SECRET_FILE = "/tmp/milepost-stress-secret.txt"
"""Where it is."""

ENTITIES = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">'
    + b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10))
    + f'<!ENTITY file SYSTEM "file://{SECRET_FILE}">]>'.encode()
)
"""A billion laughs, and an entity that names another file."""

TRAVERSAL = ("../../../../tmp/milepost-stress-out.txt", "/tmp/milepost-stress-out.txt",
             "..\\..\\out.txt", "C:\\out.txt", "a\nb.txt", "\x00.txt", "CON",
             "\x1b[2J\x1b]0;title\x07.txt", "\u202etxt.exe")  # fmt: skip
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def one(rng: random.Random) -> tuple[str, bytes]:
    """Name and bytes of one of them."""
    name, data = rng.choice(CRAFTED)(rng)
    return name, data if name.startswith("bomb") else dated(data)


def _depth(rng: random.Random) -> int:
    return rng.choice([100, 1000, 10_000, 200_000])


def nested_xml(rng: random.Random) -> tuple[str, bytes]:
    n = _depth(rng)
    body = "<w:p>" * n + "<w:r><w:t>deep</w:t></w:r>" + "</w:p>" * n
    return "deep.docx", word(body)


def nested_text(rng: random.Random) -> tuple[str, bytes]:
    n = _depth(rng)
    return rng.choice(
        [
            ("deep.html", b"<html><body>" + b"<div>" * n + b"text"),
            ("deep.html", b"<html><table><tr><td>" * min(n, 20_000) + b"text"),
            ("deep.ipynb", b'{"cells": ' + b"[" * n + b"]" * n + b"}"),
            ("deep.jsonl", b"[" * n + b"]" * n),
            ("deep.md", b">" * n + b" text\n" + b"- " * n + b"#" * n),
            ("deep.rtf", b"{\\rtf1 " + b"{\\b " * n + b"text" + b"}" * n),
            ("deep.odt", opendocument("text", "<text:p>" * n + "x" + "</text:p>" * n)),
            ("deep.pptx", pptx([shape("x") + "<p:grpSp>" * n + "</p:grpSp>" * n])),
            ("deep.pdf", b"%PDF-1.4\n1 0 obj " + b"[" * n + b"]" * n + b" endobj\ntrailer"
             b"<</Root 1 0 R>>\n%%EOF"),
        ]
    )  # fmt: skip


def nested_mail(rng: random.Random) -> tuple[str, bytes]:
    n = rng.choice([10, 100, 1000])
    lines = []
    for level in range(n):
        lines += [f'Content-Type: multipart/mixed; boundary="b{level}"', "", f"--b{level}"]
    return "deep.eml", ("Subject: deep\n" + "\n".join([*lines, "", "text"])).encode()


def entities(rng: random.Random) -> tuple[str, bytes]:
    body = ENTITIES.decode()
    use = "&l9; &file;"
    return rng.choice(
        [
            ("laugh.docx", zipped({"word/document.xml": f"{body}<w:document {WORD}><w:body><w:p>"
             f"<w:r><w:t>{use}</w:t></w:r></w:p></w:body></w:document>"})),
            ("laugh.xhtml", f"{body}<html><body><p>{use}</p></body></html>".encode()),
            ("laugh.odt", zipped({"mimetype": "application/vnd.oasis.opendocument.text",
             "content.xml": f"{body}<a>{use}</a>"})),
            ("laugh.epub", zipped({"META-INF/container.xml": f"{body}<a>{use}</a>"})),
            ("laugh.xlsx", zipped({"xl/workbook.xml": f"{body}<workbook>{use}</workbook>"})),
            ("laugh.pptx", zipped({"ppt/presentation.xml": f"{body}<p>{use}</p>"})),
        ]
    )  # fmt: skip


def bomb(rng: random.Random) -> tuple[str, bytes]:
    """A part of up to 1.5 GiB of blanks, whose size is right or a lie."""
    blanks = rng.choice([50, 300, 1500]) << 20
    name, part = rng.choice(
        [("bomb.docx", "word/document.xml"), ("bomb.epub", "META-INF/container.xml"),
         ("bomb.xlsx", "xl/workbook.xml"), ("bomb.pptx", "ppt/presentation.xml"),
         ("bomb.odt", "content.xml")]
    )  # fmt: skip
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(part, "w") as file,
    ):
        file.write(b"<a>")
        for _ in range(blanks >> 20):
            file.write(b" " * (1 << 20))
    data = out.getvalue()
    if rng.random() < 0.5:  # says that it is small
        size = (blanks + 3).to_bytes(4, "little")
        data = data.replace(size, (1000).to_bytes(4, "little"))
    return name, data


def pdf_bomb(rng: random.Random) -> tuple[str, bytes]:
    """Contents that unpack to hundreds of MiB: of blanks, or of letters drawn in one place."""
    filler = rng.choice([b" " * (1 << 20), b"BT /F1 9 Tf (abc) Tj ET\n" * 2000])
    pack = zlib.compressobj(1)
    times = rng.choice([2, 20, 200])
    stream = b"".join(pack.compress(filler) for _ in range(times)) + pack.flush()
    return "bomb.pdf", _pdf(
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
        b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
    )


def pdf_pages(rng: random.Random) -> tuple[str, bytes]:
    """A huge count of pages, pages that hold themselves, a thousand pages of nothing."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]>>"
    n = rng.choice([1000, 5000])
    return "pages.pdf", rng.choice(
        [
            _pdf(b"<</Type/Pages/Count 2147483647/Kids[3 0 R]>>", page),
            _pdf(b"<</Type/Pages/Count 99999/Kids[2 0 R 3 0 R 2 0 R]>>", page),
            _pdf(b"<</Type/Pages/Count %d/Kids[%s]>>" % (n, b"3 0 R " * n), page),
            _pdf(b"<</Type/Pages/Count -5/Kids[3 0 R]>>", page.replace(b"600 800", b"1e9 1e9")),
            _pdf(b"<</Type/Pages/Count 1/Kids[3 0 R]/Parent 2 0 R>>", b"3 0 R"),
        ]
    )


def sheet_bomb(rng: random.Random) -> tuple[str, bytes]:
    """Cells far away, rows that repeat millions of times, shared strings that are not there."""
    cell = '<row r="{0}"><c r="{1}" t="{2}"><v>{3}</v></c></row>'
    far = '<row r="1"><c r="A1"><v>1</v></c></row>'
    repeated = 'table:number-rows-repeated="1048576" table:number-columns-repeated="16384"'
    return rng.choice(
        [
            ("far.xlsx", xlsx({"S": far + cell.format(1048576, "XFD1048576", "n", 1)})),
            ("far.xlsx", xlsx({"S": far + cell.format(4294967295, "ZZZ4294967295", "n", 1)})),
            ("lost.xlsx", xlsx({"S": cell.format(1, "A1", "s", 99999999)})),
            ("wide.xlsx", xlsx({f"S{n}": far for n in range(300)})),
            ("dates.xlsx", zipped({"xl/workbook.xml": f'<workbook xmlns="{SHEET}"/>'})),
            ("many.ods", opendocument("spreadsheet", f"<table:table><table:table-row {repeated}>"
             f"<table:table-cell {repeated}><text:p>x</text:p></table:table-cell>"
             "</table:table-row></table:table>")),
        ]
    )  # fmt: skip


def names(rng: random.Random) -> tuple[str, bytes]:
    """Names of parts and attachments that lead out of a folder."""
    bad = rng.choice(TRAVERSAL)
    if rng.random() < 0.5:
        safe = bad.replace("\n", "%0A").replace("\x00", "%00")
        content = rng.choice([b"text", b"\x00\x01\x02"])
        return "names.eml", mail({"a.txt": content}).replace(b'"a.txt"', f'"{safe}"'.encode())
    return "names.docx", zipped({bad.replace("\x00", ""): "out", "word/document.xml": "<a/>"})


def long_lines(rng: random.Random) -> tuple[str, bytes]:
    """Much of what is cheap to write: one word, one line, one sign, of up to 2 MB."""
    size = rng.choice([10_000, 200_000, 2_000_000])
    unit = rng.choice([b"a", b"a ", b"\n", b". ", b"\t", b"<", b"&amp;", b"(", b"Mr. ",
                       b"\xcc\x81", b"\xe2\x80\xae", b"1,", b'"', b"| ",
                       b"=?utf-8?q?", b"A. B! C? "])  # fmt: skip
    suffix = rng.choice(["txt", "md", "html", "csv", "eml", "rtf", "rst", "jsonl"])
    start = {"html": b"<html>", "rtf": b"{\\rtf1 ", "eml": b"Subject: a\n\n"}.get(suffix, b"")
    return f"long.{suffix}", start + unit * (size // len(unit))


def pictures(rng: random.Random) -> tuple[str, bytes]:
    """Pictures that say they are huge, and a notebook whose output is one."""
    side = rng.choice([30_000, 2**31 - 1]).to_bytes(4, "big")
    chunk = b"IHDR" + side + side + b"\x08\x00\x00\x00\x00"
    png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\r" + chunk + zlib.crc32(chunk).to_bytes(4, "big")
    cell = {"cell_type": "code", "source": 5, "outputs": [{"data": {"image/png": "x" * 99}}] * 9}
    return rng.choice(
        [("huge.png", png), ("odd.ipynb", json.dumps({"cells": [cell, None, 3, "x"]}).encode())]
    )


def _pdf(*objects: bytes) -> bytes:
    """A PDF of a catalog and these objects, the first the tree of pages; PDFium finds the rest."""
    out = b"%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n"
    for number, body in enumerate(objects, 2):
        out += b"%d 0 obj %s endobj\n" % (number, body)
    return out + b"trailer <</Root 1 0 R/Size %d>>\n%%%%EOF\n" % (len(objects) + 2)


CRAFTED: tuple[Callable[[random.Random], tuple[str, bytes]], ...] = (
    nested_xml, nested_text, nested_text, nested_mail, entities, bomb, pdf_bomb, pdf_pages,
    sheet_bomb, names, long_lines, long_lines, pictures,
)  # fmt: skip
