"""The words of a dynamic form (XFA), whose pages only ask to open it in another program.

The form is XML: a template of texts and fields, and the data that somebody has filled in.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import islice
from typing import Any
from xml.etree.ElementTree import Element

import pypdfium2.raw as pdfium

from milepost.documents.readers.archive import every, local, parsed
from milepost.documents.readers.builder import TextBuilder

_HOLDERS = frozenset(("subform", "subformSet", "exclGroup", "area"))
_NONE = Element("none")
_MOST = 100_000  # parts, texts and fields: a small file may repeat them any number of times


def read_form(document: Any, name: str, text: TextBuilder) -> None:
    """Add the texts and fields of a form to ``text``; the lock of ``glyphs`` must be held."""
    roots = [
        parsed(_content(document, index), name, "its form (XFA)")
        for index in range(pdfium.FPDF_GetXFAPacketCount(document.raw))
        if _name(document, index) in ("", "template", "datasets")
    ]
    templates, data = (
        [node for root in roots for node in every(root, tag)] for tag in ("template", "data")
    )
    for template in templates[:1]:
        for words in islice(_lines(template, next(iter(data), _NONE)), _MOST):
            text.add(words)


def _name(document: Any, index: int) -> str:
    size = pdfium.FPDF_GetXFAPacketName(document.raw, index, None, 0)
    buffer = ctypes.create_string_buffer(size + 1)
    pdfium.FPDF_GetXFAPacketName(document.raw, index, buffer, size)
    return buffer.value.decode("utf-8", "replace")


def _content(document: Any, index: int) -> bytes:
    size = ctypes.c_ulong()
    pdfium.FPDF_GetXFAPacketContent(document.raw, index, None, 0, size)
    buffer = ctypes.create_string_buffer(size.value)
    pdfium.FPDF_GetXFAPacketContent(document.raw, index, buffer, size.value, size)
    return buffer.raw


def _lines(holder: Element, data: Element) -> Iterator[str]:
    """Yield what is in a part of the template, which has its values in ``data``."""
    yield ""  # counts the part
    for node in holder:
        tag, own = local(node), _named(data, node.get("name"))
        if node.get("presence") in ("hidden", "inactive"):
            continue
        if tag in _HOLDERS:
            for values in own or [data]:  # a part is repeated for each of its data
                yield from _lines(node, values)
        elif tag == "draw":
            yield _words(node, "value")
        elif tag == "field":
            yield _field(node, own[0] if own else None, data)


def _named(data: Element, name: str | None) -> list[Element]:
    return [node for node in data if name is not None and local(node) == name]


def _words(node: Element, part: str) -> str:
    """Return the words in a part of a text or field, which may be a page of HTML."""
    found = [each for each in node if local(each) == part]
    for picture in (image for each in found for image in every(each, "image")):
        picture.text = None
    return " ".join(" ".join("".join(each.itertext()) for each in found).split())


def _field(field: Element, own: Element | None, group: Element) -> str:
    """Write a field: its label and its value, ``own`` in the data or that of the ``group``."""
    kinds = [local(kind) for each in field if local(each) == "ui" for kind in each]
    if "button" in kinds or "imageEdit" in kinds:
        return ""
    items = [each for each in field if local(each) == "items"]
    items.sort(key=lambda each: each.get("save") == "1")  # what is shown, and what is stored
    choices = [["".join(each.itertext()).strip() for each in listed] for listed in items]
    label = _words(field, "caption")
    value = " ".join("".join(own.itertext()).split()) if own is not None else ""
    if "checkButton" in kinds:
        value = value or (group.text or "").strip() or _words(field, "value")
        on = choices[0][0] if choices and choices[0] else "1"
        return f"{'☒' if value == on else '☐'} {label}".strip()
    value = value if own is not None else _words(field, "value")
    if len(choices) == 2:
        value = dict(zip(choices[1], choices[0], strict=False)).get(value, value)
    return f"{label} {value}".strip()
