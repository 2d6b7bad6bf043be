"""What ``Index.add`` is given: paths to files, documents to what a store keeps."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.errors import MilepostError
from milepost.paragraphs import paragraph_starts
from milepost.search.lexical import terms
from milepost.store.base import Entry
from milepost.text import files
from milepost.types import Document, Report

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Parts = tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]
    """Spans, vectors and vocabulary coverage of a document's landmarks."""


@dataclass(slots=True)
class Tally:
    """The report of ``Index.add`` while it grows."""

    added: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sentences: int = 0
    tokens: int = 0

    def report(self, removed: Sequence[str], seconds: float) -> Report:
        """The finished report."""
        return Report(
            added=tuple(self.added),
            unchanged=tuple(self.unchanged),
            changed=tuple(self.changed),
            removed=tuple(removed),
            failed=self.failed,
            notes=self.notes,
            sentences=self.sentences,
            tokens=self.tokens,
            seconds=seconds,
        )


def absolute(path: str | os.PathLike[str]) -> Path:
    """The one way to write a path, so that a file has one name; links are not followed."""
    return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - drops "..", too


def found(
    paths: Sequence[Path], failed: dict[str, str], picture: Callable[[Path], bool]
) -> tuple[list[Path], list[Path]]:
    """Files under the paths, each once, and the folders among them that could be listed.

    Args:
        paths: files and folders.
        failed: gets the paths that are missing and the folders that may not be listed, with the
            reason.
        picture: whether a picture file in a folder is wanted.
    """
    inside: dict[Path, None] = {}
    folders: list[Path] = []
    for path in paths:
        try:
            inside |= dict.fromkeys(files([path], failed, picture))
        except MilepostError as error:
            failed[str(path)] = str(error)
        else:
            if path.is_dir():
                folders.append(path)
    return list(inside), folders


def signature(path: Path) -> tuple[int, int] | None:
    """Size and time of change; None where the file cannot be asked (reading it says why)."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def hashed(document: Document) -> Document:
    """The document with the hash of its text, where its maker has given none."""
    if document.hash:
        return document
    digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
    return replace(document, hash=digest)


def entry(
    document: Document, parts: Parts, signature: tuple[int, int] | None, options: str
) -> Entry:
    """What a store is given: the text, its landmarks, and the terms of each sentence."""
    spans, vectors, vocab_coverage = parts
    return Entry(
        document=document,
        spans=spans,
        vectors=vectors,
        vocab_coverage=vocab_coverage,
        paragraph_starts=paragraph_starts(document.text, spans),
        terms=[terms(document.text[start:end]) for start, end in spans.tolist()],
        signature=signature,
        options=options,
    )
