"""Readers: one file a format, bytes in, ``Document`` out.

In:      the bytes of a file and its name.
Out:     the text a person would read, with marks (pages, headings), block borders and notes.
Refuses: to know of sentences, folders, models or indexes.
Read:    ``formats.py`` (which reader for which bytes), ``draft.py``, then any format;
         ``archive.py`` stands under ``docx.py`` and ``epub.py``.
"""

from milepost.text.readers.formats import SUFFIXES, read, read_bytes

__all__ = ["SUFFIXES", "read", "read_bytes"]
