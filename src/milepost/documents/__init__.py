"""Read files into text, and split text into sentences.

Input:  a path, bytes, or a string.
Output: a ``Document`` (types.py) and sentence spans, in code points of ``Document.text``. This
package does not depend on tokens, windows, models or indexes.

Read in this order: ``sentences.py`` (splitting), then ``lines.py``, ``breaks.py`` and ``cuts.py``,
which it uses; ``readers/`` (one file per format), ``encoding.py``; ``folders.py`` (which files);
``isolated.py`` and ``reader_process.py`` (files read in a process of their own).
"""

from milepost.documents.again import locator, stored_bytes
from milepost.documents.folders import files
from milepost.documents.readers.formats import SUFFIXES, described, read, read_bytes, read_file
from milepost.documents.sentences import split

__all__ = [
    "SUFFIXES",
    "described",
    "files",
    "locator",
    "read",
    "read_bytes",
    "read_file",
    "split",
    "stored_bytes",
]
