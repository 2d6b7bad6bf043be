"""Where a quotation is in a text: word for word, or nearly, and then which words differ.

In:      two strings: what was quoted, and a text.
Out:     places in the text, in code points, with what had to be ignored or what differs.
Refuses: to know of documents, stores, models or questions.
"""

from milepost.quotes.cells import Rows as Rows
from milepost.quotes.cells import copied_rows as copied_rows
from milepost.quotes.folding import Folded as Folded
from milepost.quotes.folding import fold as fold
from milepost.quotes.folding import without_notes as without_notes
from milepost.quotes.near import MAX_WORDS as MAX_WORDS
from milepost.quotes.near import near as near
from milepost.quotes.verbatim import Occurrence as Occurrence
from milepost.quotes.verbatim import occurrences as occurrences
from milepost.quotes.verbatim import stripped as stripped
