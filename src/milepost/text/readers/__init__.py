"""Read file formats, one file for each: bytes in, ``Document`` out.

In:      the bytes of a file and its name.
Out:     the readable text, with marks (pages, headings, slides …), block boundaries and notes.
Refuses: to know of sentences, folders, models or indexes.
Read:    ``formats.py`` (which reader for which bytes), ``builder.py``, then any format.
         ``harmless.py`` makes names and notes fit to be printed;
         ``archive.py`` opens zips for docx, epub, slides, OpenDocument and sheets; ``ole.py`` tells
         old Office containers apart; ``table.py`` writes rows for ``sheets.py`` and
         ``delimited.py``; ``outlook.py`` hands what it finds to ``mail.py``.
"""

from milepost.text.readers.formats import SUFFIXES, read, read_bytes, read_file

__all__ = ["SUFFIXES", "read", "read_bytes", "read_file"]
