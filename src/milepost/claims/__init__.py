"""Claims: what a sentence of a document says about one, by exact rules.

Rules compare words, numbers with their units, dates, negations, quantities and names. They know
English; of another language they compare numbers and dates. What they cannot decide is "related".
"""

from milepost.claims.verdict import Judgement, judge, why_not

__all__ = ["Judgement", "judge", "why_not"]
