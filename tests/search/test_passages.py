"""Sentences to passages: joined, in order, within the budget."""

import time
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.search.passages import (
    JOINED,
    LONG,
    SHORT,
    Core,
    Run,
    expand_hits,
    select_within_budget,
    truncate_to,
)
from support.search_stores import words


@st.composite
def scored(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=5))
    n = sum(sizes)
    values = draw(st.lists(st.integers(-4, 8), min_size=n, max_size=n))
    return np.array(values, np.float32) / 2, np.cumsum([0, *sizes], dtype=np.int64)


def run(first: int, last: int, hits: tuple[int, ...]) -> Run:
    """A passage whose best sentence is its core."""
    return Run(first, last, hits, Core(hits[0], hits[0] + 1))


def assert_runs(runs: list[Run], scores: np.ndarray, document_offsets: np.ndarray) -> None:
    """Runs lie in one document, do not touch, and come in the order of their best sentence."""
    seen: set[int] = set()
    for run in runs:
        assert run.first < run.last
        assert sorted(run.hits) == list(range(run.first, run.last))
        values = [float(scores[n]) for n in run.hits]
        assert values == sorted(values, reverse=True)
        document = np.searchsorted(document_offsets, run.first, side="right")
        assert run.last <= document_offsets[document]
        assert not seen & set(run.hits)
        seen |= set(run.hits)
    starts = set(document_offsets.tolist())
    for run in runs:
        assert run.last not in seen or run.last in starts, "two runs stand side by side"
    best = [float(scores[run.hits[0]]) for run in runs]
    assert best == sorted(best, reverse=True)


@settings(max_examples=60)
@given(scored(), st.integers(1, 6) | st.none(), st.integers(1, 200), st.data())
def test_selection_spends_the_budget_on_the_best(
    given_: tuple[np.ndarray, np.ndarray], k: int | None, budget: int, data: st.DataObject
) -> None:
    scores, document_offsets = given_
    n = len(scores)
    costs = data.draw(st.lists(st.integers(1, 40), min_size=n, max_size=n))
    runs = select_within_budget(scores, document_offsets, k=k, left=budget, cost=costs.__getitem__)
    assert_runs(runs, scores, document_offsets)
    assert k is None or len(runs) <= k
    taken = sorted((number for run in runs for number in run.hits), key=lambda m: (-scores[m], m))
    spent = sum(costs[number] for number in taken)
    if k is None:
        assert taken == sorted(range(n), key=lambda m: (-scores[m], m))[: len(taken)]
        assert spent - costs[taken[-1]] < budget
        assert spent >= budget or len(taken) == n
    else:
        assert spent - max(costs) < budget
        beside = {m for number in taken for m in (number - 1, number + 1)} - set(taken)
        same = [
            m
            for m in beside
            if 0 <= m < n
            and any(
                abs(m - t) == 1 and max(m, t) not in set(document_offsets.tolist()) for t in taken
            )
        ]
        assert spent >= budget or not same


def expanded(scores: list[float], offsets: list[int], lengths: object, **options: Any) -> list[Run]:
    """Passages of a text, where other documents have all but one of those that others join."""
    more, k = JOINED - 1, options.pop("k")
    runs = expand_hits(
        np.array([*scores, *[99] * more], np.float32),
        np.array([*offsets, *range(len(scores) + 1, len(scores) + more + 1)]),
        np.concatenate((np.asarray(lengths), [SHORT] * more)),
        k=k + more,
        **options,
    )
    return runs[more:]


def test_a_passage_grows_until_it_is_long_enough() -> None:
    third = np.full(8, LONG // 3)
    text = [1.0, 4.0, 4.5, 5.0, 4.9, 4.1, 1.0, 3.0], [0, 8]
    best = run(2, 5, (3, 4, 2))
    assert expanded(*text, third, k=1, growth_threshold=2.0) == [best]
    # What stands beside a passage that is long enough is no second one.
    assert expanded(*text, third, k=2, growth_threshold=2.0) == [best, run(6, 8, (7, 6))]
    wider = [run(1, 6, (3, 4, 2, 5, 1))]
    assert expanded(*text, third // 10, k=1, growth_threshold=2.0) == wider


def test_expanded_by_hand() -> None:
    """Neighbours join while they are within 0.8 of the hit, and never over a document's border."""
    text = [1.4, 2.0, 1.3, 0.2, 1.9, 1.9], [0, 5, 6], [100] * 6
    found = expanded(*text, k=2, growth_threshold=0.8)
    assert found == [run(0, 3, (1, 0, 2)), run(4, 5, (4,))]


@settings(max_examples=60)
@given(scored(), st.integers(1, 2 * LONG), st.floats(0, 5))
def test_passages_are_the_same_however_many_are_asked_for(
    given_: tuple[np.ndarray, np.ndarray], length: int, growth: float
) -> None:
    scores, offsets = given_
    lengths = np.full(len(scores), length, np.int64)
    found = [
        expand_hits(scores, offsets, lengths, k=k, growth_threshold=growth)
        for k in range(1, len(scores) + 1)
    ]
    for runs in found:
        assert_runs(runs, scores, offsets)
        assert runs == found[-1][: len(runs)]


def test_a_short_hit_takes_what_follows() -> None:
    scores, lengths = [0.0, 3.0, 0.0, 0.0, 2.0, 0.0], [100, 20, 40, 70, 10, 100]
    first = run(1, 4, (1, 2, 3))
    assert expanded(scores, [0, 5, 6], lengths, k=1, growth_threshold=0.5) == [first]
    both = [first, run(4, 6, (4, 5))]
    assert expanded(scores, [0, 4, 6], lengths, k=2, growth_threshold=0.5) == both


@settings(max_examples=60)
@given(st.text("ab \n字", max_size=60), st.integers(0, 20), st.sampled_from([len, words]))
def test_what_is_truncated_is_a_beginning_that_fits(text: str, left: int, measure: object) -> None:
    part = truncate_to(text, left, measure)
    assert text.startswith(part)
    assert measure(part) <= left
    assert part == part.rstrip()
    if measure(text) <= left:
        assert part == text.rstrip()


def test_many_passages_take_no_square_of_time() -> None:
    n = 20_000
    scores = np.arange(n, dtype=np.float32)
    begun = time.process_time()
    runs = expand_hits(scores, np.arange(n + 1), np.full(n, SHORT), k=n, growth_threshold=0.5)
    assert len(runs) == n
    assert time.process_time() - begun < 5.0  # with a sorting a passage it was over a minute


@settings(max_examples=60)
@given(scored(), st.integers(1, 6), st.integers(1, 2 * LONG), st.floats(0, 5))
def test_fewer_than_k_only_where_no_sentence_is_left(
    given_: tuple[np.ndarray, np.ndarray], k: int, length: int, growth: float
) -> None:
    """What integrations promise: every other sentence is in a passage or right beside one."""
    scores, document_offsets = given_
    lengths = np.full(len(scores), length, np.int64)
    runs = expand_hits(scores, document_offsets, lengths, k=k, growth_threshold=growth)
    assert len(runs) <= max(k, JOINED)
    if len(runs) < k:
        starts = set(document_offsets.tolist())
        taken = {number for run in runs for number in run.hits}
        for number in set(range(len(scores))) - taken:
            before = number - 1 in taken and number not in starts
            after = number + 1 in taken and number + 1 not in starts
            assert before or after
