"""The rows of tables that passages answer with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from milepost.store.base import DocumentInfo, Snapshot
from milepost.table_rows import rows_around, table_at
from milepost.types import Mark, Passage, nearly_best


def with_tables(
    snapshot: Snapshot,
    passages: Sequence[Passage],
    places: Sequence[tuple[DocumentInfo, Sequence[Mark]]],
) -> list[Passage]:
    """Return the passages with their tables.

    Args:
        snapshot: that the passages are of.
        passages: without tables.
        places: the document of each passage, and its marks.
    """
    strong = [[(hit.start, hit.end) for hit in nearly_best(each.hits)] for each in passages]
    found = []
    for number, (passage, (info, marks)) in enumerate(zip(passages, places, strict=True)):
        around = rows_around(marks, (passage.start, passage.end), strong[number][0][0])
        if around is not None:
            found.append((number, (info, *around)))
    made = list(passages)
    texts = snapshot.texts([part for _, part in found]) if found else []
    for (number, (_, start, _)), text in zip(found, texts, strict=True):
        passage, marks = passages[number], places[number][1]
        part = passage.start, passage.end
        table = table_at(marks, text, start, strong[number], part)
        made[number] = replace(passage, table=table)
    return made
