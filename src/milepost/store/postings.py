"""Terms of a document as rows of a table, the same in every store that has such a table.

One row is one term of a document, its sentences as bytes: ``n`` sentence numbers (``<u4``), then
``n`` counts (``<u4``), then ``n`` lengths of those sentences (``<u4``): with the lengths beside
them a list is scored without another table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from milepost.store.base import Statistics
from milepost.store.bm25 import scores
from milepost.store.local import Postings
from milepost.store.tokens import token

Held = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]  # numbers, counts, lengths

Lists = tuple[NDArray[np.int64], NDArray[np.int64], bytes]
"""A term in many documents: the first row of each, how many of its sentences hold the term, and
the bytes of all, one behind the other."""

MOST = 2_000_000
"""Sentences up to which a word's postings are read to find candidates; of commoner words only
the rarest one is."""


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
        times = np.fromiter(counts.values(), "<u4", len(counts))
        rows = np.concatenate((numbers, times, lengths[numbers]))
        yield token(term), len(counts), rows.tobytes()


def joined(records: Iterable[tuple[int, bytes]]) -> Lists:
    """The postings of a term, of first row and bytes of each document."""
    held = list(records)
    firsts = np.array([first for first, _ in held], np.int64)
    sizes = np.array([len(data) // 12 for _, data in held], np.int64)
    return firsts, sizes, b"".join(data for _, data in held)


def best(
    held: Mapping[str, Lists], frequencies: Mapping[str, int], statistics: Statistics, n: int
) -> NDArray[np.int64]:
    """At most ``n`` rows that match best by BM25, see ``bm25.py``, best first, ties by number.

    ``held`` are the postings of each token; ``frequencies`` are those in the whole store.
    """
    sentences = statistics.sentences
    mean = statistics.terms / max(1, sentences)
    parts: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    for term, lists in held.items():
        found, counts, lengths = rows(lists)
        frequency = frequencies.get(term, 0)
        score = scores(counts, lengths, frequency=frequency, sentences=sentences, mean_length=mean)
        parts.append((found, score))
    if not parts or n <= 0:
        return np.empty(0, np.int64)
    every, parted = (np.concatenate(column) for column in zip(*parts, strict=True))
    each, back = np.unique(every, return_inverse=True)
    total = np.bincount(back, parted, len(each))
    best_rows: NDArray[np.int64] = each[np.lexsort((each, -total))[:n]]
    return best_rows


def rows(lists: Lists) -> Held:
    """Rows, counts and lengths of the postings of many documents, without a loop over them."""
    firsts, sizes, data = lists
    values = np.frombuffer(data, "<u4")
    starts = np.cumsum(sizes) - sizes
    own = np.repeat(sizes, sizes)  # the number of sentences in the list that each one is in
    at = np.arange(len(own)) + 2 * np.repeat(starts, sizes)
    counts, lengths = values[at + own], values[at + 2 * own]
    found = np.repeat(firsts, sizes) + values[at]
    return found, counts.astype(np.int32), lengths.astype(np.int32)


def of_terms(terms: Sequence[str], lists: Mapping[str, Lists]) -> dict[str, Postings]:
    """The postings of terms, of those of tokens in many documents."""
    none = np.empty(0, np.int64), np.empty(0, np.int64), b""
    found = {}
    for term in terms:
        held, counts, _ = rows(lists.get(token(term), none))
        order = np.argsort(held)
        found[term] = held[order], counts[order]
    return found
