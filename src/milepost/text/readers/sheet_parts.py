"""Find what a workbook (xlsx) has beside its cells: text boxes, and formulas without results."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from milepost.errors import UnreadableFile
from milepost.text.readers.archive import Archive, attribute, every, local
from milepost.text.readers.drawings import Drawings, words
from milepost.text.readers.office import links, main_part

_HEAD = 1 << 20
"""Bytes of a sheet that are searched: a program that stores no results does so from the start."""

_UNSOLVED = re.compile(
    rb"<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<(\w+:)?v></(\w+:)?v>)?"
    rb"\s*</(?:\w+:)?c>"
)


@dataclass(slots=True)
class Extras:
    """What a sheet has beside its cells.

    Attributes:
        lines: the text of its boxes, diagrams and charts.
        unsolved: number of formulas without a stored result.
    """

    lines: list[str] = field(default_factory=list)
    unsolved: int = 0


def extras(archive: Archive, notes: list[str]) -> dict[str, Extras]:
    """Find the extras of each sheet by its name; damaged parts are named in ``notes``."""
    main = main_part(archive)
    if main is None or not main[0].endswith(".xml"):
        return {}
    try:
        parts = links(archive, main[0])
        sheets = every(archive.xml(main[0]), "sheet")
    except UnreadableFile:  # the library has its own way to read the cells
        return {}
    found: dict[str, Extras] = {}
    for sheet in sheets:
        part = parts.get(attribute(sheet, "id") or "", ("", ""))[1]
        if part in archive.parts:
            found[sheet.get("name", "")] = _extras(archive, part, notes)
    return found


def _extras(archive: Archive, part: str, notes: list[str]) -> Extras:
    own = Extras(unsolved=sum(1 for _ in _UNSOLVED.finditer(archive.head(part, _HEAD))))
    try:
        beside = links(archive, part)
        for kind, target in beside.values():
            if kind == "drawing":
                drawings = Drawings(archive, links(archive, target), notes)
                for node in drawings.part(target).iter():
                    tag = local(node)
                    if tag == "txBody":
                        own.lines += filter(None, map(words, every(node, "p")))
                    elif tag == "graphicData":
                        # The values of charts are in cells.
                        whole = node.get("uri", "").endswith("diagram")
                        said = drawings.lines(node)
                        own.lines += [line for line, row in said if line and (whole or not row)]
    except UnreadableFile as error:
        notes.append(error.problem)
    return own
