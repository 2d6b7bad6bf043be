"""How much of a claim a sentence says, and whether it says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from milepost.checking.claims.agents import has_other_agent, is_owner, is_quoted, is_said_by_another
from milepost.checking.claims.conflicts import conflicts, denied_alone, opposed, unanswered
from milepost.checking.claims.counted import (
    counts_another,
    excepts,
    is_of_another_item,
    is_of_last_year,
    is_of_whole,
    is_ranked,
    joins_items,
    lacks_each,
)
from milepost.checking.claims.modality import is_advice, is_ahead, is_framed, is_over
from milepost.checking.claims.names import adds_another, is_name_of_two, renamed, retitled
from milepost.checking.claims.reading import Reading, Word, within
from milepost.checking.claims.turned import (
    compares_alone,
    is_crossed,
    is_mirrored,
    is_of_another,
    is_reversed,
    is_split,
    is_turned,
    replaced,
)
from milepost.checking.claims.values import Conflict
from milepost.checking.claims.vocabulary import (
    EXCLUSIVE,
    OTHERS,
    POSSIBLE,
    PRONOUNS,
    TENTATIVE,
    UNIVERSAL,
)

ATTACHED = (
    is_of_another,
    counts_another,
    is_of_another_item,
    joins_items,
    is_of_last_year,
    is_reversed,
)
"""What says that a number, date, name or side belongs to something else in a sentence."""
RENAMED = (renamed, retitled, adds_another)
"""What says that the sentences of a passage name another one."""
ROLES = (
    is_turned,
    is_mirrored,
    is_split,
    is_crossed,
    is_ahead,
    is_over,
    is_ranked,
    excepts,
    is_framed,
    has_other_agent,
    is_owner,
    is_said_by_another,
    is_of_whole,
    is_quoted,
    is_advice,
    compares_alone,
)
"""What says that a sentence with all words of a claim says something else."""
_OTHERS = (*ATTACHED, *ROLES, lacks_each, replaced)

MAX_SPREAD = 4
"""Times its length, of at least eight words, over which a sentence may spread a claim's words."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim beside a sentence.

    Attributes:
        coverage: 0-1, the share of the claim's words that the sentence or its neighbours have, and
            of its numbers and dates that the sentence has.
        shared: 0-1, the share that the sentence itself has, of what does not differ.
        is_whole: every name, number and date of the claim is there, and no word that restricts it
            is on one side only.
        conflicts: what differs.
        lacks_name: whether a word of a name is nowhere, nor another one in its place.
    """

    coverage: float
    shared: float
    is_whole: bool
    conflicts: tuple[Conflict, ...]
    lacks_name: bool


def compare(
    claim: Reading,
    sentence: Reading,
    around: Sequence[Reading] = (),
    others: Sequence[Reading] = (),
) -> Comparison:
    """Compare a claim with a sentence of a document.

    Sentences and headings ``around`` it may name what it speaks of, and ``others`` have the
    claim's numbers.
    """
    texts = (sentence, *around)
    near = [each for text in around for each in text.quantities]
    values = {each.value for each in claim.quantities if each.kind == "number"}
    near += [each for text in others for each in text.quantities if each.value in values]
    differing = conflicts(claim, sentence, near)
    spans = [each.given for each in differing]
    missing = [word for word in claim.content if not _holds(word, claim, texts)]
    lost = [e for e in claim.quantities if not any(map(e.follows, sentence.quantities))]
    total = len(claim.content) + len(claim.quantities)
    rest = [word for word in claim.content if not within(word, spans)]
    numbers = [each for each in claim.quantities if not within(each, spans)]
    own = sum(_holds(word, claim, (sentence,)) for word in rest) + sum(
        any(each.allows(other) for other in sentence.quantities) for each in numbers
    )
    return Comparison(
        1.0 - (len(missing) + len(lost)) / total if total else 0.0,
        own / (len(rest) + len(numbers)) if rest or numbers else 0.0,
        not lost and not any(word.is_name for word in missing) and _is_same(claim, texts),
        differing,
        any(word.is_name and not any(text.find(word) for text in texts) for word in rest),
    )


def _holds(word: Word, claim: Reading, texts: Sequence[Reading]) -> bool:
    """Whether a text has a word, or the last word of the name whose first word it is."""
    sentence, *around = texts
    if sentence.says(word) or any(
        word.is_denied or not place.is_denied for text in around for place in text.find(word)
    ):
        return True
    return any(
        place.is_name and not (place.at and is_name_of_two(text.words[place.at - 1], place, text))
        for last in claim.words[word.at + 1 : word.at + 2]
        if word.is_name and is_name_of_two(word, last, claim)
        for text in texts
        for place in text.find(last)
    )


def _is_same(claim: Reading, texts: Sequence[Reading]) -> bool:
    """Whether nothing that restricts, denies or turns what is said stands on one side alone."""
    sentence = texts[0]
    own = {word.text.lower() for word in claim.words}
    around = {word.text.lower() for text in texts for word in text.words}
    there = {word.text.lower() for word in sentence.words}
    return not (
        (own & EXCLUSIVE and not around & EXCLUSIVE)
        or (own & UNIVERSAL and there & (EXCLUSIVE | OTHERS) - own)  # "any" of "only its"
        or (_names_other(claim, sentence) and not there & PRONOUNS)
        or (all(map(sentence.find, claim.content)) and sentence.frames - claim.frames)
        or "exception" in claim.frames - sentence.frames
        or any(opposed(claim, sentence))
        or any(each(claim, texts) for each in RENAMED)
        or renamed(claim, texts[:1])
        or any(each(claim, sentence) for each in _OTHERS)
        or denied_alone(sentence, claim)
        or (there & TENTATIVE and not own & POSSIBLE)
        or unanswered(claim, texts)
        or not _is_near(claim, sentence)
    )


def _names_other(claim: Reading, sentence: Reading) -> bool:
    """Whether a sentence lacks a name of a claim, and has one that the claim lacks."""
    return all(
        any(word.is_name and not other.find(word) for word in own.content)
        for own, other in ((claim, sentence), (sentence, claim))
    )


def _is_near(claim: Reading, sentence: Reading) -> bool:
    """Whether a sentence has the words of a claim close together."""
    places = [held[0].at for word in claim.content if (held := sentence.find(word))]
    return not places or max(places) - min(places) < MAX_SPREAD * max(len(claim.words), 8)
