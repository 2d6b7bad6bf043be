"""Copies of PDFs in which the answers to questions are highlighted.

In:      an index with the PDF, questions, where to write.
Out:     a file that begins with the bytes of the PDF and adds highlights, one for the evidence of
         each passage on each page, with the question and the probability as its comment.
Refuses: to change anything else of the file, and to replace a file unless told.
"""

from milepost.exports.marking.copies import AnnotatedPdf, annotate, check_copy

__all__ = ["AnnotatedPdf", "annotate", "check_copy"]
