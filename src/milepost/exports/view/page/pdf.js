// The page has texts alone: no document of it is shown as the pages of a PDF.

/** What document.js would show pages with. */
export class PdfView {}
