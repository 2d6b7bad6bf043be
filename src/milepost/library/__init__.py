"""The documents of a program that keeps running: a server, or an agent's tools.

In:      an index, files and folders to keep it up to date with, uploads.
Out:     documents by id and title; a thread that indexes; a process that reads files.
Refuses: HTTP and MCP, which stand on it.
Read:    ``documents.py`` (ids, titles, uploads), ``indexing.py`` (one thread that adds files),
         ``isolated.py`` and ``reading.py`` (files are read in a process of their own),
         ``watching.py`` (follows folders).
"""

from milepost.library.documents import Library, document_id, short_id
from milepost.library.indexing import Indexer, Progress
from milepost.library.isolated import Isolated

__all__ = ["Indexer", "Isolated", "Library", "Progress", "document_id", "short_id"]
