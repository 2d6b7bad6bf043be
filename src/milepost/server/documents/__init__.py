"""The documents of a program that keeps running: a server, or an agent's tools.

In:      an index, files and folders to keep it up to date with, uploads.
Out:     documents by id and name; a thread that indexes.
Refuses: HTTP and MCP, which stand on it.
"""

from milepost.server.documents.indexing import Indexer, Progress
from milepost.server.documents.library import Library, notes_of

__all__ = ["Indexer", "Library", "Progress", "notes_of"]
