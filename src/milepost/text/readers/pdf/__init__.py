"""Reads a PDF: text in reading order, pages, headings, and boxes on demand.

What comes in: the bytes of a file. What goes out: a ``Document``. Reading order of the files:

    read      the whole of it
    file      bytes → an open document, or the reason why not
    glyphs    a page → its characters with places, the only file that asks pdfium for text
    records   what a printed line is
    lines     characters → printed lines            mend  lines written in pieces → one
    columns   lines → columns                       rows  lines of one column → order
    page      one page with all that; its body size
    furniture running heads and page numbers → dropped
    headings  bookmarks and large type → headings
    breaks    two lines → one paragraph or not      glue  hyphens, spaces
    join      pages → the text, and where each printed line went
    boxes     a span of the text → boxes, read from the file again
"""
