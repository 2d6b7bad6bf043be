"""Read file formats, one module for each: bytes in, ``Document`` out.

Input:  the bytes of a file and its name.
Output: the readable text, with marks (pages, headings, slides …), block boundaries and notes. This
package does not depend on sentences, folders, models or indexes. Each reader raises UnreadableFile
if the file is damaged, locked or of another format.

Read in this order: ``formats.py`` (chooses the reader), ``builder.py``, then any format.
``scripts.py`` shows superscripts, ``grid.py`` writes tables, ``numbering.py`` numbers of lists,
``formulas.py`` formulas, ``fonts.py`` symbol fonts, ``shapes.py`` orders shapes; ``office.py``
finds the parts of Office files and reads diagrams and charts; ``archive.py`` opens zip
files for docx, epub, slides, OpenDocument and sheets; ``rtf_words.py`` has the words of RTF;
``table.py`` reads CSV and writes rows for ``sheets.py``; ``outlook.py`` passes messages to
``mail.py``.
"""
