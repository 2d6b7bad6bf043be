"""Read files into text, and split text into sentences.

Input:  a path, bytes, or a string.
Output: a ``Document`` (types.py) and sentence spans, in code points of ``Document.text``. This
package does not depend on tokens, windows, models or indexes.

Read in this order: ``sentences.py`` (splitting), then ``lines.py``, ``breaks.py`` and ``cuts.py``,
which it uses; ``readers/`` (one file per format), ``encoding.py``; ``folders.py`` (which files).
"""

from milepost.text.again import locator, stored_bytes
from milepost.text.folders import files
from milepost.text.readers.formats import SUFFIXES, described, read, read_bytes, read_file
from milepost.text.sentences import split

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
