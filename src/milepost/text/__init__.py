"""Read files into text, and split text into sentences.

In:      a path, bytes, or a string.
Out:     ``Document`` (types.py) and sentence spans, in code points of ``Document.text``.
Refuses: to know of tokens, windows, models or indexes.
Read:    ``sentences.py`` (split), then ``lines.py``, ``breaks.py`` and ``cuts.py`` under it;
         ``readers/`` (one file a format), ``encoding.py``; ``folders.py`` (which files).
"""

from milepost.text.again import locator, stored_bytes
from milepost.text.folders import files
from milepost.text.readers import SUFFIXES, read, read_bytes, read_file
from milepost.text.sentences import split

__all__ = [
    "SUFFIXES",
    "files",
    "locator",
    "read",
    "read_bytes",
    "read_file",
    "split",
    "stored_bytes",
]
