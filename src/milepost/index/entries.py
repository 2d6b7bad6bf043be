"""Entries of a store: built from a document and its landmarks, or read from another store."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from milepost._numpy import NDArray, np
from milepost.language.terms import terms
from milepost.store import DocumentInfo, Snapshot, Store, stored_document
from milepost.store.base import Entry
from milepost.table_rows import Tables
from milepost.types import Document

Parts = tuple["NDArray[np.int64]", "NDArray[np.float32]", "NDArray[np.float32]"]
"""Spans, vectors and vocabulary coverage of a document's landmarks."""

_GAP = re.compile(r"\n[^\S\n]*\n")


def holds(store: Store, stored: DocumentInfo, document: Document) -> bool:
    """Whether exactly this text with its pages, headings and tables is indexed.

    Versions of Milepost may read the same file otherwise.
    """
    said = stored.hash, stored.characters, stored.source
    if said != (document.hash, len(document.text), document.source):
        return False
    with store.snapshot() as state:
        now = state.info(stored.name)
        if now != stored or state.marks([now]) != [tuple(document.marks)]:
            return False
        return state.texts([(now, 0, now.characters)]) == [document.text]


def hashed(document: Document) -> Document:
    """Return the document with a hash; that of its text, and of its blocks, if it has none."""
    if document.hash:
        return document
    blocks = repr(document.blocks) if document.blocks else ""
    return replace(document, hash=hashlib.sha256((document.text + blocks).encode()).hexdigest())


def entry(
    document: Document, parts: Parts, signature: tuple[int, int] | None, options: str = ""
) -> Entry:
    """Build the entry for a store: the text, its landmarks and the terms of each sentence."""
    spans, vectors, vocab_coverage = parts
    tables = Tables(document.text, document.marks)
    return Entry(
        document=document,
        spans=spans,
        vectors=vectors,
        vocab_coverage=vocab_coverage,
        paragraph_starts=paragraph_starts(document.text, spans),
        terms=[terms(tables.words(start, end)) for start, end in spans.tolist()],
        signature=signature,
        options=options,
    )


def paragraph_starts(text: str, spans: NDArray[np.int64]) -> NDArray[np.bool_]:
    r"""Mark the sentences that begin a paragraph, ``(n,)``: the first, and after empty lines.

    The sentences, ``(n, 2)``, tile the text and end with white space.

    >>> import numpy as np
    >>> paragraph_starts("One. Two.\n\nThree.", np.array([[0, 5], [5, 11], [11, 17]])).tolist()
    [True, False, True]
    """
    starts = np.zeros(len(spans), np.bool_)
    starts[:1] = True
    # An empty line belongs to the sentence before it, so it ends where the next one starts.
    gaps = [match.end() for match in _GAP.finditer(text)]
    if gaps and len(spans):
        following = np.searchsorted(spans[:, 0], np.array(gaps), side="left")
        starts[following[following < len(spans)]] = True
    return starts


def stored_entry(state: Snapshot, info: DocumentInfo) -> Entry:
    """A document as another store can keep it; its vectors are those that are stored."""
    kept = state.sentences([info])
    parts = kept.spans, state.vectors([info]), kept.vocab_coverage
    return entry(stored_document(state, info), parts, info.signature, info.options)


def held_entry(store: Store, name: str, digest: str) -> Entry | None:
    """What a store has of a file with this hash, under this name."""
    with store.snapshot() as state:
        info = state.info(name)
        return stored_entry(state, info) if info is not None and info.hash == digest else None
