"""Good files of every format: those of the shared data, and small ones written here."""

import io
import json
import re
import time
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

from support.office_writer import epub, opendocument, pptx, shape, slide_table, word, xlsx
from support.ole_writer import msg, xls
from support.pdf_writer import PdfPage, write_pdf

LARGE = 150_000
"""Bytes of a file that takes long to read: it stays for few cases, a part of it for many."""

LINES = [f"Line {n}: the bridge over the river was opened in {1800 + n}." for n in range(12)]
ROWS = [["Item", "Euro", "Date"], *([f"Bolt {n}", 1.5 * n, "2026-03-01"] for n in range(20))]


def originals(folder: Path | None) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Small files for most cases, and large ones for some.

    Args:
        folder: the shared files; None leaves only what is written here.
    """
    small, large = written(), {}
    for path in sorted(folder.iterdir()) if folder else []:
        data = path.read_bytes()
        if len(data) < LARGE and path.suffix != ".pdf":
            small[path.name] = data
            continue
        large[path.name] = data
        if path.suffix == ".pdf" and (part := first_page(data)) is not None:
            small[f"page-{path.name}"] = part
        elif path.suffix == ".html":
            small[f"part-{path.name}"] = data[: LARGE // 3]
    return small, large


def first_page(data: bytes) -> bytes | None:
    """The first page of a PDF as a file; None where it has none, or needs a password."""
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(data) as whole, pypdfium2.PdfDocument.new() as single:
            single.import_pages(whole, [0])
            out = io.BytesIO()
            single.save(out)
    except pypdfium2.PdfiumError:
        return None
    # The library writes an id and a date of its own into each file.
    own = rb"/ID ?\[.*?\]|/CreationDate\(.*?\)"
    return re.sub(own, lambda found: b" " * len(found[0]), out.getvalue(), flags=re.DOTALL)


def written() -> dict[str, bytes]:
    """Small files of the formats that the shared data lack, made by the tests' writers."""
    text = "\n".join(LINES)
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{c}</text:p></table:table-cell>'
            for c in row
        )
        + "</table:table-row>"
        for row in ROWS
    )
    page = PdfPage()
    page.lines(72, 700, LINES)
    pdf = write_pdf([page, page], outline=[("One", 0), ("Two", 1)])
    slides = [shape(*LINES[:3], kind="title") + slide_table([["a", "b"], ["c", "d"]])] * 3
    workbook = xlsx({"Costs": ROWS, "Empty": []})
    table = f'<table:table table:name="C">{cells}</table:table>'
    rtf = r"{\rtf1\ansi{\fonttbl\f0 Arial;}\f0 " + r"\par ".join(LINES) + "}"
    made = {
        "deck.pptx": pptx(slides, notes={0: shape("A note.")}),
        "costs.xlsx": workbook,
        "old.xls": xls([[str(c) for c in row] for row in ROWS]),
        "costs.ods": opendocument("spreadsheet", table),
        "letter.odt": opendocument("text", "".join(f"<text:p>{line}</text:p>" for line in LINES)),
        "note.docx": word("".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in LINES)),
        "book.epub": epub(),
        "two.pdf": pdf,
        "mail.eml": mail({"plan.pdf": pdf, "costs.xlsx": dated(workbook), "t.txt": text.encode()}),
        "box.mbox": b"".join(
            b"From a@b.example Mon Mar  2 10:00:00 2026\n" + mail({"t.txt": b"Attached."}) + b"\n"
            for _ in range(3)
        ),
        "outlook.msg": msg(
            "Plan", text, ("A", "a@x.example"), ("B", "b@x.example"),
            datetime(2026, 3, 1, tzinfo=UTC), {"plan.pdf": pdf, "t.txt": text.encode()},
            page=f"<p>{text}</p>".encode(),
        ),
        "work.ipynb": json.dumps(_notebook()).encode(),
        "rows.csv": "\n".join(",".join(map(str, row)) for row in ROWS).encode(),
        "rows.tsv": "\n".join("\t".join(map(str, row)) for row in ROWS).encode(),
        "rows.jsonl": "\n".join(json.dumps({"a": row}) for row in ROWS).encode(),
        "film.srt": "\n".join(f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\n{line}\n"
                              for n, line in enumerate(LINES)).encode(),
        "film.vtt": b"WEBVTT\n\n00:01.000 --> 00:04.000\nA line.\n",
        "run.log": text.encode(),
        "letter.rtf": rtf.encode(),
    }  # fmt: skip
    return {name: dated(data) for name, data in made.items()} | pictures()


def dated(data: bytes) -> bytes:
    """A zip file whose parts have one date, so that the same seed makes the same bytes."""
    if not data.startswith(b"PK"):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return packed({part: archive.read(part) for part in archive.namelist()})


def packed(parts: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for part, data in parts.items():
            archive.writestr(zipfile.ZipInfo(part), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def pictures() -> dict[str, bytes]:
    """Pictures of lines of text, and scans; none without Pillow."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        return {}
    page = Image.new("L", (500, 120), 255)
    for number, line in enumerate(LINES[:4]):
        ImageDraw.Draw(page).text((10, 10 + 25 * number), line, fill=0)
    made = {}
    for suffix, options in (
        ("png", {}), ("jpg", {}), ("gif", {}), ("tif", {"save_all": True, "append_images": [page]}),
        ("pdf", {"creationDate": time.gmtime(0), "modDate": time.gmtime(0)}),
    ):  # fmt: skip
        out = io.BytesIO()
        page.save(out, {"jpg": "JPEG", "tif": "TIFF"}.get(suffix, suffix.upper()), **options)
        made[f"scan.{suffix}"] = out.getvalue()
    return made


def mail(attachments: dict[str, bytes], subject: str = "Plan") -> bytes:
    made = EmailMessage()
    made["Subject"], made["From"], made["To"] = subject, "a@x.example", "b@x.example"
    made["Date"] = "Mon, 02 Mar 2026 10:00:00 +0000"
    made.set_content("\n".join(LINES))
    for name, data in attachments.items():
        made.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    # The borders that the library would draw by chance differ from run to run.
    made.set_boundary("border-of-the-parts")
    return made.as_bytes()


def _notebook() -> dict[str, object]:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Head\n", LINES[0]]},
        {
            "cell_type": "code", "metadata": {}, "execution_count": 1, "source": "print(1)",
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}],
        },
    ]  # fmt: skip
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
