"""A store on a PostgreSQL server with the extension pgvector.

In comes an entry, which is kept whole or not at all; out come the answers of ``store.base``, each
call of a search in one round trip. A sentence's vector is a row: its int8 values as ``halfvec``,
which holds whole numbers exactly, and their scale; so the vectors are those of the other stores.
Terms are kept in postings of our own, so that every store agrees on what a word is.

Read in this order: ``address`` (a URL, and what may be said of it), ``schema`` (the tables, made
and checked), ``write``, ``session`` (queries of one transaction, sent together), ``queries``
(which documents there are, filters, the rows a search begins with), ``snapshot``, ``upkeep``
(statistics, totals, the index), ``store`` (the contract), ``faults``.
"""

from milepost.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
