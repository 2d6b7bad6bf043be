"""Read Jupyter notebooks: Markdown cells, code line by line, and its printed output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from milepost.documents.encoding import decode
from milepost.documents.readers import html, metadata
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.markdown import read_markdown
from milepost.errors import UnreadableFile
from milepost.types import Document

# What the metadata say of the text; the rest is of the kernel.
_ABOUT = ("title", "author", "authors", "date", "lang", "keywords", "tags", "description")
_BACKSPACE = re.compile("[^\\n\b]\b")
_OBJECT = re.compile(r"<[\w.]+ object>")
"""Said in place of what is shown in another form."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read_notebook(data: bytes, name: str, source: str | None) -> Document:
    """Read the cells in order; images in the output are left out."""
    text, notes = decode(data, name)
    try:
        notebook = json.loads(text)
        cells = list(_cells(notebook))
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise UnreadableFile(
            f"{name} is not a notebook that can be read: {type(error).__name__}",
            "open and save it again",
        ) from error
    built = TextBuilder()
    for number, cell in enumerate(cells, 1):
        built.place("cell", str(number))
        words = _joined(cell.get("source", cell.get("input", "")))
        if cell.get("cell_type") in ("markdown", "heading"):
            level = cell.get("level") if cell.get("cell_type") == "heading" else None
            words = f"{'#' * min(level, 6)} {words}" if isinstance(level, int) else words
            built.include(read_markdown(words.encode("utf-8", "replace"), name, None))
            continue
        built.add_lines(words.strip("\n").split("\n"))
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            if isinstance(output, dict):
                _add_output(output, built, name)
    said = notebook.get("metadata")
    about = {key: said[key] for key in _ABOUT if key in said} if isinstance(said, dict) else {}
    return built.document(name, source, notes, metadata.front_matter(about))


def _cells(notebook: Any) -> Iterator[dict[str, Any]]:
    """Yield the cells of a notebook; version 3 has them in worksheets."""
    if "cells" not in notebook and "worksheets" not in notebook:
        raise KeyError("cells")
    for sheet in notebook.get("worksheets", [notebook]):
        for cell in sheet["cells"]:
            if isinstance(cell, dict):
                yield cell


def _add_output(output: dict[str, Any], built: TextBuilder, name: str) -> None:
    data = output.get("data")
    held = data if isinstance(data, dict) else output  # version 3 has the forms in the output
    formatted = _joined(held.get("text/markdown", ""))
    page = _joined(held.get("text/html", held.get("html", "")))
    if formatted.strip():
        built.include(read_markdown(formatted.encode("utf-8", "replace"), name, None))
        return
    if page.strip():
        before = built.length
        html.write(page, built)
        if built.length > before:  # pages that only hold a script show nothing
            return
    built.add_lines(_shown(_COLOUR.sub("", _printed(output, held))).strip("\n").split("\n"))


def _shown(printed: str) -> str:
    """Return printed text as a terminal shows it: progress bars overwrite themselves."""
    if "\r" not in printed and "\b" not in printed:
        return printed
    lines = []
    for line in printed.replace("\r\n", "\n").split("\n"):
        last = next((part for part in reversed(line.split("\r")) if part), "")
        while (shorter := _BACKSPACE.sub("", last)) != last:
            last = shorter
        lines.append(last)
    return "\n".join(lines)


def _printed(output: dict[str, Any], held: dict[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    forms = (_joined(held.get(form, "")) for form in ("text/plain", "text", "text/latex", "latex"))
    said = next((form for form in forms if form and not _OBJECT.fullmatch(form)), "")
    if not said and "application/json" in held:
        return json.dumps(held["application/json"], ensure_ascii=False)
    return said


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""
