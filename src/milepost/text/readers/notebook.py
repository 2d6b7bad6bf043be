"""Read Jupyter notebooks: Markdown cells, code line by line, and its printed output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from milepost.errors import UnreadableFile
from milepost.text.encoding import decode
from milepost.text.readers import metadata
from milepost.text.readers.builder import TextBuilder
from milepost.text.readers.markdown import read_markdown
from milepost.types import Document

_ABOUT = ("title", "author", "authors", "date", "lang", "keywords", "tags", "description")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read_notebook(data: bytes, name: str, source: str | None) -> Document:
    """Read the cells in order; images in the output are left out.

    Raises:
        UnreadableFile: the file is not a notebook.
    """
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
        _add_lines(words, built)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            if isinstance(output, dict):
                _add_lines(_COLOUR.sub("", _printed(output)), built)
    said = notebook.get("metadata")
    head = said if isinstance(said, dict) else {}
    return built.document(name, source, notes, metadata.front_matter(_about(head)))


def _about(head: dict[str, Any]) -> dict[str, Any]:
    """Select the metadata of the text, without those of the kernel."""
    return {key: head[key] for key in _ABOUT if key in head}


def _cells(notebook: Any) -> Iterator[dict[str, Any]]:
    """Yield the cells of a notebook; version 3 has them in worksheets."""
    if "cells" not in notebook and "worksheets" not in notebook:
        raise KeyError("cells")
    for sheet in notebook.get("worksheets", [notebook]):
        for cell in sheet["cells"]:
            if isinstance(cell, dict):
                yield cell


def _printed(output: dict[str, Any]) -> str:
    """Return the text of an output: printed text, the value of the cell, or an error."""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    if not isinstance(data, dict):
        return _joined(output.get("text", ""))
    return _joined(data.get("text/plain", ""))


def _joined(source: Any) -> str:
    """Join a source, which is a string or a list of lines."""
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _add_lines(words: str, text: TextBuilder) -> None:
    """Add lines of code or output, each as a block."""
    for number, line in enumerate(words.strip("\n").split("\n")):
        text.add(line.rstrip(), close=number > 0)
