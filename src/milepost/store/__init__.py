"""Stores keep documents with their sentences, terms and vectors; they make no decisions.

The input is entries: a document, its sentence spans, unit vectors and lexical terms. The output is
snapshots, which return the same data and three plain lists: the rows nearest to a vector, the rows
that match terms, and the postings of a term. Stores know nothing about models, files or relevance:
they do not split, encode, weight or fuse.

Read in this order: ``base`` (the contract), ``local`` (the calls of a search in one process),
``listing`` (all documents in memory, and filters over them), ``memory`` (the simplest
implementation), ``check`` (the checks of an entry), ``conditions`` (filters as SQL), ``sqlite``
(the durable store), ``opening`` (from a folder to a store). Importing this package loads neither
numpy nor sqlite3.
"""

from milepost.store.base import (
    ALL,
    DocumentInfo,
    DocumentSelection,
    Entry,
    Measured,
    Sentences,
    Snapshot,
    Statistics,
    Store,
    stored_document,
)
from milepost.store.opening import erase_store, open_store

__all__ = [
    "ALL",
    "DocumentInfo",
    "DocumentSelection",
    "Entry",
    "Measured",
    "Sentences",
    "Snapshot",
    "Statistics",
    "Store",
    "erase_store",
    "open_store",
    "stored_document",
]
