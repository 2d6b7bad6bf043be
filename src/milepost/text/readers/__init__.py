"""Read file formats, one file for each: bytes in, ``Document`` out.

In:      the bytes of a file and its name.
Out:     the readable text, with marks (pages, headings), block boundaries and notes.
Refuses: to know of sentences, folders, models or indexes.
Read:    ``formats.py`` (which reader for which bytes), ``builder.py``, then any format;
         ``archive.py`` is used by ``docx.py`` and ``epub.py``.
"""

from milepost.text.readers.formats import SUFFIXES, read, read_bytes

__all__ = ["SUFFIXES", "read", "read_bytes"]
