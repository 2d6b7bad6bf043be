"""Training pairs whose evidence may be anywhere in the passage.

A passage as the network reads it has a random number of tokens. Where the pair's own passage is
longer, a random part of it is taken; where it is shorter, text of other passages is put around it,
so that its place is uniform. No pooling can gain by looking at the beginning.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from milepost.evaluate.tasks.reading import lines
from milepost.lab.data.long_documents import Words, stable
from milepost.lab.lmk.reader import Text

SETS = (
    "heading-questions",  # first: its passages are in other sets, too, with plainer queries
    "corpus-headings",
    "docs-headings",
    "law-headings",
    "medquad-questions",
    "meeting-queries",
    "pubmedqa",
    "textbook-terms",
)
QUERY = 64
"""Maximum tokens of a query."""
PASSAGE = 48
"""Minimum tokens of a passage."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and a passage that answers it.

    Attributes:
        query: token ids.
        passage: token ids.
        words: the query as it was written.
        source: the set it is from.
    """

    query: Text
    passage: Text
    words: str
    source: str


def read_pairs(folder: Path, words: Words, longest: int, most: int | None) -> list[Pair]:
    """The pairs of all sets, no passage twice, in an order that depends on the passages alone.

    Args:
        folder: of ``NAME.jsonl.gz``.
        words: the tokenizer.
        longest: tokens kept of a passage.
        most: of so many passages; None for all.

    Raises:
        UnreadableFile: a set is missing or damaged.
    """
    found: dict[str, tuple[str, str]] = {}
    for name in SETS:
        for line in lines(folder / f"{name}.jsonl.gz"):
            found.setdefault(line.text("passage"), (line.text("query"), name))
    ordered = sorted(found, key=stable)[:most]
    queries = words.ids([found[passage][0] for passage in ordered])
    passages = words.ids(ordered)
    return [
        Pair(array("i", query[:QUERY]), array("i", ids[:longest]), *found[passage])
        for passage, query, ids in zip(ordered, queries, passages, strict=True)
        if query and len(ids) >= PASSAGE
    ]


class Drawing:
    """Draws what the network reads of pairs; one seed always draws the same.

    Args:
        pairs: to draw from.
        sizes: least and greatest number of tokens.
        seed: of the draws.
    """

    def __init__(self, pairs: Sequence[Pair], sizes: tuple[int, int], seed: int) -> None:
        self._pairs, self._sizes = pairs, sizes
        self._random = Random(f"{seed}/passages")

    def passages(self, numbers: Sequence[int]) -> list[Text]:
        """A passage for each of some pairs, around it text of pairs that are not among them."""
        used = set(numbers)
        return [self._passage(self._pairs[number].passage, used) for number in numbers]

    def _passage(self, own: Text, used: set[int]) -> Text:
        size = self._random.randint(*self._sizes)
        if len(own) >= size:
            at = self._random.randint(0, len(own) - size)
            return own[at : at + size]
        before = self._random.randint(0, size - len(own))
        return [
            *self._filler(before, used, last=True),
            *own,
            *self._filler(size - len(own) - before, used),
        ]

    def _filler(self, size: int, used: set[int], *, last: bool = False) -> list[int]:
        """So many tokens of other passages; ``last``: that end where a passage ends."""
        parts: list[Text] = []
        missing = size
        while missing > 0:
            number = self._random.randrange(len(self._pairs))
            if number in used and len(used) < len(self._pairs):
                continue
            parts.append(self._pairs[number].passage)
            missing -= len(parts[-1])
        flat = [token for part in parts for token in part]
        return flat[len(flat) - size :] if last else flat[:size]


def same_answers(pairs: Sequence[Pair]) -> Mapping[str, frozenset[int]]:
    """Numbers of the pairs that each query has, by its words: no negatives of one another."""
    found: dict[str, set[int]] = {}
    for number, pair in enumerate(pairs):
        found.setdefault(pair.words.casefold(), set()).add(number)
    return {words: frozenset(numbers) for words, numbers in found.items()}
