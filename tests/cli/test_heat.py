"""The heat strip of a document: the greatest score in each of its parts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from milepost.console.heat import CELLS, peaks, strip

SHARE = st.floats(0, 1, width=32)


def curve(*points: tuple[float, float]) -> np.ndarray:
    return np.array(points, np.float32).reshape(-1, 2)


@given(st.lists(st.tuples(SHARE, SHARE), max_size=80), st.integers(1, 100) | st.just(CELLS))
def test_it_equals_a_plain_loop(points: list[tuple[float, float]], cells: int) -> None:
    heights = [0.0] * cells
    for position, score in points:
        part = min(int(position * cells), cells - 1)
        heights[part] = max(heights[part], score)
    found = strip(curve(*points), cells)
    assert found == tuple(round(height, 4) for height in heights)
    assert all(type(height) is float for height in found)


@given(st.lists(st.tuples(SHARE, SHARE), max_size=80), st.integers(1, 100), st.integers(1, 10**6))
def test_peaks_are_offsets_of_the_greatest(
    points: list[tuple[float, float]], cells: int, characters: int
) -> None:
    found = peaks(curve(*points), characters, cells)
    for part, offset in enumerate(found):
        inside = [(s, p) for p, s in points if min(int(p * cells), cells - 1) == part]
        if inside:
            best = max(score for score, _ in inside)
            assert offset in {int(p * characters) for score, p in inside if score == best}
        else:
            assert offset == part * characters // cells
