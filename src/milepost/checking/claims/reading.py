"""A sentence as it is compared: its words, what is denied of them, its numbers and dates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from milepost.checking.claims.quantities import quantities
from milepost.checking.claims.quantity import Quantity
from milepost.checking.claims.vocabulary import (
    CLAUSE_ENDS,
    COMPLEMENTS,
    EXCLUSIVE,
    FRAMES,
    LACKING,
    LIGHT,
    LIGHT_VERBS,
    NEGATIONS,
    NEGATIONS_WITH_TO,
    NOT_DENYING,
    PREVENTING,
    QUANTIFIERS,
    STATES,
    base,
    is_prefixed,
)
from milepost.documents.abbreviations import TITLES
from milepost.language.patterns import late
from milepost.language.terms import STOP_WORDS
from milepost.quotes import without_notes
from milepost.types import Span

_WORD = late(r"n['’]t\b|[^\W\d_]+(?:['’][^\W\d_]+)?|[.,;:!?()—-]")
_COUNTED = late(r"\.?\s?\d")  # "No. 5"
_SCOPE = 5  # content words behind a negation that it may deny
_REACH = 12  # words of any kind behind a negation that are looked at
_FUNCTION = STOP_WORDS - {"many", "much"} | LIGHT | NEGATIONS | QUANTIFIERS.keys() | EXCLUSIVE


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence.

    Attributes:
        base: its stem.
        at: its number among the words.
        start, end: where it is in the text.
        is_content: it is neither a function word nor a negation nor a quantifier.
        is_name: it has a capital letter where no sentence begins.
        is_denied: an odd number of negations deny it.
        complement: the word that holds where it does not, of a state: "closed" of "is open".
    """

    text: str
    base: str
    at: int
    start: int
    end: int
    is_content: bool
    is_name: bool
    is_denied: bool
    complement: str = ""


@dataclass(frozen=True, slots=True)
class Negation:
    """A negation: its word, and the words that it denies, nearest first."""

    word: Word
    scope: tuple[Word, ...]


@dataclass(frozen=True)
class Reading:
    """A sentence, read; ``words`` are all of them but numbers and dates, in order."""

    text: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    negations: tuple[Negation, ...]

    @cached_property
    def content(self) -> tuple[Word, ...]:
        """The words that say what the sentence is about."""
        return tuple(word for word in self.words if word.is_content)

    @cached_property
    def frames(self) -> frozenset[str]:
        """What restricts the whole sentence: an exception, a condition, disbelief."""
        return frozenset(frame for frame, pattern in FRAMES.items() if pattern.search(self.text))

    @cached_property
    def by_base(self) -> dict[str, list[Word]]:
        """The words of each stem."""
        held: dict[str, list[Word]] = {}
        for word in self.words:
            held.setdefault(word.base, []).append(word)
        return held

    @cached_property
    def _forms(self) -> dict[str, list[Word]]:
        """The words that are forms of a stem, of those that were looked for."""
        return {}

    def find(self, word: Word) -> list[Word]:
        """The words that are forms of a word."""
        held = self._forms.get(word.base)
        if held is None:
            alike_ones = (own for other, own in self.by_base.items() if alike(word.base, other))
            held = self._forms[word.base] = self.by_base.get(word.base) or next(alike_ones, [])
        side = _side(word) if held else None
        return [place for place in held if side is None or _side(place) in (None, side)]

    def says(self, word: Word) -> bool:
        """Whether it has a form of a word, or "not open" where that is "closed"."""
        return bool(self.find(word)) or any(self.complements(word))

    def denies(self, word: Word) -> bool:
        """Whether it has a form of a word that is denied, or "closed" where that is "open"."""
        return any(each.is_denied for each in self.find(word)) or any(self.complements(word))

    def complements(self, word: Word) -> Iterator[Word]:
        """Its words that say a word the other way round: "open", denied, of "closed"."""
        for other in self.words:
            if other.is_denied == word.is_denied:
                continue
            is_state = word.complement and other.complement == word.text.lower()
            if is_state or is_prefixed(word.text, other.text):
                yield other


_PARTY = late(r"(?:ee|er|or)s?$")
"""The end of words for who does something, and to whom it is done."""
_ENDINGS = frozenset(
    """
    ed d ing er or ion al ly ment ity ness ist ism ian an n ic ous e i y ers iv ation age
    ur t ance ence ier ial eer ship hood ful ish ese ar ari ative at ize is
    """.split()
)


def within(part: Word | Quantity, spans: Iterable[Span]) -> bool:
    """Whether a word or number begins in one of some parts of its text."""
    return any(low <= part.start < high for low, high in spans)


def _side(word: Word) -> str | None:
    """Tell "employer" and "employee", "lessor" and "lessee" apart, which have like stems."""
    found = _PARTY.search(word.text.lower())
    return found and ("done to" if found[0].startswith("ee") else "doing")


def alike(one: str, other: str) -> bool:
    """Whether two stems are forms of one word.

    >>> alike("inhibit", "inhibitor"), alike("novel", "novella")
    (True, False)
    """
    if len(one) > len(other):
        one, other = other, one
    if len(one) < 4 or not other.startswith(one[:-1]):
        return False
    if other.startswith(one):
        return other[len(one) :] in _ENDINGS
    return one[-1] in "eiy" and len(one) > 4 and other[len(one) - 1 :] in _ENDINGS


@lru_cache(maxsize=1 << 12)
def read(text: str) -> Reading:
    """Read a sentence. Numbers and dates are read in any language, negations in English."""
    shown = without_notes(text)
    found = tuple(quantities(shown))
    numbers = [(each.start, each.end) for each in found]
    tokens = [
        (match.group(), match.start(), match.end())
        for match in _WORD.finditer(shown)
        if not any(start <= match.start() < end for start, end in numbers)
    ]
    lower = [token.lower().replace("’", "'") for token, _, _ in tokens]
    for at, (_, _, end) in enumerate(tokens):
        if lower[at] == "no" and _COUNTED.match(text, end):
            lower[at] = "number"
    scopes = {at: list(_scope(lower, at)) for at in range(len(lower)) if _denies(lower, at)}
    denied = [0] * len(tokens)
    for at, scope in scopes.items():
        for each in scope:  # "neither confirmed nor denied" denies once
            denied[each] += lower[at] != "nor" or not denied[each]
    words: dict[int, Word] = {}
    begins = True
    for at, (token, start, end) in enumerate(tokens):
        if not token[0].isalpha():
            before = lower[at - 1] if token == "." and at else "  "
            begins = token in ".!?:" and before not in TITLES and len(before) > 1  # "Dr.", "J."
            continue
        plain = lower[at].removesuffix("'s")
        is_content = len(plain) > 1 and plain not in _FUNCTION
        is_name = is_content and token[0].isupper() and (not begins or token[1:].isupper())
        odd = denied[at] % 2 == 1
        complement = COMPLEMENTS.get(plain, "")
        if complement:  # of few words, so that no other is looked at behind its verb
            verbs = (base(each.removesuffix("n't")) for each in lower[max(0, at - 2) : at])
            complement = complement if STATES.intersection(verbs) else ""
        words[at] = Word(
            token, base(plain), len(words), start, end, is_content, is_name, odd, complement
        )
        begins = False
    return Reading(
        text,
        tuple(words.values()),
        found,
        tuple(
            Negation(words[at], tuple(words[each] for each in scope))
            for at, scope in scopes.items()
        ),
    )


def _denies(words: list[str], at: int) -> bool:
    word = words[at]
    behind = next((each for each in words[at + 1 : at + 3] if each != "be"), "")
    if word in NEGATIONS:
        is_choice = word == "not" and "or" in words[max(0, at - 2) : at]  # "may or may not"
        return (word, behind) not in NOT_DENYING and not is_choice
    if " ".join(words[max(0, at - 2) : at + 1]).endswith(LACKING):
        return True
    if word == "from" and behind.endswith("ing"):
        return not PREVENTING.isdisjoint(words[max(0, at - 5) : at])
    return word in NEGATIONS_WITH_TO and behind == "to"


def _scope(words: list[str], at: int) -> Iterator[int]:
    left = _SCOPE
    for number in range(at + 1, min(len(words), at + _REACH)):
        word = words[number]
        if word in CLAUSE_ENDS or (word == "," and left < _SCOPE):
            return
        if words[number + 1 : number + 2] == ["-"]:  # "not slave-makers" says nothing of slaves
            continue
        is_verb = number == at + 1 and word in LIGHT_VERBS  # "is not used"
        if is_verb or (word[0].isalpha() and len(word) > 1 and word not in _FUNCTION):
            yield number
            left -= 1
            if not left:
                return
