"""Training pairs whose evidence may be anywhere in the passage.

The network reads passages of random length. A longer passage is cut to a random part; a shorter one
is surrounded with text of other passages, so that its position is uniform. No pooling can gain by
looking at the beginning only.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from milepost_eval.tasks.reading import lines
from milepost_lab.data.long_documents import Words, stable
from milepost_lab.lmk.reader import Text

SETS = (
    "heading-questions",  # first, because other sets repeat its passages with plainer queries
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
        words: the query as text.
        source: name of the pair's set.
    """

    query: Text
    passage: Text
    words: str
    source: str


def read_pairs(folder: Path, words: Words, longest: int, most: int | None) -> list[Pair]:
    """Read the pairs of all sets, each passage once, in an order that depends only on the passages.

    Args:
        folder: holds ``NAME.jsonl.gz`` for each set.
        words: the tokenizer.
        longest: maximum tokens of a passage; the rest is cut off.
        most: maximum number of passages; None for all.

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
    """Draws the passages that the network reads, the same for the same seed.

    Args:
        pairs: pairs to draw from.
        sizes: minimum and maximum number of tokens.
        seed: seed of the draws.
    """

    def __init__(self, pairs: Sequence[Pair], sizes: tuple[int, int], seed: int) -> None:
        self._pairs, self._sizes = pairs, sizes
        self._random = Random(f"{seed}/passages")

    def passages(self, numbers: Sequence[int]) -> list[Text]:
        """Draw a passage for each pair, surrounded with text of pairs outside ``numbers``."""
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
        """Draw ``size`` tokens of other passages; with ``last`` they end where a passage ends."""
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
    """Map each query text to the numbers of its pairs, which are not negatives of one another."""
    found: dict[str, set[int]] = {}
    for number, pair in enumerate(pairs):
        found.setdefault(pair.words.casefold(), set()).add(number)
    return {words: frozenset(numbers) for words, numbers in found.items()}
