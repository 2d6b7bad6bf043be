"""Documents of any length with four passages put in, one in each quarter.

The host is text that nobody trained on. Each passage has a question of its own, and stands at a
place drawn within its quarter: at the same share of the document at every length. So evidence is
at every depth, questions are independent of their hosts, and lengths differ only in the amount of
other text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from milepost.errors import InputError
from milepost.evaluate.tasks.reading import lines
from milepost.lab.data.long_documents import Words, stable
from milepost.lab.lmk.pairs import Pair
from milepost.lab.lmk.reader import Text

QUARTERS = 4
NEEDLE = 96
"""Maximum tokens of a passage that is put in."""
ASKING = frozenset(("heading-questions", "law-headings", "medquad-questions", "textbook-terms"))
"""Sets of pairs whose queries say what they are about; "Examples" could be of any document."""


@dataclass(frozen=True, slots=True)
class Host:
    """A document with passages put in.

    Attributes:
        name: of the document and the part of it.
        text: token ids, enough for the longest cut.
        needles: the passages, in order.
        depths: where they stand, as shares of the host's text, ascending.
    """

    name: str
    text: Text
    needles: tuple[Text, ...]
    depths: tuple[float, ...]

    def cut(self, length: int) -> list[int]:
        """So many tokens, passages included: the host's beginning around them."""
        room = length - sum(map(len, self.needles))
        places = [0, *(round(depth * room) for depth in self.depths), room]
        found: list[int] = []
        for number, needle in enumerate((*self.needles, ())):
            found += self.text[places[number] : places[number + 1]]
            found += needle
        return found


@dataclass(frozen=True, slots=True)
class NeedleQuestion:
    """A question that a passage answers.

    Attributes:
        query: token ids.
        host: number of the document that holds the passage.
        quarter: 0 … 3, where in the document.
    """

    query: Text
    host: int
    quarter: int


def held_out(folder: Path, words: Words, longest: int, count: int) -> list[tuple[str, Text]]:
    """Parts of ``longest`` tokens of the corpus' development and test documents, named.

    Long documents have several parts, which share nothing. At most ``count``; those of short
    documents first, so that a few books do not crowd out everything else.

    Raises:
        UnreadableFile: a file of the corpus is missing or damaged.
    """
    parts: list[tuple[int, str, Text]] = []
    for path in sorted(folder.glob("*.jsonl.gz")):
        for line in lines(path):
            if line.fields.get("split") not in ("dev", "test"):
                continue
            text, name = line.text("text"), line.name("id")
            if len(text) < 2 * longest:  # too short for certain, and splitting takes time
                continue
            (ids,) = words.ids([text])
            for turn, at in enumerate(range(0, len(ids) - longest + 1, longest)):
                parts.append((turn, f"{name} {turn}", ids[at : at + longest]))
    parts.sort(key=lambda part: (part[0], stable(part[1])))
    return [(name, ids) for _, name, ids in parts[:count]]


def with_needles(
    texts: Sequence[tuple[str, Text]], pairs: Sequence[Pair], seed: int = 0
) -> tuple[list[Host], list[NeedleQuestion]]:
    """Put four passages of pairs into each text.

    Args:
        texts: named, of equal length.
        pairs: whose passages are put in, their first ``NEEDLE`` tokens; of the sets ``ASKING``,
            each query once.
        seed: of the places.

    Raises:
        InputError: fewer than four pairs a text.
    """
    fresh = _asked_once(pairs)
    hosts: list[Host] = []
    questions: list[NeedleQuestion] = []
    for number, (name, text) in enumerate(texts):
        some = list(islice(fresh, QUARTERS))
        if len(some) < QUARTERS:
            raise InputError(
                f"{len(pairs)} held-out pairs are too few for {len(texts)} documents",
                "--data FOLDER with more pairs",
            )
        random = Random(f"{seed} {name}")
        depths = tuple((quarter + random.random()) / QUARTERS for quarter in range(QUARTERS))
        hosts.append(Host(name, text, tuple(pair.passage[:NEEDLE] for pair in some), depths))
        questions += [
            NeedleQuestion(pair.query, number, quarter) for quarter, pair in enumerate(some)
        ]
    return hosts, questions


def _asked_once(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """The pairs of ``ASKING``, each query once."""
    seen: set[str] = set()
    for pair in pairs:
        words = pair.words.casefold()
        if pair.source in ASKING and words not in seen:
            seen.add(words)
            yield pair
