"""The pipeline from a question to passages, on a store without a model."""

import itertools

import numpy as np
import pytest

from milepost.search import SearchModel
from milepost.store import Store
from milepost.types import Mark, Passage
from support.search_stores import MODELS, empty_store, filled, put, searched, stored, unit, words
from support.store_reads import reads


def asked(store: Store, terms: list[str], seed: int = 1, **options: object) -> list[Passage]:
    return list(searched(store, terms, seed, model=MODELS["plain"], **options).passages)


def assert_passages(store: Store, passages: list[Passage]) -> None:
    """What holds for any result: texts are slices, hits lie inside, logits are their parts."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for passage in passages:
        text = reads(store).document(passage.document).text
        assert passage.text == text[passage.start : passage.end]
        assert passage.text == passage.text.strip() != ""
        assert passage.hits
        assert 0.0 < passage.score < 1.0
        assert passage.source == f"/files/{passage.document}"
        covered = []
        logits = [hit.logit for hit in passage.hits]
        assert logits == sorted(logits, reverse=True)
        for hit in passage.hits:
            assert 0.0 < hit.score < 1.0
            assert passage.start <= hit.start < hit.end <= passage.end
            assert sum(hit.contributions.values()) == pytest.approx(hit.logit, abs=1e-4)
            covered.append((hit.start, hit.end))
        if len(passage.hits) == 1:
            assert passage.score == passage.hits[0].score
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


@pytest.fixture(scope="module")
def with_long_sentences() -> Store:
    """Documents of short sentences and one of sentences over most budgets."""
    store = filled(3, 8)
    put(store, "long", ["word " * 60, "\n\n", "Another p1x1 sentence.   ", "x" * 300])
    return store


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("k", [1, 2, 5, None])
@pytest.mark.parametrize("budget", [None, 1, 100, "700c", "1t", "60t"])
def test_every_result_is_well_formed(
    with_long_sentences: Store, model: SearchModel, k: int | None, budget: str | int | None
) -> None:
    store = with_long_sentences
    result = searched(store, ["p1x1", "word"], model=model, k=k, budget=budget)
    passages = list(result.passages)
    assert passages
    assert_passages(store, passages)
    assert k is None or len(passages) <= k
    if budget is not None:
        measure = words if str(budget).endswith("t") else len
        limit = int(str(budget).rstrip("ct"))
        assert sum(measure(passage.text) for passage in passages) <= limit


def test_the_best_sentence_wins() -> None:
    store = filled(3, 12)
    best = asked(store, ["p1x7"], vector=reads(store).vectors("d1")[7], k=3)[0]
    assert best.document == "d1"
    first = best.hits[0]
    assert "p1x7" in reads(store).text("d1", first.start, first.end)


def test_a_sentence_over_the_budget_is_cut_at_a_word() -> None:
    (passage,) = asked(stored(d=["Alpha beta gamma delta epsilon. "]), ["gamma"], budget=12)
    assert passage.text == "Alpha beta"
    assert [(hit.start, hit.end) for hit in passage.hits] == [(0, 10)]
    put(store := empty_store(), "d", ["The only one. "], vectors=np.stack([unit(1)]))
    put(store, "e", ["Alpha beta gamma delta epsilon zeta. "], vectors=np.stack([unit(9)]))
    for budget, more in ((22, []), (40, ["Alpha beta gamma delta"])):  # less than half is left out
        found = asked(store, ["one"], k=None, budget=budget)
        assert [each.text for each in found] == ["The only one.", *more]


def test_page_and_heading_are_the_best_hits() -> None:
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
    assert (passage.page, passage.heading, passage.place) == (2, "Two", "page 2")
    put(store, "plain", ["A lone thread. "])
    passage = asked(store, ["thread"], k=1, names=["plain"])[0]
    assert (passage.page, passage.heading, passage.place) == (None, None, None)


def test_the_lead_in_of_a_list() -> None:
    sentences = ["Not allowed are:\n", "- smoking. ", "It is bad.\n", "- a needle\n", "A thread.\n"]
    vectors = np.stack([unit(9), unit(9), unit(2), unit(1), unit(3)])
    store = empty_store()
    put(store, "d", ["Other words.\n", *sentences], vectors=np.vstack([unit(9), vectors]))
    found = [
        asked(store, [term], n, k=1)[0].lead_in
        for n, term in enumerate(("needle", "bad", "thread"), 1)
    ]
    assert found == ["Not allowed are:", None, None]
    put(store, "d", ["Other words.\n", *sentences[1:]], vectors=vectors)
    assert asked(store, ["needle"], k=1)[0].lead_in is None


def test_an_empty_store() -> None:
    result = searched(empty_store(), ["word"])
    assert result.passages == ()
    assert result.notes == ("there is no text to search",)
    assert result.best_score == 0.0
    assert searched(filled(), ["word"], names=[]).passages == ()


def test_blank_documents_are_no_answer() -> None:
    store = stored(blank=["  \n "], d=["Some words. ", "Other words. "])
    for budget in (None, 20, 1000):
        passages = asked(store, ["unheard"], k=None, budget=budget)
        assert_passages(store, passages)
        assert {passage.document for passage in passages} == {"d"}


@pytest.mark.parametrize("k", [2, 5, None])
@pytest.mark.parametrize("budget", [None, 100, "700c", "60t"])
def test_a_least_probability_leaves_out_what_is_under_it(
    k: int | None, budget: str | int | None
) -> None:
    store, model = filled(3, 8), MODELS["plain"]
    options = {"k": k, "budget": budget, "model": model}
    whole = searched(store, ["p1x1", "common"], **options)
    scores = sorted({passage.score for passage in whole.passages})
    assert whole.best_score == scores[-1]
    for least in (0.0, *scores, (scores[0] + scores[-1]) / 2, 1.0):
        result = searched(store, ["p1x1", "common"], **options, min_score=least)
        assert result.passages == tuple(p for p in whole.passages if p.score >= least)
        assert result.relevance.keys() == {passage.document for passage in result.passages}
        assert result.best_score == whole.best_score
    assert searched(store, ["common"], **options, min_score=1.0).passages == ()


def test_a_budget_in_tokens_needs_a_count() -> None:
    with pytest.raises(ValueError, match="tokens"):
        searched(filled(), ["common"], budget="10t")


def test_the_reasons_of_a_result() -> None:
    store = filled()
    result = searched(store, ["p1x7", "nowhere"], k=2)
    assert result.terms["p1x7"] > 0 == result.terms["nowhere"]
    assert sum(result.weights.values()) == pytest.approx(1.0)
    assert result.relevance.keys() == {passage.document for passage in result.passages}
    for name, curve in result.relevance.items():
        info = reads(store).info(name)
        assert (curve.shape, curve.dtype) == ((info.sentences, 2), np.float32)
        spans = reads(store).sentences(name).spans
        np.testing.assert_allclose(curve[:, 0], spans.mean(axis=1) / info.characters, rtol=1e-5)
        assert curve[:, 1].min() >= 0.0
    best = result.passages[0]
    tallest = max(result.relevance, key=lambda name: result.relevance[name][:, 1].max())
    assert tallest == best.document
    curve = result.relevance[tallest]
    assert curve[:, 1].max() == 1.0
    place = curve[curve[:, 1].argmax(), 0] * len(reads(store).document(tallest).text)
    assert best.hits[0].start < place < best.hits[0].end


def test_all_scores_equal() -> None:
    store = empty_store()
    put(store, "d", ["Again. "] * 9, vectors=np.tile(unit(4), (9, 1)))
    passages = asked(store, ["unheard"], k=1, budget=13)
    assert [(p.start, p.end) for p in passages] == [(0, 13)]
