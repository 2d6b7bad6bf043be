"""Milepost finds, in documents of any length, the exact sentences that answer a question.

Public names are imported on first use, so that ``import milepost`` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from milepost.documents import read as read
    from milepost.encoder import Encoder as Encoder
    from milepost.encoder import load as load
    from milepost.errors import MilepostError as MilepostError
    from milepost.exports.marking import AnnotatedPdf as AnnotatedPdf
    from milepost.exports.marking import annotate as annotate
    from milepost.index import Index as Index
    from milepost.index import RemovalReport as RemovalReport
    from milepost.index import open as open
    from milepost.index.chunking import chunks as chunks
    from milepost.index.copying import copy as copy
    from milepost.search import Query as Query
    from milepost.types import Box as Box
    from milepost.types import Chunk as Chunk
    from milepost.types import Document as Document
    from milepost.types import Hit as Hit
    from milepost.types import IndexReport as IndexReport
    from milepost.types import Landmarks as Landmarks
    from milepost.types import Mark as Mark
    from milepost.types import Passage as Passage
    from milepost.verdicts import CheckResult as CheckResult
    from milepost.verdicts import Difference as Difference
    from milepost.verdicts import Match as Match

_HOMES = {
    name: f"milepost.{module}"
    for module, names in {
        "documents": "read",
        "encoder": "Encoder load",
        "errors": "MilepostError",
        "exports.marking": "AnnotatedPdf annotate",
        "index": "Index RemovalReport open",
        "index.chunking": "chunks",
        "index.copying": "copy",
        "search": "Query",
        "types": "Box Chunk Document Hit IndexReport Landmarks Mark Passage",
        "verdicts": "CheckResult Difference Match",
    }.items()
    for name in names.split()
}

__all__ = sorted(_HOMES)


if not TYPE_CHECKING:  # a checker would take every name for one that is there

    def __getattr__(name: str) -> Any:
        import importlib

        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        raise AttributeError(f"module 'milepost' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
