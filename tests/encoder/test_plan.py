"""Sentences to windows: one owner each, no window over its size, context on both sides."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.encoder.windows import WindowSize, cut, plan


@st.composite
def shapes(draw: st.DrawFn) -> tuple[WindowSize, list[int]]:
    """A window size and sentence costs that fit it."""
    longest = draw(st.integers(1, 40))
    size = draw(st.integers(longest + 1, 120))
    shape = WindowSize(
        size=size, left=draw(st.integers(0, 150)), right=draw(st.integers(0, 150)), longest=longest
    )
    return shape, draw(st.lists(st.integers(1, longest), max_size=60))


@given(shapes())
def test_windows_own_each_sentence_once_and_are_as_wide_as_they_may_be(
    given_: tuple[WindowSize, list[int]],
) -> None:
    shape, costs = given_
    owned = 0
    for window in plan(costs, shape):
        assert window.own_first == owned < window.own_last
        assert 0 <= window.first <= window.own_first
        assert window.own_last <= window.last <= len(costs)
        owned = window.own_last
        assert 1 + sum(costs[window.first : window.last]) <= shape.size
        assert sum(costs[window.first : window.own_first]) <= shape.left
        assert sum(costs[window.own_last : window.last]) <= shape.right
        first_owned = costs[window.own_first]
        if window.first > 0:
            left = sum(costs[window.first - 1 : window.own_first])
            assert left > shape.left or 1 + left + first_owned > shape.size
        if window.last < len(costs):
            right = sum(costs[window.own_last : window.last + 1])
            whole = sum(costs[window.first : window.last + 1])
            assert right > shape.right or 1 + whole > shape.size
    assert owned == len(costs)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="sentence 1 has 12 tokens"):
        list(plan([11, 12], WindowSize(51, 20, 0, 11)))
    with pytest.raises(ValueError, match="does not fit"):
        WindowSize(size=128, longest=128)


def tokens(text: str) -> tuple[list[int], list[int]]:
    found = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
    return [start for start, _ in found], [end for _, end in found]


def pieces(text: str, longest: int) -> list[str]:
    starts, ends = tokens(text)
    edges = [0, *(starts[n] for n in cut(text, starts, ends, longest)), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(edges)]


def test_cuts_after_the_last_clause_mark() -> None:
    assert pieces("a b, c d, e f g h i j", 8) == ["a b, c d, ", "e f g h i j"]
    assert pieces("a, b c d e f g h i", 8) == ["a, b c d e f g ", "h i"]


def test_cuts_no_cell_and_no_number_where_it_can() -> None:
    assert pieces("a: 1,234 | b, c: 5 | d, e", 13) == ["a: 1,234 | b, c: 5 | ", "d, e"]
    assert pieces("a b c d e 2,707 at 10:45 f g", 11) == ["a b c d e 2,707 at ", "10:45 f g"]


def test_chinese_clauses() -> None:
    text = "天气很好，我们去公园散步"
    starts = list(range(len(text)))
    assert cut(text, starts, [n + 1 for n in starts], 8) == [5]
