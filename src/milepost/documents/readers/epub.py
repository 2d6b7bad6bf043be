"""Read EPUB books: the chapters in reading order, each an XHTML page."""

from __future__ import annotations

import posixpath
from xml.etree.ElementTree import Element

from milepost.documents.readers import html, metadata
from milepost.documents.readers.archive import Archive, every, path_in
from milepost.documents.readers.builder import TextBuilder
from milepost.errors import UnreadableFile
from milepost.types import Document

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset(
    {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
)
_SUFFIXES = (".xhtml", ".html", ".htm")


def read_epub(data: bytes, name: str, source: str | None) -> Document:
    """Read a book; the notes name chapters that are missing, damaged or locked.

    Raises:
        UnreadableFile: no chapter can be read, or all are locked (DRM).
    """
    archive = Archive(data, name)
    package, folder = _package(archive, name)
    chapters = [archive.find(chapter) or chapter for chapter in _spine(package, folder)]
    locked = _locked(archive)
    if chapters and all(chapter in locked for chapter in chapters):
        raise UnreadableFile(f"{name} is locked by copy protection (DRM)", "use a copy without it")
    book = TextBuilder()
    notes: list[str] = []
    for chapter in chapters:
        if chapter in locked:
            notes.append(f"{chapter} is locked by copy protection")
            continue
        try:
            page, problems = html.decode_page(archive.read(chapter), chapter)
        except UnreadableFile as error:
            notes.append(error.problem)
            continue
        notes.extend(f"{chapter}: {problem}" for problem in problems)
        html.write(page, book)
    if len(notes) >= len(chapters) and not book.text:
        raise UnreadableFile(f"{name} has no chapter that can be read", "download it again")
    return book.document(name, source, tuple(notes), metadata.of_book(package))


def _package(archive: Archive, name: str) -> tuple[Element, str]:
    """Parse the package document, and return it with the folder that its paths start from."""
    container = archive.find(_CONTAINER)
    listed = every(archive.xml(container), "rootfile") if container is not None else []
    root = next((node.get("full-path") for node in listed), None)
    packages = sorted(part for part in archive.parts if part.lower().endswith(".opf"))
    found = archive.find(root.lstrip("/")) if root else None
    if found is None and not packages:
        raise UnreadableFile(f"{name} lists no book in its container", "download it again")
    found = found or packages[0]
    return archive.xml(found), posixpath.dirname(found)


def _spine(book: Element, folder: str) -> list[str]:
    pages: dict[str, str] = {}
    for item in every(book, "item"):
        contents = "nav" in (item.get("properties") or "").split()
        link = item.get("href", "").partition("#")[0]
        is_page = (item.get("media-type") or "").lower() in _PAGES
        if (is_page or link.lower().endswith(_SUFFIXES)) and not contents:
            pages[item.get("id", "")] = path_in(folder, link)
    order = [item.get("idref", "") for item in every(book, "itemref")]
    # A book without an order is read in the order of its list of files.
    return [pages[key] for key in order if key in pages] or list(pages.values())


def _locked(archive: Archive) -> frozenset[str]:
    """Return the encrypted parts; obfuscated fonts are among them, which is harmless."""
    if _ENCRYPTION not in archive.parts:
        return frozenset()
    references = every(archive.xml(_ENCRYPTION), "CipherReference")
    return frozenset(path_in("", node.get("URI", "")) for node in references)
