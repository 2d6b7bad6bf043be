"""Find the parts of Office packages (docx, pptx, xlsx) by their relationships.

The names of the parts are free: Word writes ``word/document.xml``, other programs do not have to.
"""

from __future__ import annotations

import posixpath
from xml.etree.ElementTree import Element

from milepost.errors import UnreadableFile
from milepost.text.readers.archive import Archive, every, path_in

_TYPES = "[Content_Types].xml"
_KINDS = (
    ("wordprocessingml", "docx"),
    ("ms-word", "docx"),
    ("presentationml", "slides"),
    ("ms-powerpoint", "slides"),
    ("spreadsheetml", "sheets"),
    ("ms-excel", "sheets"),
)
_USUAL = (
    ("word/document.xml", "docx"),
    ("xl/workbook.xml", "sheets"),
    ("xl/workbook.bin", "sheets"),
    ("ppt/presentation.xml", "slides"),
)

Links = dict[str, tuple[str, str]]
"""Relationship id → type, without its address, and path of the target in the package."""


def links(archive: Archive, part: str) -> Links:
    """Map the relationships of a part, or of the package if ``part`` is empty."""
    folder, base = posixpath.split(part)
    listed = archive.find(posixpath.join(folder, "_rels", f"{base}.rels"))
    if listed is None:
        return {}
    found: Links = {}
    for node in every(archive.xml(listed), "Relationship"):
        if node.get("TargetMode") != "External":
            target = node.get("Target", "").replace("\\", "/")
            path = path_in("" if target.startswith("/") else folder, target).lstrip("/")
            kind = node.get("Type", "").rpartition("/")[2]
            found[node.get("Id", "")] = (kind, archive.find(path) or path)
    return found


def main_part(archive: Archive) -> tuple[str, str] | None:
    """Return the path and format of the main part; None if the file is not of Office."""
    usual = [(archive.find(part), kind) for part, kind in _USUAL]
    held = next(((part, kind) for part, kind in usual if part is not None), None)
    try:
        mains = [path for kind, path in links(archive, "").values() if kind == "officeDocument"]
        types = archive.xml(_TYPES) if mains and _TYPES in archive.parts else Element("none")
    except UnreadableFile:
        return held
    for path in mains:
        if path not in archive.parts:
            continue
        if held is not None and held[0] == path:
            return held
        said = _content_type(types, path)
        kind = next((kind for name, kind in _KINDS if name in said), None)
        if kind is not None:
            return path, kind
    return held


def _content_type(types: Element, path: str) -> str:
    suffix = path.rpartition(".")[2].lower()
    default = ""
    for node in types:
        if (node.get("PartName") or "").lstrip("/").lower() == path.lower():
            return node.get("ContentType", "")
        if (node.get("Extension") or "").lower() == suffix:
            default = node.get("ContentType", "")
    return default
