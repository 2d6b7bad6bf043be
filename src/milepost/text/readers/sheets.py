"""Read spreadsheets (xlsx, xlsm, xlsb, xls, ods): one heading per sheet, one line per row."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from milepost.errors import UnreadableFile
from milepost.properties import EMPTY
from milepost.text.readers import metadata
from milepost.text.readers.archive import Archive, attribute, every
from milepost.text.readers.builder import TextBuilder
from milepost.text.readers.sheet_parts import Extras, extras
from milepost.text.readers.table import Row, write_rows
from milepost.types import Document

SECONDS = 600
"""Time limit for reading a spreadsheet, in seconds."""


_BOX = re.compile(rb"<draw:(?:text-box|custom-shape)")


def read_sheets(data: bytes, name: str, source: str | None) -> Document:
    """Read all sheets, including hidden ones, in a separate process (see ``sheet_cells.py``).

    Raises:
        UnreadableFile: the file is damaged, protected by a password, or too large.
    """
    properties = EMPTY
    beside: dict[str, Extras] = {}
    notes: list[str] = []
    if data.startswith(b"PK"):
        archive = Archive(data, name)  # refuses zip bombs
        is_open = "meta.xml" in archive.parts
        properties = (metadata.of_opendocument if is_open else metadata.of_office)(archive)
        beside = _boxes(archive) if is_open else extras(archive, notes)
    text = TextBuilder()
    for sheet, rows, left_out in _sheets(_cells(data, name)):
        text.place("sheet", sheet)
        own = beside.get(sheet, _NOTHING)
        if rows or own.lines:
            text.add(sheet, level=1)
        write_rows(rows, text)
        for line in own.lines:
            text.add(line)
        if own.unsolved:
            notes.append(
                f"sheet {sheet}: {own.unsolved:,} formulas have no stored result; open the file in "
                "a spreadsheet program and save it again"
            )
        if left_out:
            notes.append(f"sheet {sheet}: {left_out:,} rows equal to the row above were left out")
    return text.document(name, source, tuple(notes), properties)


_NOTHING = Extras()


def _boxes(archive: Archive) -> dict[str, Extras]:
    """Find the text boxes of the sheets of an OpenDocument spreadsheet."""
    if not _BOX.search(archive.read("content.xml")):
        return {}
    found: dict[str, Extras] = {}
    for table in every(archive.xml("content.xml"), "table"):
        boxes = every(table, "text-box") + every(table, "custom-shape")
        paragraphs = (node for box in boxes for node in every(box, "p"))
        lines = [" ".join("".join(node.itertext()).split()) for node in paragraphs]
        found[attribute(table, "name") or ""] = Extras([line for line in lines if line])
    return found


def _cells(data: bytes, name: str) -> list[bytes]:
    """Run ``sheet_cells.py`` and return the lines that it prints."""
    program = Path(__file__).with_name("sheet_cells.py")
    # -S saves importing site; -P keeps this folder, which has an html.py, off the path.
    command = [sys.executable, "-S", "-P", "-X", "utf8", str(program)]
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "RUST_BACKTRACE": "0"}
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, check=False, env=environment, timeout=SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise _slow(name) from error
    lines = done.stdout.splitlines()
    if lines and lines[-1] == b'{"error": "password"}':
        raise UnreadableFile(f"{name} is protected by a password", "save it without one")
    if not lines or lines[-1] != b'{"end": true}':
        raise _refusal(name, done)
    if len(lines) == 1:
        raise UnreadableFile(f"{name} is damaged: it has no sheets", "open and save it again")
    return lines


def _slow(name: str) -> UnreadableFile:
    return UnreadableFile(f"{name} was not read within {SECONDS} seconds", "save its sheets as csv")


def _refusal(name: str, done: subprocess.CompletedProcess[bytes]) -> UnreadableFile:
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode == -getattr(signal, "SIGXCPU", 0):
        return _slow(name)
    if done.returncode < 0 or "memory allocation" in said or "MemoryError" in said:
        return UnreadableFile(
            f"{name} needs more memory than a spreadsheet may take", "save its sheets as csv"
        )
    if "No module named" in said:
        return UnreadableFile(
            f"{name} cannot be read: python-calamine is missing", "pip install python-calamine"
        )
    why = (said.strip().splitlines() or ["it cannot be read"])[-1].partition(": ")[2] or "no cells"
    return UnreadableFile(f"{name} is damaged: {why[:100]}", "open and save it again")


def _sheets(lines: list[bytes]) -> Iterator[tuple[str, list[Row], int]]:
    """Yield the name and rows of each sheet, and how many rows were left out."""
    sheet: str | None = None
    rows: list[Row] = []
    left_out = 0
    for line in lines:
        record = json.loads(line)
        if isinstance(record, list):
            rows.append((record[0], record[1]))
        elif "left_out" in record:
            left_out = record["left_out"]
        else:
            if sheet is not None:
                yield sheet, rows, left_out
            sheet, rows, left_out = record.get("sheet"), [], 0
