"""Choose the reader of a file by its first bytes, then by its suffix."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path, PurePath

from milepost.errors import UnreadableFile
from milepost.types import Document

SUFFIXES: dict[str, str] = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
    ".epub": "epub",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdown": "markdown",
    ".mkd": "markdown",
    ".rst": "underlined",
    ".rest": "underlined",
    ".csv": "rows",
    ".tsv": "rows",
    ".jsonl": "rows",
    ".ndjson": "rows",
    ".log": "rows",
    ".srt": "rows",
    ".vtt": "rows",
}
"""Suffix to format; every other file is plain text, if it is text at all."""

_READERS = {
    "plain": ("plain", "read_plain"),
    "rows": ("plain", "read_rows"),
    "underlined": ("plain", "read_underlined"),
    "markdown": ("markdown", "read_markdown"),
    "html": ("html", "read_html"),
    "docx": ("docx", "read_docx"),
    "epub": ("epub", "read_epub"),
    "pdf": ("pdf.read", "read_pdf"),
}
"""Format to module and function of its reader."""

_REFUSED = (
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"II*\0", "a picture"),
    (b"MM\0*", "a picture"),
    (b"RIFF", "a sound, film or picture"),
    (b"\x1f\x8b", "a compressed archive"),
    (b"BZh", "a compressed archive"),
    (b"\xfd7zXZ\0", "a compressed archive"),
    (b"\x28\xb5\x2f\xfd", "a compressed archive"),
    (b"7z\xbc\xaf\x27\x1c", "a compressed archive"),
    (b"Rar!", "a compressed archive"),
    (b"SQLite format 3\0", "a database"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"{\\rtf", "rich text (RTF)"),
    (b"ITSF", "a compiled help file"),
    (b"AT&TFORM", "a DjVu scan"),
)
_HINTS = {
    "a picture": "convert it to a PDF with text (OCR) first",
    "a compressed archive": "unpack it first",
    "rich text (RTF)": "save it as docx or txt",
    "a DjVu scan": "convert it to PDF",
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html[\s>])",
    re.IGNORECASE | re.DOTALL,
)


def read(path: str | os.PathLike[str]) -> Document:
    """Read one file.

    Returns:
        The document; its name and source are the absolute path.

    Raises:
        UnreadableFile: the file is missing, empty, binary, encrypted, damaged …
    """
    # abspath, not resolve: a link keeps its own name.
    absolute = os.path.abspath(path)  # noqa: PTH100
    try:
        if Path(absolute).is_char_device() or Path(absolute).is_block_device():
            raise UnreadableFile(f"{path} is a device", "a file")  # it may never end
        data = Path(absolute).read_bytes()
    except FileNotFoundError as error:
        raise UnreadableFile(f"{path} does not exist", "check the path") from error
    except IsADirectoryError as error:
        raise UnreadableFile(f"{path} is a folder", "the files in it") from error
    except PermissionError as error:
        raise UnreadableFile(f"no permission to read {path}", f"chmod u+r {path}") from error
    except OSError as error:
        raise UnreadableFile(
            f"{path} cannot be read: {error.strerror}", "check the disk"
        ) from error
    return read_bytes(data, absolute, absolute)


def read_bytes(data: bytes, name: str, source: str | None = None) -> Document:
    """Read a file from its bytes; ``name`` gives the suffix and identifies the document.

    Raises:
        UnreadableFile: the bytes are empty, binary, encrypted, damaged …
    """
    if not data:
        raise UnreadableFile(f"{name} is empty (0 bytes)", "save or download it again")
    document = _reader(_format(data, name))(data, name, source)
    return dataclasses.replace(document, hash=hashlib.sha256(data).hexdigest())


def _format(data: bytes, name: str) -> str:
    """Detect the format of a file, by its content first.

    Raises:
        UnreadableFile: the format is known, and Milepost cannot read it.
    """
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(data, name)
    if data.startswith(_OLE):
        raise _legacy(data, name)
    for magic, kind in _REFUSED:
        if data.startswith(magic):
            raise UnreadableFile(
                f"{name} is {kind}", _HINTS.get(kind, "convert it to text, PDF, HTML, docx or epub")
            )
    if _HTML.match(data[:4096]):
        return "html"
    chosen = SUFFIXES.get(PurePath(name).suffix.lower(), "plain")
    if chosen in ("pdf", "docx", "epub"):
        raise UnreadableFile(
            f"{name} is not a {chosen} file, in spite of its suffix", "save it again"
        )
    return chosen


def _zipped(data: bytes, name: str) -> str:
    """Detect the format inside a zip file."""
    from milepost.text.readers.archive import Archive

    parts = Archive(data, name).parts
    if "word/document.xml" in parts:
        return "docx"
    if "META-INF/container.xml" in parts:
        return "epub"
    if any(part.startswith("xl/") for part in parts):
        raise UnreadableFile(f"{name} is a spreadsheet", "save its sheets as csv")
    if any(part.startswith("ppt/") for part in parts):
        raise UnreadableFile(f"{name} is a slide show", "save it as PDF")
    if "content.xml" in parts:
        raise UnreadableFile(f"{name} is an OpenDocument file", "save it as docx or PDF")
    raise UnreadableFile(f"{name} is a zip archive", "unpack it first")


def _legacy(data: bytes, name: str) -> UnreadableFile:
    """Make the error for a file in the old Office container.

    Office still uses it for encrypted documents.
    """
    if "EncryptedPackage".encode("utf-16-le") in data:
        return UnreadableFile(f"{name} is protected by a password", "save it without one")
    return UnreadableFile(
        f"{name} is in an old Office format (doc, xls, ppt, msg)", "save it as docx or PDF"
    )


def _reader(format_name: str) -> Callable[[bytes, str, str | None], Document]:
    """Import the reader of a format, and with it its library."""
    module, function = _READERS[format_name]
    reader: Callable[[bytes, str, str | None], Document]
    reader = getattr(import_module(f"milepost.text.readers.{module}"), function)
    return reader
