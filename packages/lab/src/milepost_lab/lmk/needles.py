"""Documents of any length with four inserted passages, one in each quarter.

The host is held-out text. Each passage has its own question and stands at a random depth within its
quarter, the same relative depth at every length. So evidence occurs at every depth, questions are
independent of their hosts, and lengths differ only in the amount of other text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from milepost.errors import InputError
from milepost_eval.tasks.reading import lines
from milepost_lab.data.long_documents import Words, stable
from milepost_lab.lmk.pairs import Pair
from milepost_lab.lmk.reader import Text

QUARTERS = 4
NEEDLE = 96
"""Maximum tokens of an inserted passage."""
ASKING = frozenset(("heading-questions", "law-headings", "medquad-questions", "textbook-terms"))
"""Sets whose queries name their subject; a heading such as "Examples" could fit any document."""


@dataclass(frozen=True, slots=True)
class Host:
    """A document with inserted passages.

    Attributes:
        name: name of the document and number of the part.
        text: token ids of the document, enough for the longest cut.
        needles: the passages, in order.
        depths: positions of the passages as shares of the text, ascending.
    """

    name: str
    text: Text
    needles: tuple[Text, ...]
    depths: tuple[float, ...]

    def cut(self, length: int) -> list[int]:
        """Cut to ``length`` tokens: the passages, and the beginning of the text around them.

        Args:
            length: more than the tokens of all passages, which are ``QUARTERS * NEEDLE`` at most.
        """
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
        quarter: quarter of the document, 0 … 3.
    """

    query: Text
    host: int
    quarter: int


def held_out(folder: Path, words: Words, longest: int, count: int) -> list[tuple[str, Text]]:
    """Cut the dev and test documents of the corpus into named parts of ``longest`` tokens.

    Parts do not overlap. At most ``count`` are returned, the first parts of all documents before
    any second part, so that a few books do not crowd out everything else.

    Raises:
        UnreadableFile: a file of the corpus is missing or damaged.
    """
    parts: list[tuple[int, str, Text]] = []
    for path in sorted(folder.glob("*.jsonl.gz")):
        for line in lines(path):
            if line.fields.get("split") not in ("dev", "test"):
                continue
            text, name = line.text("text"), line.name("id")
            if len(text) < 2 * longest:  # almost surely too short, and tokenizing takes time
                continue
            (ids,) = words.ids([text])
            for turn, at in enumerate(range(0, len(ids) - longest + 1, longest)):
                parts.append((turn, f"{name} {turn}", ids[at : at + longest]))
    parts.sort(key=lambda part: (part[0], stable(part[1])))
    return [(name, ids) for _, name, ids in parts[:count]]


def with_needles(
    texts: Sequence[tuple[str, Text]], pairs: Sequence[Pair], seed: int = 0
) -> tuple[list[Host], list[NeedleQuestion]]:
    """Insert four passages of pairs into each text.

    Args:
        texts: names and token ids, all of equal length.
        pairs: pairs whose passages are inserted, cut to ``NEEDLE`` tokens; only pairs of the sets
            ``ASKING`` are used, each query once.
        seed: seed of the depths.

    Raises:
        InputError: there are fewer than four usable pairs per text.
    """
    fresh = _asked_once(pairs)
    hosts: list[Host] = []
    questions: list[NeedleQuestion] = []
    for number, (name, text) in enumerate(texts):
        some = list(islice(fresh, QUARTERS))
        if len(some) < QUARTERS:
            usable = QUARTERS * number + len(some)
            raise InputError(
                f"{', '.join(sorted(ASKING))} have {usable} held-out queries, fewer than "
                f"{QUARTERS} for each of {len(texts)} documents",
                "--data FOLDER with more pairs of these sets",
            )
        random = Random(f"{seed} {name}")
        depths = tuple((quarter + random.random()) / QUARTERS for quarter in range(QUARTERS))
        hosts.append(Host(name, text, tuple(pair.passage[:NEEDLE] for pair in some), depths))
        questions += [
            NeedleQuestion(pair.query, number, quarter) for quarter, pair in enumerate(some)
        ]
    return hosts, questions


def _asked_once(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Yield the pairs of ``ASKING``, each query once."""
    seen: set[str] = set()
    for pair in pairs:
        words = pair.words.casefold()
        if pair.source in ASKING and words not in seen:
            seen.add(words)
            yield pair
