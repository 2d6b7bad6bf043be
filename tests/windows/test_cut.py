"""Over-long sentences are cut at clauses, at spaces, or at the limit; never in vain."""

from __future__ import annotations

import itertools
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.windows import cut


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


def test_cuts_between_words_not_in_them() -> None:
    # "abc" is three tokens, "de" two: the limit falls inside "de".
    assert cut("x x abc de", [0, 2, 4, 5, 6, 8, 9], [1, 3, 5, 6, 7, 9, 10], 6) == [5]


def test_cuts_at_the_limit_where_nothing_else_is() -> None:
    assert cut("abcdefgh", list(range(8)), list(range(1, 9)), 3) == [3, 6]


def test_chinese_clauses() -> None:
    text = "天气很好，我们去公园散步"
    starts = list(range(len(text)))
    assert cut(text, starts, [n + 1 for n in starts], 8) == [5]


@settings(max_examples=100, deadline=None)
@given(st.text("ab ,;é、字", max_size=120), st.integers(1, 30))
def test_every_piece_fits(text: str, longest: int) -> None:
    starts, ends = tokens(text)
    cuts = cut(text, starts, ends, longest)
    edges = [0, *cuts, len(starts)]
    sizes = [b - a for a, b in itertools.pairwise(edges)]
    assert all(0 < size <= longest for size in sizes) or not starts
    assert (len(sizes) == 1) == (len(starts) <= longest)
    assert all(size > longest // 2 for size in sizes[:-1])
