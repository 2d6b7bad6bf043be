"""Many files at once, on the cores of this machine or of a cluster.

In:      files, the place of an index, a cluster.
Out:     the index up to date, and a report.
Refuses: searching.
Read:    ``worker.py`` (a plain class that indexes a batch of files: whatever runs classes over
         batches can run it), ``cluster.py`` (Ray runs it).
"""

from milepost.index.workers.worker import IndexFiles

__all__ = ["IndexFiles"]
