"""Choose the reader of a file by its first bytes, or else by its suffix."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from inspect import signature
from pathlib import Path, PurePath
from typing import cast

from milepost._typed import typed
from milepost.documents import zotero
from milepost.documents.sidecar import with_sidecar
from milepost.errors import MilepostError, UnreadableFile, in_words, locked, missing_file
from milepost.objects import is_address
from milepost.properties import merged
from milepost.types import READ_DEFAULTS, Document, Hidden, Ocr, OnPage, ReadOptions
from milepost.wording import CONTROL

TEXT_VERSION = 23
"""Raised if a file gives another text or other marks than before, so that indexes in the cache are
made anew."""

_FORMATS = {
    "plain": ("plain.read_plain", ""),
    "rows": ("plain.read_rows", ".log"),
    "json": ("plain.read_json", ".json .jsonl .ndjson"),
    "subtitles": ("subtitles.read_subtitles", ".srt .vtt"),
    "calendar": ("calendars.read_calendar", ".ics"),
    "headed": (
        "plain.read_headed",
        ".rst .rest .adoc .asc .asciidoc .org .tex .mediawiki .pod .textile",
    ),
    "markdown": ("markdown.read_markdown", ".md .markdown .mdown .mkd .mkdn .rmd .qmd .mdx"),
    "html": ("html.read_html", ".html .htm .xhtml"),
    "docx": ("docx.read_docx", ".docx .docm .dotx .dotm"),
    "epub": ("epub.read_epub", ".epub"),
    "slides": ("slides.read_slides", ".pptx .pptm .ppsx .ppsm .potx .potm"),
    "opendocument": ("opendocument.read_opendocument", ".odt .odp .ott .otp .fodt .fodp"),
    "sheets": ("sheets.read_sheets", ".xlsx .xlsm .xlsb .xls .xltx .xltm .ods .ots .fods"),
    "delimited": ("table.read_delimited", ".csv .tsv"),
    "rtf": ("rtf.read_rtf", ".rtf"),
    "notebook": ("notebook.read_notebook", ".ipynb"),
    "eml": ("mail.read_eml", ".eml .emlx"),
    "mbox": ("mail.read_mbox", ".mbox"),
    "msg": ("outlook.read_msg", ".msg"),
    "saved page": ("html.read_saved_page", ".mht .mhtml"),
    "fiction book": ("fiction_book.read_fiction_book", ".fb2"),
    "picture": ("picture.read_picture", ".png .jpg .jpeg .tif .tiff .gif"),
    "pdf": ("pdf.read.read_pdf", ".pdf"),
}
"""The reader of each format, and the suffixes of its files."""

SUFFIXES = {suffix: name for name, (_, held) in _FORMATS.items() for suffix in held.split()}
"""Format of each suffix; files with other suffixes are plain text, if they are text."""

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of an old Office container."""

_AGAIN = "open and save it again"
_LONGEST = 200  # characters of a library's message, which may quote the whole file

_Reader = Callable[..., Document]

_CONVERT = "convert it to text, PDF, HTML, docx or epub"
_REFUSED = (
    ("a picture", (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*"), "--ocr auto"),
    ("a sound, film or picture", (b"RIFF",), _CONVERT),
    (
        "a compressed archive",
        (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!"),
        "unpack it first",
    ),
    ("a database", (b"SQLite format 3\0",), _CONVERT),
    ("a program", (b"\x7fELF", b"MZ\x90"), _CONVERT),
    ("a compiled help file", (b"ITSF",), _CONVERT),
    ("a DjVu scan", (b"AT&TFORM",), "convert it to PDF"),
)
"""What is refused, the bytes that such files begin with, and what to do."""

_HEAD = 8192  # bytes that tell the format

_CONTAINERS = {
    "pdf", "docx", "epub", "slides", "opendocument", "sheets", "msg", "picture", "fiction book",
}  # fmt: skip
"""Formats that are recognised only by their bytes, not by the suffix."""

_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_FRAGMENT = re.compile(rb"\s*<(?:body|center|div|font|head|meta|p|style|table|title)[\s>]", re.I)
"""A page without its first tags, which office programs open by any suffix of theirs."""

_XML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*>\s*|<!--.{0,2000}?-->\s*|<!DOCTYPE[^>\[]*>\s*)*"
    rb"<(office:document|(?:\w+:)?FictionBook|w:wordDocument|pkg:package|Workbook)[\s>]",
    re.DOTALL,
)
"""Documents that are one XML file: of LibreOffice, of readers for books, of old Office."""

_READ_XML = {b"FictionBook": "fiction book", b"office:document": "opendocument"}

_BODY = re.compile(rb"<office:body\b[^>]*>\s*<office:(\w+)")
"""The kind of an open document; in its body may be documents of other kinds."""
_SAVED = re.compile(
    rb"\s*(?:(?:Date|Message-ID|Subject|MIME-Version|X-[\w-]+): .*\n)*"
    rb"(?:From: <?Saved by|Content-Type: multipart/related)",
    re.I,
)
_MAIL = re.compile(rb"\s*[\w-]+: (?:[^\r\n]+\r?\n)*?(?:From|To|Subject|Date): ", re.I)
_MIME = re.compile(rb"(?:[^\r\n]+\r?\n)*?MIME-Version: ", re.I)
_RECORDS = re.compile(rb'\s*(?:\{\s*".*\}\s*\n){2}')  # JSON, one object a line
_BINARY = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
_MBOX = re.compile(rb"From \S+ [^\r\n]*\d\d:\d\d[^\r\n]*\d\r?\n[\w-]+:")


@typed
def read(path: str | os.PathLike[str], *, hidden: Hidden = "drop", ocr: Ocr = "never") -> Document:
    """Read one file.

    Args:
        path: the file, or the address of an object (``s3://BUCKET/KEY``, ``gs://``, ``az://``).
        hidden: ``"drop"`` leaves out and ``"keep"`` keeps text in PDFs that is not visible on the
            page (invisible, white on white, off the page, smaller than a point, in a layer that is
            off, under a box or picture). The notes of the document say how much there is.
        ocr: the PDF pages that are read by text recognition: ``"auto"`` those with an image and
            hardly any text, ``"never"`` none, ``"always"`` all. Image files are read unless it is
            ``"never"``. Text recognition needs the extra ``ocr`` and takes seconds per page.

    Returns:
        The document; its name and source are the absolute path, or the address. Its properties
        come from the file, from Zotero for a file in its storage, and from the sidecar,
        ``NAME.meta.json`` or ``NAME.meta.yaml``; later sources override earlier ones.

    Raises:
        UnreadableFile: the file is missing, empty, binary, encrypted, damaged …
        MissingExtra: text recognition is requested and the extra ``ocr`` is not installed, or an
            address is given and the extra ``objects`` is not.
        InputError: ``hidden`` or ``ocr`` has an unknown value.
    """
    return read_file(path, ReadOptions(hidden, ocr))


def read_file(
    path: str | os.PathLike[str], options: ReadOptions, on_page: OnPage | None = None
) -> Document:
    """Read one file, or object; ``on_page`` is called before text recognition of each page."""
    if is_address(path):
        from milepost.documents.prefixes import read_address  # imports this module

        return read_address(path, options, on_page)
    # abspath, not resolve, so that a link keeps its own name.
    absolute = os.path.abspath(path)  # noqa: PTH100
    try:
        refuse_device(path)
        data = Path(absolute).read_bytes()
    except (FileNotFoundError, ValueError) as error:  # a name with a NUL is none
        raise missing_file(path) from error
    except IsADirectoryError as error:
        raise UnreadableFile(f"{path or absolute} is a folder", "the files in it") from error
    except PermissionError as error:
        raise UnreadableFile(f"no permission to read {path}", f"chmod u+r {path}") from error
    except OSError as error:
        raise UnreadableFile(
            f"{path} cannot be read: {error.strerror}", "check the disk"
        ) from error
    return described(read_bytes(data, absolute, absolute, options, on_page), absolute)


def refuse_device(path: str | os.PathLike[str]) -> None:
    """Refuse what may never end, or can be read only once."""
    found = Path(path)
    if found.is_char_device() or found.is_block_device():
        raise UnreadableFile(f"{path} is a device", "a file")
    if found.is_fifo():
        raise UnreadableFile(f"{path} is a pipe", "COMMAND | milepost …, with - as its PATH")


def described(document: Document, path: str) -> Document:
    """Add the properties that Zotero and the sidecar have for a file."""
    if known := zotero.described(path):
        document = replace(document, properties=merged(document.properties, known))
    return with_sidecar(document, path)


def read_bytes(
    data: bytes,
    name: str,
    source: str | None = None,
    options: ReadOptions = READ_DEFAULTS,
    on_page: OnPage | None = None,
) -> Document:
    """Read a file from its bytes; ``name`` names the document and has the suffix."""
    if not data:
        raise UnreadableFile(f"{name} is empty (0 bytes)", "save or download it again")
    try:
        reader = _reader(format_of(data, name, options))
        offered = {"options": options, "on_page": on_page}
        taken = offered.keys() & signature(reader).parameters
        document = reader(data, name, source, **{key: offered[key] for key in taken})
    except RecursionError as error:
        raise UnreadableFile(
            f"{name} is damaged: its parts are nested too deeply", "save it again"
        ) from error
    except (MilepostError, OSError, MemoryError, ImportError):
        raise
    except Exception as error:  # any error of a library, so that the other files are read
        said = one_line(in_words(error))[:_LONGEST]
        raise UnreadableFile(f"{name} is damaged: its reader failed ({said})", _AGAIN) from error
    return replace(harmless(document), hash=hashlib.sha256(data).hexdigest())


def format_of(data: bytes, name: str, options: ReadOptions) -> str:
    """Detect the format of a file by its content, or else by its suffix."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(data, name)
    if data.startswith(OLE):
        return _old_office(data, name)
    if data.startswith(b"{\\rtf"):
        return "rtf"
    for kind, beginnings, hint in _REFUSED:
        if data.startswith(beginnings):
            if kind == "a picture" and options.ocr != "never":
                return "picture"
            raise UnreadableFile(f"{name} is {kind}", hint)
    head = data[:_HEAD]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.decode("utf-16", "ignore").encode()
    suffix = PurePath(name).suffix.lower()
    if _HTML.match(head) or (suffix in (".doc", ".xls") and _FRAGMENT.match(head)):
        return "html"
    if xml := _XML.match(head):
        known = b"FictionBook" if xml[1].endswith(b"FictionBook") else xml[1]
        if known not in _READ_XML:
            raise UnreadableFile(f"{name} is a document in XML", "save it as docx, odt or xlsx")
        return "sheets" if _has_sheets(data) else _READ_XML[known]
    chosen = SUFFIXES.get(suffix, "plain")
    if suffix == ".xls" and b"\0" not in head:  # programs of sheets open text with this suffix
        return "delimited"
    if chosen == "msg" and _MAIL.match(head):
        return "eml"
    if chosen in _CONTAINERS:
        mend = "save it again" if _BINARY.search(head) else "rename it to .txt or .csv: it is text"
        raise UnreadableFile(f"{name} is not a {suffix[1:]} file, in spite of its suffix", mend)
    if chosen == "plain" and head.startswith(b"BEGIN:VCALENDAR"):
        return "calendar"
    if chosen == "plain" and _MBOX.match(data[:1024]):
        return "mbox"
    if chosen == "plain" and _RECORDS.match(head):
        return "json"
    if b"\t" in head and suffix in ("", ".txt", ".tab", ".dat"):
        from milepost.documents.readers.table import is_tabbed

        if is_tabbed(head.decode("utf-8", "replace"), is_whole=len(data) <= _HEAD):
            return "delimited"
    if chosen in ("plain", "html") and _SAVED.match(data[:1024]):
        return "saved page"
    if chosen == "plain" and _MAIL.match(head) and _MIME.match(head):
        return "eml"
    return chosen


def _has_sheets(held: bytes) -> bool:
    """Whether the content of an open document, or its type, is that of a spreadsheet."""
    body = _BODY.search(held)
    return held.startswith(b"application/vnd.oasis.opendocument.spreadsheet") or (
        body is not None and body[1] == b"spreadsheet"
    )


def _zipped(data: bytes, name: str) -> str:
    from milepost.documents.readers.archive import Archive
    from milepost.documents.readers.office import main_part

    archive = Archive(data, name)
    parts = archive.parts
    if archive.find("META-INF/container.xml") or any(part.endswith(".opf") for part in parts):
        return "epub"
    main = main_part(archive)
    if main is not None:
        return main[1]
    if any(part.startswith("xl/") for part in parts):
        return "sheets"
    if sum(part.endswith(".fb2") for part in parts) == 1:
        return "fiction book"
    if "content.xml" in parts:
        held = archive.read("mimetype" if "mimetype" in parts else "content.xml")
        return "sheets" if _has_sheets(held) else "opendocument"
    if any(part.endswith(".iwa") for part in parts):
        raise UnreadableFile(f"{name} is a file of Pages, Numbers or Keynote", _CONVERT)
    raise UnreadableFile(f"{name} is a zip archive", "unpack it first")


def _reader(format_name: str) -> _Reader:
    """Import the reader of a format, which imports its library."""
    module, _, function = _FORMATS[format_name][0].rpartition(".")
    return cast(_Reader, getattr(import_module(f"milepost.documents.readers.{module}"), function))


def one_line(words: str) -> str:
    r"""Put words in one line, without control characters.

    >>> one_line("plan\x1b[2J.pdf")
    'plan [2J.pdf'
    """
    return " ".join(CONTROL.sub(" ", words).split())


def harmless(document: Document) -> Document:
    """Put headings, places and notes of a document in one line; its text is not changed.

    Callers print them in messages, where a name in a mail must not control the terminal.
    """
    notes = tuple(map(one_line, document.notes))
    marks = document.marks
    if any(CONTROL.search(mark.value) for mark in marks):
        marks = tuple(replace(mark, value=one_line(mark.value)) for mark in marks)
    return replace(document, notes=notes, marks=marks)


def _old_office(data: bytes, name: str) -> str:
    """Detect the format in a container of old Office; encrypted new documents are in one, too."""
    import olefile

    try:
        parts = {path[0] for path in olefile.OleFileIO(io.BytesIO(data)).listdir(storages=True)}
    except Exception as error:  # damaged containers raise OSError, struct.error, IndexError …
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise locked(name) from error
        raise UnreadableFile(
            f"{name} is damaged: its old Office container cannot be opened", "save it again"
        ) from error
    if "EncryptedPackage" in parts:
        raise locked(name)
    if "__properties_version1.0" in parts:
        return "msg"
    if {part.lower() for part in parts} & {"workbook", "book"}:
        return "sheets"
    raise UnreadableFile(
        f"{name} is in an old Office format (doc, ppt)", "save it as docx, pptx or PDF"
    )
