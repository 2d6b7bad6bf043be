"""Needles in haystacks: one invented sentence in real text, and a question that only it answers.

A needle tells of a person whose name is made of syllables, so that neither the name nor the fact
stands in the text. Its words are drawn by a generator seeded with ``seed`` and its place in the
task: the same call gives the same task.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from milepost.errors import InputError
from milepost.evaluate.types import Question, Split, Task
from milepost.text import split as sentences_of
from milepost.types import Document
from milepost.windows import WindowSize, plan

if TYPE_CHECKING:
    from milepost.encoder import Encoder

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
"""Characters of the documents of the task ``needle``; a caller may ask for millions."""

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
    """One document a length and depth, of the haystack's own sentences and one needle.

    A document starts where the haystack does. One longer than the haystack goes on with it from
    another sentence on, a new one each round, so that no long run of sentences returns in the
    same order; ``notes`` says how often. The needle stands at the border of sentences that is
    nearest to its depth.

    Args:
        haystack: real text.
        lengths: characters of a document, needle included; what comes is longer by less than a
            sentence. 5,000,000 are about a million tokens of English.
        depths: where the needle stands, 0 (first) to 1 (last).
        seed: of the words and of the rounds.
        split: how the task is labelled.

    Returns:
        A task whose questions have the kind ``LENGTH@DEPTH``.

    Raises:
        InputError: no text, a length that a needle does not fit in, a depth outside 0–1.
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
            borders = [0, *accumulate(map(len, filler))]
            border = _nearest(borders, depth * borders[-1])
            name = f"{length}@{depth:g}"
            text = "".join(filler)
            _add(documents, questions, name, name, text, border, needle)
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


def needles_at(text: str, borders: Sequence[int], *, seed: int = 0, split: Split = "dev") -> Task:
    """One document a border: the text with a needle at it, the rest as it was.

    A needle at the border of two windows becomes the first sentence of the later one (or the last
    of the earlier, where room was left), so each document tests one border; several needles in
    one document would move each other's windows.

    Args:
        text: real text.
        borders: code points of the text at which a sentence starts; see ``window_borders``.
        seed: of the words.
        split: how the task is labelled.

    Returns:
        A task whose questions have the kind ``border``.

    Raises:
        InputError: no text, no borders, or one outside the text.
    """
    _sentences(text)
    if not borders:
        raise InputError("there is no border to put a needle at", "give a longer text")
    invent = _Inventor(text, seed)
    documents: list[Document] = []
    questions: list[Question] = []
    for border in borders:
        if not 0 <= border <= len(text):
            raise InputError(
                f"border {border} is outside the text of {len(text)} characters",
                "count code points",
            )
        _add(documents, questions, f"border {border}", "border", text, border, invent.needle())
    return Task(
        name="needle-borders", split=split, documents=tuple(documents), questions=tuple(questions)
    )


def window_borders(text: str, encoder: Encoder) -> list[int]:
    """Where windows of a text meet: the start of each window's first own sentence but the first.

    Args:
        text: any text.
        encoder: whose tokens and window sizes count.

    Returns:
        Code points, ascending; empty where one window holds the text.
    """
    sizes = encoder.manifest
    starts: list[int] = []
    costs: list[int] = []
    for start, end in sentences_of(text):
        count = encoder.count_tokens(text[start:end])
        if count <= sizes.longest:
            starts.append(start)
            costs.append(count + 1)
            continue
        # The encoder alone knows where it cuts an over-long sentence; these are few.
        for low, high in encoder.encode(text[start:end]).spans.tolist():
            starts.append(start + low)
            piece = encoder.count_tokens(text[start + low : start + high])
            costs.append(min(piece, sizes.longest) + 1)
    shape = WindowSize(sizes.window, sizes.left, sizes.right, sizes.longest + 1)
    return [starts[window.own_first] for window in plan(costs, shape) if window.own_first]


@dataclass(frozen=True, slots=True)
class _Needle:
    sentence: str
    question: str


class _Inventor:
    """Needles whose names stand neither in the text nor in an earlier needle."""

    def __init__(self, text: str, seed: int) -> None:
        self._text = text.casefold()
        self._chance = random.Random(f"needle {seed}")
        self._count = 0
        self._used: set[str] = set()

    def needle(self) -> _Needle:
        """The next one; templates take turns."""
        chance = self._chance
        sentence, question = _TEMPLATES[self._count % len(_TEMPLATES)]
        self._count += 1
        words = {
            "name": self._name(),
            "thing": chance.choice(_THINGS),
            "place": chance.choice(_PLACES),
            "craft": chance.choice(_CRAFTS),
            "colour": chance.choice(_COLOURS),
            "number": str(chance.randrange(1100, 1990)),
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
        return "".join(self._chance.choice(part) for part in parts).capitalize()


def _sentences(text: str) -> list[str]:
    """The text's sentences, the last one with an end, so that another can follow."""
    if not text.strip():
        raise InputError("the haystack has no text", "give a file with real text")
    whole = text.strip() + "\n\n"
    return [whole[start:end] for start, end in sentences_of(whole)]


def _check(lengths: Sequence[int], depths: Sequence[float]) -> None:
    for depth in depths:
        if not 0 <= depth <= 1:
            raise InputError(f"depth {depth} is not between 0 and 1", "0.5 for the middle")
    for length in lengths:
        if length < 200:
            raise InputError(
                f"a document of {length} characters has no room for a needle", "ask for 200 or more"
            )
    if not lengths or not depths:
        raise InputError("there is no length or no depth to put a needle at", "give at least one")
    if len(set(lengths)) < len(lengths) or len(set(depths)) < len(depths):
        raise InputError("a length or depth stands twice", "give each once")


def _filler(pieces: Sequence[str], least: int, chance: random.Random) -> list[str]:
    """Sentences of at least ``least`` characters, at most one sentence more."""
    filler: list[str] = []
    length = 0
    for piece in _rounds(pieces, chance):
        if length >= least:
            break
        filler.append(piece)
        length += len(piece)
    return filler


def _rounds(pieces: Sequence[str], chance: random.Random) -> Iterator[str]:
    yield from pieces
    while True:
        first = chance.randrange(len(pieces))
        yield from pieces[first:]
        yield from pieces[:first]


def _nearest(borders: Sequence[int], place: float) -> int:
    at = bisect_left(borders, place)
    return min(borders[max(0, at - 1) : at + 1], key=lambda border: abs(border - place))


def _add(
    documents: list[Document],
    questions: list[Question],
    name: str,
    kind: str,
    text: str,
    border: int,
    needle: _Needle,
) -> None:
    """One document with its needle, and the question."""
    before, after = text[:border], text[border:]
    # The needle is followed by the white space that stood before it: in running text a blank,
    # between paragraphs an empty line, so that it neither joins nor tears sentences.
    space = before[len(before.rstrip()) :] if before else "\n\n"
    head = before if before == "" or space else before + " "
    start = len(head)
    full = f"{head}{needle.sentence}{space or ' '}{after}"
    documents.append(Document(name=name, text=full))
    span = (start, start + len(needle.sentence))
    questions.append(Question(name, needle.question, name, (span,), {name: 1}, kind))
