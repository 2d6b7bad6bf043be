"""Documents with passages put in."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.lmk.needles import NEEDLE, QUARTERS, Host, with_needles  # noqa: E402
from milepost_lab.lmk.pairs import Pair  # noqa: E402
from milepost_lab.lmk.settings import SIZES  # noqa: E402


def pair(number: int, source: str = "law-headings") -> Pair:
    token = 1000 + number
    return Pair(array("i", [token]), array("i", [token] * 5), f"query {number}", source)


@given(
    length=st.integers(40, 400),
    shares=st.lists(st.floats(0, 1), min_size=4, max_size=4),
)
def test_a_cut_has_its_length_and_all_passages(length: int, shares: list[float]) -> None:
    """Passages stand in their quarters; the host's text around them is its beginning."""
    needles = tuple([1000 + n] * 5 for n in range(4))
    depths = tuple((quarter + share) / 4 for quarter, share in enumerate(shares))
    host = Host("a", list(range(400)), needles, depths)
    cut = host.cut(length)
    assert len(cut) == length
    assert [token for token in cut if token < 1000] == list(range(length - 20))
    for quarter, needle in enumerate(needles):
        at = cut.index(needle[0])
        assert cut[at : at + 5] == list(needle)
        before = at - 5 * quarter
        assert quarter / 4 <= (before + 0.5) / (length - 20) + 0.5 / (length - 20)
        assert before <= (quarter + 1) / 4 * (length - 20) + 0.5


@pytest.mark.parametrize("size", SIZES)
def test_every_length_has_room_for_the_passages(size: str) -> None:
    assert min(SIZES[size].amounts.lengths) > QUARTERS * NEEDLE


def test_each_passage_has_a_question_and_queries_are_asked_once() -> None:
    """Pairs whose queries say nothing of their passage are not put in."""
    texts = [("a", list(range(100))), ("b", list(range(100, 200)))]
    pairs = [pair(0), pair(0), pair(1, "docs-headings"), *(pair(n) for n in range(2, 12))]
    hosts, questions = with_needles(texts, pairs)
    asked = [question.query[0] - 1000 for question in questions]
    assert asked == [0, 2, 3, 4, 5, 6, 7, 8]
    assert [question.host for question in questions] == [0] * 4 + [1] * 4
    assert [question.quarter for question in questions] == [0, 1, 2, 3] * 2
    assert [needle[0] - 1000 for host in hosts for needle in host.needles] == asked
    assert with_needles(texts, pairs) == (hosts, questions)


def test_too_few_pairs_are_named() -> None:
    """Only those that can be asked count."""
    pairs = [*(pair(n) for n in range(3)), pair(2), pair(4, "docs-headings")]
    with pytest.raises(InputError, match="textbook-terms have 3 held-out queries, fewer than 4"):
        with_needles([("a", list(range(100)))], pairs)
