"""Claims: what a sentence of a document says about one, by exact rules, then by a model.

Rules compare words, numbers with their units, dates, negations, quantities and names. They know
English; of another language they compare numbers and dates. What they cannot decide is left to the
model, if there is one; what that cannot is "related".
"""

from milepost.checking.claims.comparison import compare
from milepost.checking.claims.joined import LONGEST, joined, with_lead_in
from milepost.checking.claims.kinds import AROUND, noted, with_kinds
from milepost.checking.claims.rewording import as_written
from milepost.checking.claims.verdict import Said, judge, why_not

__all__ = [
    "AROUND",
    "LONGEST",
    "Said",
    "as_written",
    "compare",
    "joined",
    "judge",
    "noted",
    "why_not",
    "with_kinds",
    "with_lead_in",
]
