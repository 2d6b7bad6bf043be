"""Read PDF files: text in reading order, pages, headings, and boxes on demand.

Bytes of a file in, a ``Document`` out. Reading order of the files:

    read      the whole process
    file      bytes → an open document, or the reason why it cannot be opened
    glyphs    a page with what is typed on it → its characters with positions
    annotations  values of fields, notes and boxes → a part of the page
    writing   the objects that draw them; with glyphs, the only file that calls pdfium for text
    native    calls of pdfium with plain handles
    bidirectional  lines from right to left → the order in which they are read
    vertical  characters below each other → columns, turned to lie on their side
    hidden    characters that cannot be seen        picture  the drawn page, to see that
    records   what a printed line holds
    lines     characters → printed lines            repair  lines written in pieces → one
    columns   lines → columns                       rows  lines of one column → order
    page      one page with all this; its body size
    furniture running heads, page numbers and numbers of lines → dropped, but for the first copy
    headings  bookmarks, large and bold type → headings
    breaks    two lines → one paragraph or not      line_joiner  hyphens, spaces
    join      pages → the text, and where each printed line went
    xfa       a dynamic form, which has no pages → its text
    boxes     a span of the text → boxes, from its pages, which are read again
"""
