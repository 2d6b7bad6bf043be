"""Symbols come back from their code; a browser decodes them in the tests of the page."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from milepost.view.coding import BITS, LANES, Coded, code


def decoded(coded: Coded, groups: np.ndarray) -> np.ndarray:
    states = coded.states.astype(object)
    words = iter(coded.words.tolist())
    starts = np.cumsum(coded.frequencies, axis=1, dtype=np.int64) - coded.frequencies
    symbols = []
    for number in range(coded.rows * coded.columns):
        row, column = divmod(number, coded.columns)
        kind = coded.classes[groups[row], column]
        state = int(states[number % LANES])
        place = state % (1 << BITS)
        symbol = int(np.searchsorted(starts[kind], place, side="right")) - 1
        while not coded.frequencies[kind, symbol]:
            symbol -= 1
        state = int(coded.frequencies[kind, symbol]) * (state >> BITS) + place
        state -= int(starts[kind, symbol])
        if state < 1 << 16:
            state = state << 16 | next(words)
        states[number % LANES] = state
        symbols.append(symbol)
    assert next(words, None) is None
    return np.array(symbols, np.uint8).reshape(coded.rows, coded.columns)


@given(
    rows=st.integers(1, 60),
    columns=st.integers(1, 30),
    seed=st.integers(0, 2**32 - 1),
    spread=st.sampled_from([0.0, 0.4, 3.0, 40.0]),
)
def test_symbols_come_back(rows: int, columns: int, seed: int, spread: float) -> None:
    random = np.random.default_rng(seed)
    groups = np.sort(random.integers(0, 3, rows))
    _, groups = np.unique(groups, return_inverse=True)
    symbols = np.clip(random.normal(128, spread, (rows, columns)), 0, 255).astype(np.uint8)
    coded = code(symbols, groups)
    assert (coded.frequencies.astype(int).sum(axis=1) == 1 << BITS).all()
    assert np.array_equal(decoded(coded, groups), symbols)


def test_little_spread_takes_little_space() -> None:
    random = np.random.default_rng(1)
    symbols = np.stack(
        [random.normal(128, spread, 20_000).round() for spread in (0.3, 2.0, 30.0)], axis=1
    ).astype(np.uint8)
    shares = [np.bincount(column) / len(column) for column in symbols.T]
    ideal = -sum(float((s[s > 0] * np.log2(s[s > 0])).sum()) for s in shares) * 20_000 / 8
    coded = code(symbols, np.zeros(len(symbols), np.int64))
    assert coded.words.nbytes < 1.01 * ideal


def test_a_table_of_one_symbol_takes_nothing() -> None:
    coded = code(np.full((1000, 50), 7, np.uint8), np.zeros(1000, np.int64))
    assert not len(coded.words)
