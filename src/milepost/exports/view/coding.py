"""Symbols in as few bytes as their frequencies allow (range coding, rANS; Duda, arXiv 1311.2540).

Deflate finds no repeats in quantised vectors and spends whole bits on each symbol; here a column
of little spread takes little. Symbols are bytes in a table, coded row by row in ``LANES`` streams
that share their words, which is what makes it fast in NumPy; the page decodes them in turn
(``page/symbols.js``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LANES = 512
BITS = 14  # frequencies of a class sum to two to this

_LOWEST = 1 << 16
_CLASSES = 24


@dataclass(frozen=True, slots=True)
class Coded:
    """A table of symbols, coded.

    Attributes:
        classes: ``(groups, columns)`` uint8: which frequencies hold in a column of a group of rows.
        frequencies: ``(classes, 256)`` uint16, the sum of each is ``1 << BITS``.
        states: ``(LANES,)`` uint32: what the decoder begins with.
        words: uint16, in the order that it reads them in.
    """

    rows: int
    columns: int
    classes: NDArray[np.uint8]
    frequencies: NDArray[np.uint16]
    states: NDArray[np.uint32]
    words: NDArray[np.uint16]


def code(symbols: NDArray[np.uint8], groups: NDArray[np.int64]) -> Coded:
    """Code a table of ``(rows, columns)`` symbols, which is not empty.

    ``groups``, ``(rows,)`` ascending from 0, are rows whose columns are alike in spread.
    """
    rows, columns = symbols.shape
    classes = _classes(symbols, groups, int(groups[-1]) + 1)
    pairs = classes[groups].astype(np.int64) * 256 + symbols
    held = np.bincount(pairs.ravel(), minlength=256 * (int(classes.max()) + 1))
    frequencies = np.stack([_shares(row) for row in held.reshape(-1, 256)])
    before = np.cumsum(frequencies, axis=1) - frequencies
    flat = pairs.ravel()
    often, start = frequencies.ravel(), before.ravel()
    states = np.full(LANES, _LOWEST, np.uint64)
    chunks: list[NDArray[np.uint16]] = []
    for at in range((len(flat) - 1) // LANES * LANES, -1, -LANES):
        now = flat[at : at + LANES]
        state, share = states[: len(now)], often[now].astype(np.uint64)
        full = state >= share << np.uint64(32 - BITS)
        chunks.append((state[full] & np.uint64(0xFFFF)).astype(np.uint16))
        state = np.where(full, state >> np.uint64(16), state)
        whole, rest = np.divmod(state, share)
        states[: len(now)] = (whole << np.uint64(BITS)) + rest + start[now].astype(np.uint64)
    words = np.concatenate(chunks[::-1])
    return Coded(
        rows, columns, classes, frequencies.astype(np.uint16), states.astype(np.uint32), words
    )


def _classes(
    symbols: NDArray[np.uint8], groups: NDArray[np.int64], count: int
) -> NDArray[np.uint8]:
    """``(groups, columns)`` by their spread: a class where all symbols are one, then ranks."""
    columns = symbols.shape[1]
    spread = np.zeros((count, columns))
    centre = np.zeros((count, columns))
    for group in range(count):
        part = symbols[np.searchsorted(groups, group) : np.searchsorted(groups, group + 1)]
        spread[group] = part.std(axis=0)
        centre[group] = part.mean(axis=0)
    varied = spread > 0
    classes = np.zeros((count, columns), np.int64)
    if varied.any():
        log = np.log(spread[varied])
        width = max(float(np.ptp(log)), 1e-9) / _CLASSES
        classes[varied] = 1 + np.minimum(((log - log.min()) / width).astype(np.int64), _CLASSES - 1)
    for group, column in zip(*np.nonzero(~varied), strict=True):
        classes[group, column] = _CLASSES + 1 + int(centre[group, column])
    _, dense = np.unique(classes, return_inverse=True)
    return dense.reshape(count, columns).astype(np.uint8)


def _shares(held: NDArray[np.int64]) -> NDArray[np.int64]:
    """Frequencies that sum to ``1 << BITS``, none of a symbol that occurs being 0."""
    total = int(held.sum())
    shares = np.zeros(256, np.int64)
    there = held > 0
    shares[there] = np.maximum(1, np.floor(held[there] / total * (1 << BITS))).astype(np.int64)
    rest = (1 << BITS) - int(shares.sum())
    order = np.argsort(-shares, kind="stable")
    place = 0
    while rest:  # to the commonest, or from what has more than one
        number = order[place % 256]
        step = 1 if rest > 0 else -1
        if there[number] and shares[number] + step >= 1:
            shares[number] += step
            rest -= step
        place += 1
    return shares
