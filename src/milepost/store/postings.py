"""Terms of a document as rows of a table, the same in every store that has such a table.

One row is one term of a document, its sentences as bytes: ``n`` sentence numbers (``<u4``), then
``n`` counts (``<u4``), then ``n`` lengths of those sentences (``<u4``): with the lengths beside
them a list is scored without another table.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from milepost.store.memory import K1, RARE_IDF, B
from milepost.store.tokens import token

Held = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]
"""Numbers, counts, lengths."""


def packed(terms: Sequence[Sequence[str]]) -> Iterator[tuple[str, int, bytes]]:
    """Token, number of sentences and bytes of each term of a document."""
    held: dict[str, dict[int, int]] = defaultdict(dict)
    for number, sentence in enumerate(terms):
        for term in sentence:
            counts = held[term]
            counts[number] = counts.get(number, 0) + 1
    lengths = np.array([len(sentence) for sentence in terms], "<u4")
    for term, counts in held.items():
        numbers = np.fromiter(counts, "<u4", len(counts))
        often = np.fromiter(counts.values(), "<u4", len(counts))
        rows = np.concatenate((numbers, often, lengths[numbers]))
        yield token(term), len(counts), rows.tobytes()


def unpacked(data: bytes) -> Held:
    """Numbers, counts and lengths again."""
    numbers, counts, lengths = np.frombuffer(data, "<u4").reshape(3, -1)
    return numbers.astype(np.int64), counts.astype(np.int32), lengths.astype(np.int32)


def best(
    held: Mapping[str, Iterable[tuple[int, int, bytes]]],
    frequencies: Mapping[str, int],
    sentences: int,
    mean: float,
    n: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows that match best by BM25, as ``MemoryStore.matching`` scores them.

    Args:
        held: for each token: document, its first row and the bytes of its postings.
        frequencies: for each token how many sentences of the store hold it.
        sentences: of the whole store.
        mean: length of a sentence.
        n: maximum number of rows.

    Returns:
        ``(n,)`` documents and rows, best first.
    """
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
    for term, records in held.items():
        often = frequencies.get(term, 0)
        idf = math.log((sentences - often + 0.5) / (often + 0.5))
        idf = idf if idf > 0 else RARE_IDF
        for document, first, data in records:
            numbers, counts, lengths = unpacked(data)
            norm = K1 * (1 - B + B * lengths / mean)
            score = idf * ((counts * (K1 + 1)) / (counts + norm))
            parts.append((np.full(len(numbers), document, np.int64), numbers + first, score))
    if not parts or n <= 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    documents, rows, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    each, at, back = np.unique(rows, return_index=True, return_inverse=True)
    total = np.zeros(len(each))
    np.add.at(total, back, scores)
    order = np.lexsort((each, -total))[:n]
    return documents[at[order]], each[order]
