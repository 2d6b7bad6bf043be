"""Milepost finds, in documents of any length, the exact sentences that answer a question.

Public names are imported on first use, so that ``import milepost`` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from milepost.documents import read
    from milepost.encoder import Encoder, load
    from milepost.errors import MilepostError
    from milepost.exports.marking import AnnotatedPdf, annotate
    from milepost.index import Index, RemovalReport, open
    from milepost.index.chunking import chunks
    from milepost.index.copying import copy
    from milepost.search import Query
    from milepost.types import Box, Chunk, Document, Hit, IndexReport, Landmarks, Mark, Passage
    from milepost.verdicts import CheckResult, Difference, Match

_HOMES = {
    "AnnotatedPdf": "milepost.exports.marking",
    "Box": "milepost.types",
    "CheckResult": "milepost.verdicts",
    "Chunk": "milepost.types",
    "Difference": "milepost.verdicts",
    "Document": "milepost.types",
    "Encoder": "milepost.encoder",
    "Hit": "milepost.types",
    "Index": "milepost.index",
    "IndexReport": "milepost.types",
    "Landmarks": "milepost.types",
    "Mark": "milepost.types",
    "Match": "milepost.verdicts",
    "MilepostError": "milepost.errors",
    "Passage": "milepost.types",
    "Query": "milepost.search",
    "RemovalReport": "milepost.index",
    "annotate": "milepost.exports.marking",
    "chunks": "milepost.index.chunking",
    "copy": "milepost.index.copying",
    "load": "milepost.encoder",
    "open": "milepost.index",
    "read": "milepost.documents",
}

__all__ = [
    "AnnotatedPdf",
    "Box",
    "CheckResult",
    "Chunk",
    "Difference",
    "Document",
    "Encoder",
    "Hit",
    "Index",
    "IndexReport",
    "Landmarks",
    "Mark",
    "Match",
    "MilepostError",
    "Passage",
    "Query",
    "RemovalReport",
    "annotate",
    "chunks",
    "copy",
    "load",
    "open",
    "read",
]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'milepost' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
