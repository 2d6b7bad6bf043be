"""Evidence found: by hand, and against a count of single characters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.evaluate.metrics import evidence_found


@pytest.mark.parametrize(
    ("returned", "evidence", "budget", "wanted"),
    [
        ([(0, 10), (20, 30)], [(5, 25)], 15, 0.5),
        ([(0, 100)], [(10, 20)], 100, 1.0),
        ([(0, 100)], [(10, 20)], 15, 0.5),
        ([(0, 100)], [(10, 20)], 10, 0.0),
        ([(50, 60), (10, 20)], [(10, 20), (50, 60)], 1000, 1.0),
        ([(10, 20), (10, 20), (50, 60)], [(10, 20), (50, 60)], 20, 0.5),  # paid twice
        ([], [(0, 5)], 10, 0.0),
        ([(0, 5)], [], 10, 0.0),
        ([(3, 3), (0, 5)], [(0, 5)], 5, 1.0),
    ],
)
def test_by_hand(
    returned: list[tuple[int, int]], evidence: list[tuple[int, int]], budget: int, wanted: float
) -> None:
    """Cases small enough to check on paper."""
    assert evidence_found(returned, evidence, budget) == pytest.approx(wanted)


SPAN = st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda pair: (pair[0], sum(pair)))


@settings(max_examples=200, deadline=None)
@given(st.lists(SPAN, max_size=6), st.sets(st.integers(0, 20), max_size=4), st.integers(1, 60))
def test_against_single_characters(
    returned: list[tuple[int, int]], places: set[int], budget: int
) -> None:
    """The same as paying for one character after the other and ticking off the evidence."""
    evidence = [(place * 3, place * 3 + 2) for place in sorted(places)]
    wanted = {offset for start, end in evidence for offset in range(start, end)}
    bought = [offset for start, end in returned for offset in range(start, end)][:budget]
    share = len(wanted & set(bought)) / len(wanted) if wanted else 0.0
    assert evidence_found(returned, evidence, budget) == pytest.approx(share)
