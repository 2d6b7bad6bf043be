"""A store in a folder: one SQLite file, and one file of vectors beside it.

In comes an entry, which is kept whole or not at all; out come the answers of ``store.base``.
``milepost.sqlite`` (WAL) holds texts, records, and terms in FTS5; ``vectors.seg`` holds int8 rows
that are only ever appended. A row counts when the SQLite transaction that names it has committed.
It knows nothing of scoring beyond FTS5's own BM25.

Read in this order: ``schema`` (the tables), ``segment`` (the rows of numbers), ``write``,
``selection`` (names and filters), ``vectors`` (similarity, nearest), ``faults``, ``folder`` (made,
opened, erased), ``holding`` (in use), ``connection`` (readers, transactions), ``snapshot`` and
``store`` (the contract).
"""

from milepost.store.sqlite.folder import erase
from milepost.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "erase"]
