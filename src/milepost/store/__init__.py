"""Keeps documents, their sentences, terms and vectors; decides nothing.

In come entries: a document, its sentence spans, unit vectors and lexical terms. Out come
snapshots: the same things again, and three plain lists over all of them: the rows nearest to a
vector, the rows that match terms, the postings of a term. It knows neither models nor files
nor what a good answer is: it cannot split, encode, weigh or fuse.

Read in this order: ``base`` (the contract), ``local`` (the calls of a search in one process),
``listing`` and ``columns`` (all documents in memory, and filters over them), ``memory`` (the
contract at its plainest), ``check`` (what an entry must be), ``conditions`` (filters as SQL),
``sqlite`` (the durable one), ``opening`` (a folder to a store).
Importing the room loads neither numpy nor sqlite3.
"""

from milepost.store.base import (
    EVERYWHERE,
    Among,
    DocumentInfo,
    Entry,
    Measured,
    Sentences,
    Snapshot,
    Statistics,
    Store,
)
from milepost.store.opening import erase_store, open_store

__all__ = [
    "EVERYWHERE",
    "Among",
    "DocumentInfo",
    "Entry",
    "Measured",
    "Sentences",
    "Snapshot",
    "Statistics",
    "Store",
    "erase_store",
    "open_store",
]
