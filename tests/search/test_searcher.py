"""The pipeline from a question to passages, on a store without a model."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from milepost.errors import InputError
from milepost.search.searcher import HEAT, search
from milepost.store.base import Store
from milepost.types import Mark, Passage
from support.search_stores import empty_store, filled, put, unit


def asked(store: Store, words: list[str], seed: int = 1, **options: object) -> list[Passage]:
    """The passages of a question."""
    return list(search(store, unit(seed), words, **options).passages)


def words(text: str) -> int:
    return len(text.split())


def assert_passages(store: Store, passages: list[Passage]) -> None:
    """What holds for any answer: texts are slices, hits lie inside, scores are their parts."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for passage in passages:
        assert passage.text == store.document(passage.document).text[passage.start : passage.end]
        assert passage.text == passage.text.strip() != ""
        assert passage.hits
        assert 0.0 < passage.score < 1.0
        assert passage.hits[0].score == max(hit.score for hit in passage.hits)
        assert passage.source == f"/files/{passage.document}"
        covered = []
        for hit in passage.hits:
            assert passage.start <= hit.start < hit.end <= passage.end
            assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-5)
            covered.append((hit.start, hit.end))
        covered.sort()
        assert covered[0][0] == passage.start
        assert covered[-1][1] == passage.end
        assert all(a[1] == b[0] for a, b in itertools.pairwise(covered))
        spans.setdefault(passage.document, []).append((passage.start, passage.end))
    for of_document in spans.values():
        of_document.sort()
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(of_document))
    scores = [passage.score for passage in passages]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("k", [1, 2, 5, None])
@pytest.mark.parametrize("budget", [None, 1, 30, 100, "700c", "1t", "7t", "60t", 100_000])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_answer_is_well_formed(k: int | None, budget: str | int | None, seed: int) -> None:
    """Any number of passages and any budget: neither is exceeded, and texts are slices."""
    store = filled(3, 8)
    put(store, "long", ["word " * 60, "\n\n", "Another p1x1 sentence.   ", "x" * 300])
    passages = asked(store, ["p1x1", "word"], seed, k=k, budget=budget, tokens=words)
    assert passages
    assert_passages(store, passages)
    assert k is None or len(passages) <= k
    if budget is not None:
        measure = words if str(budget).endswith("t") else len
        limit = int(str(budget).rstrip("ct"))
        assert sum(measure(passage.text) for passage in passages) <= limit


def test_the_best_sentence_wins() -> None:
    """A sentence that both lists prefer is the first hit of the first passage."""
    store = filled(3, 12)
    vector = store.vectors(12 + 7, 1)[0]
    best = search(store, vector, ["p1x7"], k=3).passages[0]
    assert best.document == "d1"
    first = best.hits[0]
    assert "p1x7" in store.document("d1").text[first.start : first.end]


def test_a_sentence_over_the_budget_is_cut_at_a_word() -> None:
    """The only passage is cut where a word ends, its hit with it."""
    store = empty_store()
    put(store, "d", ["Alpha beta gamma delta epsilon. "])
    (passage,) = asked(store, ["gamma"], budget=12)
    assert passage.text == "Alpha beta"
    assert [(hit.start, hit.end) for hit in passage.hits] == [(0, 10)]


def test_hits_outside_of_a_cut_are_not_named() -> None:
    """A passage cut to its best sentence does not name sentences that it does not show."""
    store = empty_store()
    put(store, "d", ["First one here. ", "The needle is here. ", "The last of them all. "])
    for passage in asked(store, ["needle"], budget=25):
        assert_passages(store, [passage])
        assert len(passage.text) <= 25


def test_page_and_heading_are_the_best_hits() -> None:
    """Both are those in force where the best sentence starts."""
    store = empty_store()
    sentences = ["Intro words. ", "Chapter two. ", "The needle is here. ", "Chapter three. "]
    marks = (
        Mark(0, "page", "1"),
        Mark(13, "heading", "Two", 1),
        Mark(26, "page", "2"),
        Mark(46, "heading", "Three", 1),
    )
    put(store, "d", sentences, marks=marks, vectors=np.stack([unit(9), unit(9), unit(1), unit(9)]))
    passage = asked(store, ["needle"], k=1)[0]
    assert passage.hits[0].start == 26
    assert (passage.page, passage.heading) == (2, "Two")
    put(store, "plain", ["A lone thread. "])
    passage = asked(store, ["thread"], k=1, names=["plain"])[0]
    assert (passage.page, passage.heading) == (None, None)


def test_an_empty_store() -> None:
    """Nothing indexed, or nothing of the names: no passage, and the answer says why."""
    answer = search(empty_store(), unit(1), ["word"])
    assert answer.passages == ()
    assert answer.notes == ("there is no text to search",)
    assert answer.best == 0.0
    assert search(filled(), unit(1), ["word"], names=[]).passages == ()


def test_blank_documents_are_no_answer() -> None:
    """A document of white space gives no passage and hides no other."""
    store = empty_store()
    put(store, "blank", ["  \n "])
    put(store, "d", ["Some words. ", "Other words. "])
    for budget in (None, 20, 1000):
        passages = asked(store, ["unheard"], k=None, budget=budget)
        assert_passages(store, passages)
        assert {passage.document for passage in passages} == {"d"}


@pytest.mark.parametrize("k", [0, -1])
def test_no_passages_cannot_be_asked_for(k: int) -> None:
    """Less than one passage is an error, not everything."""
    with pytest.raises(InputError, match="1 or more"):
        asked(filled(), ["word"], k=k)


@pytest.mark.parametrize("k", [2, 5, None])
@pytest.mark.parametrize("budget", [None, 100, "700c", "60t"])
def test_a_least_chance_leaves_out_what_is_under_it(
    k: int | None, budget: str | int | None
) -> None:
    """The answer is the one without it, filtered; a passage of just that chance stays."""
    store = filled(3, 8)
    options = {"k": k, "budget": budget, "tokens": words}
    whole = search(store, unit(1), ["p1x1", "common"], **options)
    chances = sorted({passage.score for passage in whole.passages})
    assert whole.best == chances[-1]
    for least in (0.0, *chances, (chances[0] + chances[-1]) / 2, 1.0):
        answer = search(store, unit(1), ["p1x1", "common"], **options, least=least)
        assert answer.passages == tuple(p for p in whole.passages if p.score >= least)
        assert answer.heat.keys() == {passage.document for passage in answer.passages}
        assert answer.best == whole.best
    assert search(store, unit(1), ["common"], **options, least=1.0).passages == ()


@pytest.mark.parametrize("least", [-0.01, 1.01, 20, float("nan")])
def test_what_is_no_chance_is_refused(least: float) -> None:
    """A percentage, or no number, is an error of one line, not an empty answer."""
    with pytest.raises(InputError, match="is no chance; try: give 0 to 1"):
        asked(filled(), ["word"], least=least)


def test_a_budget_in_tokens_needs_a_count() -> None:
    """Without a model that counts, a budget in tokens is its caller's mistake."""
    with pytest.raises(ValueError, match="tokens"):
        asked(filled(), ["common"], budget="10t")


def test_the_reasons_of_an_answer() -> None:
    """Terms with their rarity, weights that sum to 1, and heat of the documents shown."""
    answer = search(filled(), unit(1), ["p1x7", "nowhere"], k=2)
    assert answer.terms["p1x7"] > 0 == answer.terms["nowhere"]
    assert sum(answer.weights.values()) == pytest.approx(1.0)
    assert answer.heat.keys() == {passage.document for passage in answer.passages}
    for strip in answer.heat.values():
        assert len(strip) == HEAT
        assert all(0.0 <= value <= 1.0 for value in strip)
    assert max(value for strip in answer.heat.values() for value in strip) == 1.0


def test_all_scores_equal() -> None:
    """Where nothing stands out there is still an answer, the first sentences first."""
    store = empty_store()
    put(store, "d", ["Again. "] * 9, vectors=np.tile(unit(4), (9, 1)))
    passages = asked(store, ["unheard"], k=1, budget=13)
    assert [(p.start, p.end) for p in passages] == [(0, 13)]
