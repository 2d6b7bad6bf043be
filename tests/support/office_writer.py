"""Writes small Office files for the tests: the parts that a reader needs, and no more."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
ODF = "urn:oasis:names:tc:opendocument:xmlns"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """An archive of one time: its bytes name tests, which all workers of xdist must name alike."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def with_parts(data: bytes, parts: Mapping[str, str | bytes]) -> bytes:
    """The same archive with these parts beside its own or in their place."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        held: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    return zipped({**held, **parts})


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    links = "".join(
        f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{RELATIONS}">{links}</Relationships>'


def shape(*paragraphs: str, kind: str | None = None) -> str:
    place = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>' if kind else ""
    lines = "".join(f"<a:p><a:r><a:t>{escape(words)}</a:t></a:r></a:p>" for words in paragraphs)
    return f"<p:sp>{place}<p:txBody>{lines}</p:txBody></p:sp>"


def slide_table(rows: Sequence[Sequence[str]]) -> str:
    written = "".join(
        "<a:tr>"
        + "".join(
            f"<a:tc><a:txBody><a:p><a:r><a:t>{escape(cell)}</a:t></a:r></a:p></a:txBody></a:tc>"
            for cell in row
        )
        + "</a:tr>"
        for row in rows
    )
    return f"<p:graphicFrame><a:graphic><a:tbl>{written}</a:tbl></a:graphic></p:graphicFrame>"


def pptx(
    slides: Sequence[str],
    *,
    order: Sequence[int] | None = None,
    notes: Mapping[int, str] | None = None,
    links: Mapping[int, Mapping[str, tuple[str, str]]] | None = None,
    parts: Mapping[str, str] | None = None,
) -> bytes:
    """A deck of slides, each its shapes, in the order of the parts.

    ``order`` has their numbers (from 0) as they are shown; ``notes`` are shapes, too, and ``links``
    more relations, by the number of a slide; ``parts`` are more parts.
    """
    space = f'xmlns:p="urn:p" xmlns:a="{DRAWING}" xmlns:r="{OFFICE}" xmlns:c="urn:c"'
    made: dict[str, str | bytes] = dict(parts or {})
    targets = {}
    for number, shapes in enumerate(slides):
        targets[f"rId{number}"] = ("slide", f"slides/slide{number}.xml")
        made[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {space}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
        own = dict((links or {}).get(number, {}))
        if notes and number in notes:
            own["rIdN"] = ("notesSlide", f"../notesSlides/n{number}.xml")
            made[f"ppt/notesSlides/n{number}.xml"] = (
                f"<p:notes {space}><p:cSld><p:spTree>{notes[number]}</p:spTree></p:cSld></p:notes>"
            )
        made[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(own)
    shown = "".join(
        f'<p:sldId id="{256 + number}" r:id="rId{number}"/>'
        for number in (range(len(slides)) if order is None else order)
    )
    made["ppt/presentation.xml"] = (
        f"<p:presentation {space}><p:sldIdLst>{shown}</p:sldIdLst></p:presentation>"
    )
    made["ppt/_rels/presentation.xml.rels"] = relations(targets)
    return zipped(made)


def column(number: int) -> str:
    name = ""
    while number >= 0:
        name = chr(65 + number % 26) + name
        number = number // 26 - 1
    return name


def xlsx(
    sheets: Mapping[str, str | Sequence[Sequence[str | float | None]]], styles: str = ""
) -> bytes:
    """A workbook; a sheet is its rows, or the XML of its data; ``styles`` is XML, too."""
    books, targets, made = "", {}, {}
    if styles:
        targets["styles"] = ("styles", "styles.xml")
        made["xl/styles.xml"] = f'<styleSheet xmlns="{SHEET}">{styles}</styleSheet>'
    for number, (name, rows) in enumerate(sheets.items(), 1):
        books += f'<sheet name="{escape(name)}" sheetId="{number}" r:id="r{number}"/>'
        targets[f"r{number}"] = ("worksheet", f"worksheets/sheet{number}.xml")
        data = rows if isinstance(rows, str) else _rows(rows)
        made[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{SHEET}"><sheetData>{data}</sheetData></worksheet>'
        )
    return zipped(
        {
            "_rels/.rels": relations({"r1": ("officeDocument", "xl/workbook.xml")}),
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}">'
            f"<sheets>{books}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(targets),
            **made,
        }
    )


def _rows(rows: Sequence[Sequence[str | float | None]]) -> str:
    written = ""
    for number, row in enumerate(rows, 1):
        cells = ""
        for place, cell in enumerate(row):
            at = f'r="{column(place)}{number}"'
            if isinstance(cell, str):
                text = f'<t xml:space="preserve">{escape(cell)}</t>'
                cells += f'<c {at} t="inlineStr"><is>{text}</is></c>'
            elif cell is not None:
                cells += f"<c {at}><v>{cell}</v></c>"
        written += f'<row r="{number}">{cells}</row>'
    return written


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def run(words: str, properties: str = "") -> str:
    """Words of a Word file in one look."""
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{words}</w:t></w:r>"


def word(
    body: str, *, part: str = "word/document.xml", namespace: str = W, more: Mapping[str, str] = {}
) -> bytes:
    """A Word file with a body; ``more`` are its other parts by their kind, such as numbering."""
    folder, _, name = part.rpartition("/")
    kinds = {kind: (kind, f"{kind}.xml") for kind in more}
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return zipped(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
            f'content-types"><Override PartName="/{part}" ContentType="{main}"/></Types>',
            "_rels/.rels": relations({"r": ("officeDocument", part)}),
            part: f'<w:document xmlns:w="{namespace}"><w:body>{body}</w:body></w:document>',
            f"{folder}/_rels/{name}.rels": relations(kinds),
            **{f"{folder}/{kind}.xml": content for kind, content in more.items()},
        }
    )


def opendocument(kind: str, body: str, styles: str = "", *, manifest: str = "") -> bytes:
    """An OpenDocument file: kind ``text``, ``presentation`` or ``spreadsheet``, and its body."""
    spaces = " ".join(
        f'xmlns:{name}="{ODF}:{full}:1.0"'
        for name, full in {
            "office": "office", "text": "text", "table": "table", "draw": "drawing",
            "presentation": "presentation", "manifest": "manifest", "style": "style",
        }.items()
    )  # fmt: skip
    entry = (
        '<manifest:file-entry manifest:full-path="/" '
        f'manifest:media-type="application/vnd.oasis.opendocument.{kind}"/>'
    )
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "META-INF/manifest.xml": f"<manifest:manifest {spaces}>{entry}{manifest}"
            "</manifest:manifest>",
            "content.xml": f"<office:document-content {spaces}>{styles}<office:body>"
            f"<office:{kind}>{body}"
            f"</office:{kind}></office:body></office:document-content>",
        }
    )


def epub(**more: str) -> bytes:
    """A book of two chapters; ``more`` are other parts, or others in their place."""
    chapters = {
        "one.xhtml": "<html xmlns='http://www.w3.org/1999/xhtml'><head><title/></head>"
        "<body><h1>One</h1><p>First.</p></body></html>",
        "two two.xhtml": "<html><body><h2>Two</h2><p>Second.</p></body></html>",
    }
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": "<container xmlns='x'><rootfiles>"
            "<rootfile full-path='O/book.opf'/></rootfiles></container>",
            "O/book.opf": "<package><manifest>"
            "<item id='n' href='nav.xhtml' media-type='application/xhtml+xml' properties='nav'/>"
            "<item id='b' href='two%20two.xhtml' media-type='application/xhtml+xml'/>"
            "<item id='a' href='one.xhtml' media-type='application/xhtml+xml'/></manifest>"
            "<spine><itemref idref='n'/><itemref idref='a'/><itemref idref='b'/></spine></package>",
            **{f"O/{name}": page for name, page in chapters.items()},
            **more,
        }
    )


def written_rows(row: str, cell: str, rows: Sequence[Sequence[str]]) -> str:
    """Rows in the forms given, each with one ``{}``."""
    return "".join(row.format("".join(cell.format(each) for each in line)) for line in rows)


def table_files(rows: Sequence[Sequence[str]], caption: str = "") -> dict[str, bytes]:
    """A table in every format that has tables, under a caption except on a slide."""
    above = [[caption]] if caption else []
    title = f"<caption>{caption}</caption>" if caption else ""
    words = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    word_rows = written_rows("<w:tr>{}</w:tr>", f"<w:tc>{words}</w:tc>", rows)
    open_rows = written_rows(
        "<table:table-row>{}</table:table-row>",
        "<table:table-cell><text:p>{}</text:p></table:table-cell>",
        rows,
    )
    head = f"<thead>{written_rows('<tr>{}</tr>', '<th>{}</th>', rows[:1])}</thead>"
    body = written_rows("<tr>{}</tr>", "<td>{}</td>", rows[1:])
    marked = written_rows("|{}\n", " {} |", (rows[0], ["-"] * len(rows[0]), *rows[1:]))
    quoted = [[f'"{cell}"' if "," in cell else cell for cell in row] for row in (*above, *rows)]
    return {
        "a.csv": "\n".join(map(",".join, quoted)).encode(),
        "a.xlsx": xlsx({"One": [*above, *([cell or None for cell in row] for row in rows)]}),
        "a.docx": word((words.format(caption) if caption else "") + f"<w:tbl>{word_rows}</w:tbl>"),
        "a.odt": opendocument(
            "text",
            (f"<text:p>{caption}</text:p>" if caption else "")
            + f"<table:table>{open_rows}</table:table>",
        ),
        "a.html": f"<table>{title}{head}{body}</table>".encode(),
        "a.md": f"{caption}\n\n{marked}".lstrip().encode(),
        "a.pptx": pptx([slide_table(rows)]),
    }
