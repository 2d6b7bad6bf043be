"""Needles in haystacks: one invented sentence in real text, and a question that only it answers.

A needle is about a person whose name is composed of syllables, so that neither the name nor the
fact occurs in the text. Its words are drawn by a generator seeded with ``seed`` and its position in
the task: the same call gives the same task.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from milepost.errors import InputError
from milepost.text import split as sentences_of
from milepost.types import Document
from milepost_eval.types import Question, Split, Task

_FIRST = ("bra", "dor", "el", "fen", "gal", "hes", "ji", "kor", "lum", "mar", "nev", "os", "quil")
_MIDDLE = ("da", "be", "li", "mo", "nu", "ra", "ve", "zi")
_LAST = ("den", "fis", "gar", "lan", "mok", "nith", "rek", "sul", "ton", "vask")
_THINGS = ("brass lantern", "cello", "ivory comb", "letter", "map", "pocket watch", "silver key")
_PLACES = ("chapel", "flour mill", "harbour office", "ice house", "orchard wall", "stable", "well")
_CRAFTS = ("bookbinder", "clockmaker", "falconer", "glass blower", "piano tuner", "surveyor")
_COLOURS = ("amber", "crimson", "emerald", "indigo", "ochre", "scarlet", "turquoise")
_TEMPLATES = (
    ("{name} hid the {colour} {thing} behind the {place}.", "Where did {name} hide something?"),
    ("The {craft} {name} was born in the year {number}.", "In which year was {name} born?"),
    ("{name} earns a living as a {craft} near the {place}.", "What is the profession of {name}?"),
    ("The {thing} that {name} sold brought {number} crowns.", "How much money did {name} get?"),
    ("For the door, {name} chose {colour} paint.", "Which colour did {name} like for the door?"),
)

LENGTHS = (4_000, 16_000, 64_000, 256_000)
"""Lengths in characters of the documents of the task ``needle``; millions are possible."""

DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Depths of the task ``needle``: shares of the document before the needle."""


def needles(
    haystack: str,
    *,
    lengths: Sequence[int] = LENGTHS,
    depths: Sequence[float] = DEPTHS,
    seed: int = 0,
    split: Split = "dev",
) -> Task:
    """One document per length and depth, of the haystack's own sentences and one needle.

    A document starts where the haystack does. A document longer than the haystack continues with
    the haystack from another sentence, a new one each round, so that no long run of sentences
    returns in the same order; ``notes`` says how often. The needle is inserted at the sentence
    boundary nearest to its depth.

    Args:
        haystack: real text.
        lengths: characters of a document with its needle; it may be longer by less than a sentence.
            5,000,000 are about a million tokens of English.
        depths: position of the needle, 0 (first) to 1 (last).
        seed: of the words and of the rounds.
        split: how the task is labelled.

    Returns:
        A task whose questions have the kind ``LENGTH@DEPTH``.

    Raises:
        InputError: no text, a length too short for a needle, a depth outside 0–1.
    """
    pieces = _sentences(haystack)
    _check(lengths, depths)
    invent = _Inventor(haystack, seed)
    documents: list[Document] = []
    questions: list[Question] = []
    for length in lengths:
        for depth in depths:
            needle = invent.needle()
            filler = _filler(pieces, length - len(needle.sentence), random.Random(seed))
            starts = [0, *accumulate(map(len, filler))]
            start = _nearest(starts, depth * starts[-1])
            name = f"{length}@{depth:g}"
            text = "".join(filler)
            _add(documents, questions, name, text, start, needle)
    whole = sum(map(len, pieces))
    repeated = sorted({length for length in lengths if length > whole})
    return Task(
        name="needle",
        split=split,
        documents=tuple(documents),
        questions=tuple(questions),
        facts={question.name: {"needle": question.kind} for question in questions},
        notes=tuple(
            f"documents of {length} characters hold the text of {whole} characters "
            f"{length / whole:.1f} times"
            for length in repeated
        ),
    )


@dataclass(frozen=True, slots=True)
class _Needle:
    sentence: str
    question: str


class _Inventor:
    """Makes needles whose names occur neither in the text nor in an earlier needle."""

    def __init__(self, text: str, seed: int) -> None:
        self._text = text.casefold()
        self._random = random.Random(f"needle {seed}")
        self._count = 0
        self._used: set[str] = set()

    def needle(self) -> _Needle:
        """The next one; templates take turns."""
        draw = self._random
        sentence, question = _TEMPLATES[self._count % len(_TEMPLATES)]
        self._count += 1
        words = {
            "name": self._name(),
            "thing": draw.choice(_THINGS),
            "place": draw.choice(_PLACES),
            "craft": draw.choice(_CRAFTS),
            "colour": draw.choice(_COLOURS),
            "number": str(draw.randrange(1100, 1990)),
        }
        return _Needle(sentence.format(**words), question.format(**words))

    def _name(self) -> str:
        while True:
            first, last = self._word(), self._word()
            both = {first.casefold(), last.casefold()}
            if len(both) == 2 and not both & self._used and not any(w in self._text for w in both):
                self._used |= both
                return f"{first} {last}"

    def _word(self) -> str:
        parts = (_FIRST, _MIDDLE, _MIDDLE, _LAST)
        return "".join(self._random.choice(part) for part in parts).capitalize()


def _sentences(text: str) -> list[str]:
    """The sentences of the text, the last with white space behind it so that another can follow."""
    if not text.strip():
        raise InputError("the haystack has no text", "a file with text")
    whole = text.strip() + "\n\n"
    return [whole[start:end] for start, end in sentences_of(whole)]


def _check(lengths: Sequence[int], depths: Sequence[float]) -> None:
    for depth in depths:
        if not 0 <= depth <= 1:
            raise InputError(f"depth {depth} is not between 0 and 1", "0.5, the middle")
    for length in lengths:
        if length < 200:
            raise InputError(
                f"a document of {length} characters has no room for a needle",
                "200 characters or more",
            )
    if not lengths or not depths:
        raise InputError("no length or no depth", "one of each or more")
    if len(set(lengths)) < len(lengths) or len(set(depths)) < len(depths):
        raise InputError("a length or depth is given twice", "each one once")


def _filler(pieces: Sequence[str], minimum: int, draw: random.Random) -> list[str]:
    """Sentences with at least ``minimum`` characters in all, and not one sentence more."""
    filler: list[str] = []
    length = 0
    for piece in _rounds(pieces, draw):
        if length >= minimum:
            break
        filler.append(piece)
        length += len(piece)
    return filler


def _rounds(pieces: Sequence[str], draw: random.Random) -> Iterator[str]:
    yield from pieces
    while True:
        first = draw.randrange(len(pieces))
        yield from pieces[first:]
        yield from pieces[:first]


def _nearest(starts: Sequence[int], wanted: float) -> int:
    at = bisect_left(starts, wanted)
    return min(starts[max(0, at - 1) : at + 1], key=lambda start: abs(start - wanted))


def _add(
    documents: list[Document],
    questions: list[Question],
    name: str,
    text: str,
    at: int,
    needle: _Needle,
) -> None:
    """One document with its needle, and the question."""
    before, after = text[:at], text[at:]
    # The white space in front of the needle is repeated behind it, a blank in running text, an
    # empty line between paragraphs, so that it neither joins nor splits sentences.
    space = before[len(before.rstrip()) :] if before else "\n\n"
    head = before if before == "" or space else before + " "
    start = len(head)
    full = f"{head}{needle.sentence}{space or ' '}{after}"
    documents.append(Document(name=name, text=full))
    span = (start, start + len(needle.sentence))
    questions.append(Question(name, needle.question, name, (span,), {name: 1}, name))
