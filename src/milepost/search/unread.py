"""A note where the model does not read the language of the question or of what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from milepost.language import UNKNOWN, Reads, Written, judge

LITTLE_KNOWN = 0.5
"""Vocabulary coverage below which a note is given whatever the language."""

_CHARACTERS = 4000
"""Of each passage, as many are looked at."""
_PASSAGES = 20
_OF_QUESTION = 2
"""Words that tell the language of a question, at least."""


def unread_notes(
    question: str,
    passages: Sequence[str],
    reads: Reads | None,
    vocab_coverage: float,
    landmark_share: float,
) -> tuple[str, ...]:
    """What to know of a search in a language that the model does not read: one note, or none.

    Args:
        question: in words.
        passages: their texts, best first.
        reads: what the model reads; None where that is not known.
        vocab_coverage: the lower one of the question's and the documents', 0-1.
        landmark_share: what landmarks weigh in the score, 0-1.
    """
    if reads is not None:
        note = reads.note(_most(passages), "this text")
        note = note or reads.note(judge(question, _OF_QUESTION), "the question")
        if note:
            return (note,)
    if vocab_coverage < LITTLE_KNOWN and landmark_share < 1.0:
        return (
            "the model hardly knows this language or notation (vocabulary coverage "
            f"{vocab_coverage:.0%}): landmarks weigh {landmark_share:.0%}",
        )
    return ()


def _most(passages: Sequence[str]) -> Written:
    """What most passages are written in; of short ones together, where no single one tells."""
    heads = [text[:_CHARACTERS] for text in passages[:_PASSAGES]]
    told = [each for each in map(judge, heads) if each != UNKNOWN]
    if not told:
        return judge("\n".join(heads))
    foreign = Counter(each for each in told if not each.english)
    if 2 * foreign.total() < len(told):
        return UNKNOWN
    return foreign.most_common(1)[0][0]
