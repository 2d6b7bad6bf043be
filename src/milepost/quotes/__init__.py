"""Where a quotation is in a text: word for word, or nearly, and then which words differ.

In:      two strings: what was quoted, and a text.
Out:     places in the text, in code points, with what had to be ignored or what differs.
Refuses: to know of documents, stores, models or questions.
Read:    ``folding.py`` (a text without white space, case and typography, and the way back),
         ``gaps.py`` (which white space, hyphens and word borders may differ), ``verbatim.py``
         (all places of a quotation), then ``words.py``, ``alignment.py`` and ``near.py`` (the
         places that nearly hold it), and ``cells.py`` (rows copied from tables).
"""

from milepost.quotes.cells import Rows, copied_rows
from milepost.quotes.folding import Folded, fold
from milepost.quotes.near import MAX_WORDS, near
from milepost.quotes.verbatim import Occurrence, occurrences, stripped

__all__ = [
    "MAX_WORDS",
    "Folded",
    "Occurrence",
    "Rows",
    "copied_rows",
    "fold",
    "near",
    "occurrences",
    "stripped",
]
