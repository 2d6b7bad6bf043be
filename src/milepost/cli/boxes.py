"""Boxes of passages for ``--json``: where each stands on the pages of its PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.errors import MilepostError

if TYPE_CHECKING:
    from milepost.exports.records import PageBox
    from milepost.index import Index
    from milepost.types import Document, Passage


def passage_boxes(
    index: Index, passages: tuple[Passage, ...]
) -> tuple[list[list[PageBox] | None], list[str]]:
    """Boxes of each passage, and notes.

    None for a passage whose document is not a PDF file, or whose file is gone, has changed or is
    damaged; a note says which.
    """
    documents: dict[str, Document] = {}
    boxes: list[list[PageBox] | None] = []
    notes: dict[str, None] = {}
    for passage in passages:
        if passage.document not in documents:
            documents[passage.document] = index.document(passage.document)
        document = documents[passage.document]
        if document.locator is None:
            boxes.append(None)
            continue
        try:
            boxes.append(_sized(document, passage))
        except (MilepostError, OSError, ValueError) as error:
            problem = error.problem if isinstance(error, MilepostError) else str(error)
            notes[f"no page boxes: {problem}"] = None
            boxes.append(None)
    return boxes, list(notes)


def _sized(document: Document, passage: Passage) -> list[PageBox]:
    from milepost.documents import stored_bytes
    from milepost.documents.readers.pdf.boxes import page_sizes
    from milepost.exports.records import PageBox

    found = document.boxes(passage.start, passage.end)
    sizes = page_sizes(stored_bytes(document), document.name, (box.page for box in found))
    return [PageBox(box, *sizes[box.page]) for box in found]
