"""Windows to batches: everything once, under the budget, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.windows import batches


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 300), max_size=80), st.integers(1, 600), st.integers(1, 20))
def test_every_item_is_in_one_batch(lengths: list[int], budget: int, look_ahead: int) -> None:
    items = [(length, number) for number, length in enumerate(lengths)]
    made = list(batches(items, budget=budget, look_ahead=look_ahead))
    assert sorted(number for batch in made for number in batch) == list(range(len(lengths)))
    for batch in made:
        assert batch
        longest = max(lengths[number] for number in batch)
        assert len(batch) == 1 or len(batch) * longest <= budget


def test_no_more_is_held_than_the_look_ahead() -> None:
    taken = 0

    def endless() -> Iterator[tuple[int, int]]:
        nonlocal taken
        while True:
            taken += 1
            yield 10, taken

    stream = batches(endless(), budget=50, look_ahead=16)
    for _ in range(4):
        next(stream)
        assert taken <= 16


def test_similar_lengths_stand_together() -> None:
    items = [(length, length) for length in (90, 5, 80, 6, 7, 85)]
    assert list(batches(items, budget=270)) == [[5, 6, 7], [80, 85, 90]]
