"""Retrieval with one vector per document, and the parts of a document that move its vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from math import log2
from typing import Any

import torch
from torch import Tensor

from milepost.types import Document
from milepost_eval.systems.lexical import Bm25
from milepost_lab.data.long_documents import Words
from milepost_lab.lmk.base import RotaryEncoder
from milepost_lab.lmk.material import Material, Search
from milepost_lab.lmk.reader import Reader, Text
from milepost_lab.lmk.verdict import SHORT

GRANULARITY = 32
"""Granularity in measurements; the authors find it best after training with several."""
PROBED = (64, 256, 2048)
"""Other granularities at which an LMK network is probed."""
WINDOW = 512

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Found:
    """Results of one way of reading at one length.

    Attributes:
        material: ``short``, ``needles`` or ``natural``.
        reading: ``own``, or a probe: another granularity, ``windows``, ``no positions``.
        length: document length in tokens.
        ndcg: nDCG@10 of each question.
    """

    material: str
    reading: str
    length: int
    ndcg: list[float]

    def fields(self) -> dict[str, Any]:
        """The fields for JSON, rounded to four digits."""
        return {**asdict(self), "ndcg": [round(each, 4) for each in self.ndcg]}


def found(
    search: Search,
    vectors: Callable[[Sequence[Text]], Tensor],
    material: str,
    reading: str,
    length: int,
) -> Found:
    """Rank all documents for every question by the dot product of the vectors."""
    scores = vectors(search.queries) @ vectors(search.documents).T
    return _found(scores, search.right, material, reading, length)


def _found(scores: Tensor, right: Sequence[int], material: str, reading: str, length: int) -> Found:
    ndcg = [1 / log2(1 + rank) if rank <= 10 else 0.0 for rank in ranks_of(scores, right)]
    return Found(material, reading, length, ndcg)


def ranks_of(scores: Tensor, right: Sequence[int]) -> list[int]:
    """The rank of each query's document, from 1; it ranks last among equal scores.

    Args:
        scores: ``(q, n)`` scores of documents for each query.
        right: number of the right document of each query.
    """
    own = scores.gather(1, torch.tensor(right)[:, None])
    ranks: list[int] = (scores >= own).sum(dim=1).tolist()
    return ranks


def measured(reader: Reader, material: Material, lengths: Sequence[int], say: Say) -> list[Found]:
    """Measure a network with its own pooling on short texts, needles and natural documents."""

    def vectors(texts: Sequence[Text]) -> Tensor:
        return reader.vectors(texts, GRANULARITY)

    some: list[Found] = []
    for name, length, search in _searches(material, lengths):
        say(f"{length:,} tokens")
        some.append(found(search, vectors, name, "own", length))
    return some


def bm25(material: Material, words: Words, lengths: Sequence[int]) -> list[Found]:
    """Measure the package's BM25 with its default parameters on the same searches.

    Args:
        material: documents and queries as token ids, which are decoded to text.
        words: their tokenizer.
        lengths: document lengths in tokens.
    """
    some: list[Found] = []
    for name, length, search in _searches(material, lengths):
        # A document without a word would be left out, which would renumber the others.
        texts = [words.text([text]).strip() or "-" for text in search.documents]
        system = Bm25("bm25", lambda text: [(0, len(text))])
        opened = system.open([Document(str(n), text) for n, text in enumerate(texts)])
        scores = opened.scores([words.text([query]) for query in search.queries])
        some.append(_found(torch.from_numpy(scores), search.right, name, "own", length))
    return some


def _searches(material: Material, lengths: Sequence[int]) -> Iterator[tuple[str, int, Search]]:
    """Yield name, length and search of everything that is measured."""
    yield "short", SHORT, material.short_search(material.short, SHORT)
    for length in lengths:
        yield "needles", length, material.needle_search(length)
        if material.asked:
            yield "natural", length, material.natural_search(length)


def probed(reader: Reader, material: Material, lengths: Sequence[int], say: Say) -> list[Found]:
    """Measure the needles again, reading with the trained network in other ways."""
    some: list[Found] = []

    def add(reading: str, length: int, vectors: Callable[[Sequence[Text]], Tensor]) -> None:
        say(f"{reading}, {length:,} tokens")
        some.append(found(material.needle_search(length), vectors, "needles", reading, length))

    for length in lengths:
        if reader.pooling == "lmk":
            for granularity in PROBED:
                coarse = partial(reader.vectors, granularity=granularity)
                add(f"granularity {granularity}", length, coarse)
        if reader.pooling in ("lmk", "mean") and length > WINDOW:
            add(
                "windows",
                length,
                lambda texts: torch.stack(
                    [reader.windowed(text, WINDOW, GRANULARITY) for text in texts]
                ),
            )
        if isinstance(reader.network, RotaryEncoder):
            with reader.network.without_positions():
                add("no positions", length, partial(reader.vectors, granularity=GRANULARITY))
    return some


ROUNDING = 1e-6
"""Smaller distances are float32 rounding errors, which occur even between equal texts."""


def attribution(
    reader: Reader, texts: Sequence[Text], length: int, parts: int = 10
) -> list[list[float]]:
    """Measure how much each part of a document moves its vector.

    A part is replaced by the same part of the next document. Its share is ``1 - cosine`` to the
    original vector, divided by the sum over all parts. Equal shares mean that the whole document
    counts; a large first share means that the beginning dominates.

    Args:
        reader: encodes the documents.
        texts: at least two, of ``length`` tokens or more.
        length: tokens read of each text.
        parts: number of parts of a document.

    Returns:
        The share of each part, for each document; 1 in sum, or zeros if nothing moves the vector.
    """
    edges = [length * number // parts for number in range(parts + 1)]
    shares: list[list[float]] = []
    for number, text in enumerate(texts):
        other = texts[(number + 1) % len(texts)]
        changed = [
            [*text[:start], *other[start:end], *text[end:length]] for start, end in pairwise(edges)
        ]
        vectors = reader.vectors([text[:length], *changed], GRANULARITY)
        moved = 1 - vectors[1:] @ vectors[0]
        moved[moved < ROUNDING] = 0
        shares.append((moved / moved.sum().clamp(min=1e-12)).tolist())
    return shares
