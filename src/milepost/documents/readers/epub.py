"""Read EPUB books: the chapters in reading order, each an XHTML page."""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from xml.etree.ElementTree import Element, SubElement

from milepost.documents.readers import html, metadata
from milepost.documents.readers.archive import Archive, every, path_in
from milepost.documents.readers.builder import TextBuilder
from milepost.errors import UnreadableFile
from milepost.types import Document

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset(
    ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document",
     "application/xml", "text/xml", "image/svg+xml")
)  # fmt: skip
_SUFFIXES = (".xhtml", ".html", ".htm")
_ELEMENT = re.compile(r"<(?:\w+:)?(item|itemref|rootfile)\b([^>]*)>")
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*[\"']([^\"']*)")


def read_epub(data: bytes, name: str, source: str | None) -> Document:
    """Read a book; the notes name chapters that are missing, damaged or locked (DRM)."""
    archive = Archive(data, name)
    package, folder = _package(archive, name)
    listed, others = _spine(package, folder)
    chapters = [archive.find(chapter) or chapter for chapter in listed]
    locked = _locked(archive)
    if chapters and all(chapter in locked for chapter in chapters):
        raise UnreadableFile(f"{name} is locked by copy protection (DRM)", "use a copy without it")
    book = TextBuilder()
    notes = [f"{other} is not a page and was left out" for other in others]
    sheets = _sheets(archive, package, folder)
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
        html.write(page, book, sheets, chapter)
    if len(notes) >= len(chapters) and not book.text:
        raise UnreadableFile(f"{name} has no chapter that can be read", "convert it to PDF or HTML")
    return book.document(name, source, tuple(notes), metadata.of_book(package))


def _package(archive: Archive, name: str) -> tuple[Element, str]:
    """Parse the package document, and return it with the folder that its paths start from."""
    container = archive.find(_CONTAINER)
    is_said = container is not None and archive.read(container).strip()
    listed = every(_xml(archive, container), "rootfile") if container and is_said else []
    root = next((node.get("full-path") for node in listed), None)
    packages = sorted(part for part in archive.parts if part.lower().endswith(".opf"))
    found = archive.find(root.lstrip("/")) if root else None
    if found is None and not packages:
        raise UnreadableFile(f"{name} lists no book in its container", "convert it to PDF or HTML")
    found = found or packages[0]
    return _xml(archive, found), posixpath.dirname(found)


def _xml(archive: Archive, part: str) -> Element:
    """Parse a part that lists others; of one that is not XML, the lists alone, as readers do."""
    try:
        return archive.xml(part)
    except UnreadableFile:
        said = _ELEMENT.findall(archive.read(part).decode("utf-8", "replace"))
        if not said:
            raise
        root = Element("package")
        for tag, attributes in said:
            SubElement(root, tag, dict(_ATTRIBUTE.findall(attributes)))
        return root


def _spine(book: Element, folder: str) -> tuple[list[str], list[str]]:
    """List the pages of a book in reading order, and what stands among them and is no page."""
    items = {item.get("id", ""): item for item in every(book, "item")}
    order = [
        items[key] for node in every(book, "itemref") if (key := node.get("idref", "")) in items
    ]
    chapters: list[str] = []
    others: list[str] = []
    # A book without an order is read in the order of its list of files.
    for item in order or items.values():
        page, passed = item, 0
        while not _is_page(page) and page.get("fallback") in items and passed < len(items):
            page, passed = items[page.get("fallback", "")], passed + 1
        path = _path(folder, page)
        if "nav" not in (page.get("properties") or "").split():
            if _is_page(page):
                chapters.append(path)
            elif order:
                others.append(path)
    return [*dict.fromkeys(chapters)], others  # parts of a page may be listed one by one


def _is_page(item: Element) -> bool:
    is_page = (item.get("media-type") or "").partition(";")[0].strip().lower() in _PAGES
    return is_page or item.get("href", "").partition("#")[0].lower().endswith(_SUFFIXES)


def _path(folder: str, item: Element) -> str:
    return path_in(folder, item.get("href", "").replace("\\", "/")).lstrip("/")


def _sheets(archive: Archive, book: Element, folder: str) -> dict[str, str]:
    items = [item for item in every(book, "item") if item.get("media-type") == "text/css"]
    sheets = {}
    for part in filter(None, (archive.find(_path(folder, item)) for item in items)):
        with suppress(UnreadableFile):
            sheets[html.located(part)] = archive.read(part).decode("utf-8", "replace")
    return sheets


def _locked(archive: Archive) -> frozenset[str]:
    """Return the encrypted parts; obfuscated fonts are among them, which is harmless."""
    if _ENCRYPTION not in archive.parts:
        return frozenset()
    references = every(archive.xml(_ENCRYPTION), "CipherReference")
    return frozenset(path_in("", node.get("URI", "")) for node in references)
