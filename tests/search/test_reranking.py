"""Reranking: which windows are scored, and what that adds to a score."""

import math
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.search import SearchModel, SearchResult, search
from milepost.search import reranking as module
from milepost.search.fusion import Fusion, Reranking
from milepost.search.ranking import Ranking, less_likely
from milepost.search.reranking import Texts, rerank
from milepost.store import Store
from support.random_trees import trees
from support.search_stores import (
    asking,
    empty_store,
    filled,
    gathered,
    put,
    ranked,
    searched,
    stored,
)
from support.store_reads import Counted
from support.word_reranker import WordReranker


def read_at(store: Store, order: Sequence[int], reranker: WordReranker) -> np.ndarray:
    scope = gathered(store, ["common"])
    with store.snapshot() as state:
        return rerank(Texts(state, scope), np.array(order, np.int64), reranker).cosines


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
    st.integers(14, 80),
    st.integers(1, 200),
    st.integers(1, 9),
    st.integers(1, 12),
)
def test_windows_are_apart_within_documents_and_within_the_budget(
    sizes, random, room, budget, most, context
):
    store = empty_store()
    lengths = [random.randint(1, 12) for _ in range(sum(sizes))]
    document_offsets = np.cumsum([0, *sizes])
    for d, size in enumerate(sizes):
        # The one word of a sentence, repeated, says by its length which sentence it is.
        numbers = range(document_offsets[d], document_offsets[d] + size)
        put(store, f"d{d}", [" ".join(["w" * (n + 1)] * lengths[n]) + " " for n in numbers])
    scope = gathered(store, ["common"])
    order = list(range(len(scope.spans)))
    random.shuffle(order)
    reranker = WordReranker(room=room)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_TOKENS", budget)
        patch.setattr(module, "MAX_WINDOWS", most)
        patch.setattr(module, "CONTEXT_SENTENCES", context)  # few: texts are read in several calls
        found = read_at(store, order, reranker)
    windows = [[ids[0] - 1 for ids in window] for window in reranker.windows]
    costs = [sum(len(ids) + 1 for ids in window) for window in reranker.windows]
    read = np.flatnonzero(~np.isnan(found))
    assert sorted(number for window in windows for number in window) == read.tolist()
    assert order[0] in windows[0]
    for window, ids, cost in zip(windows, reranker.windows, costs, strict=True):
        assert cost <= room
        assert window == list(range(window[0], window[-1] + 1))
        assert scope.owner(window[0]) == scope.owner(window[-1])
        assert [len(each) for each in ids] == [lengths[number] for number in window]
        wanted = [sum(each) / 1000 for each in ids]
        np.testing.assert_allclose(found[window], wanted, rtol=1e-6)
    assert sum(costs[:-1]) < budget
    assert len(windows) <= most
    if sum(costs) < budget and len(windows) < most:
        assert len(read) == len(order)


def test_a_window_grows_around_its_best_sentence():
    store = stored(d=[f"{'a ' * 9}s{n}. " for n in range(9)])  # ten tokens and a landmark each
    reranker = WordReranker(room=34)
    found = read_at(store, [4, 3, 0], reranker)
    assert [len(window) for window in reranker.windows] == [3, 3]
    assert np.flatnonzero(np.isnan(found)).tolist() == [6, 7, 8]


@pytest.mark.parametrize("sentences", [1, 3, 40])
def test_texts_are_read_for_many_windows_at_once(sentences):
    store = filled(900 // sentences, sentences)
    scope = gathered(store, ["common"])
    order = np.random.default_rng(1).permutation(len(scope.spans))
    with store.snapshot() as state:
        counted, asked = Counted(state), []

        def listen(parts):
            asked.extend((info.name, start, end) for info, start, end in parts)
            return counted.texts(parts)

        found = rerank(Texts(SimpleNamespace(texts=listen), scope), order, WordReranker()).cosines
    assert (~np.isnan(found)).sum() >= module.MAX_WINDOWS
    assert counted.calls.total() <= 3
    assert len(set(asked)) == len(asked)


def test_what_reranking_adds_is_above_the_least():
    store = filled(3, 8)
    cosines = {f"p1x{n}.": value for n, value in enumerate([0.9, 0.3, 0.1, -0.5])}
    reranker = WordReranker(lambda text: cosines.get(text.split()[-1], 0.2), room=90)
    plain = Ranking(Fusion(rerank=Reranking(10.0, 0.2)), trees())
    before = ranked(store, ["p1x1", "common"], ranking=plain)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_WINDOWS", 1)  # the document of the best sentence
        patch.setattr(module, "CONTEXT_SENTENCES", 9)
        best = int(before.score.argmax()) // 8
        cosines |= {f"p{best}x{n}.": cosines[f"p1x{n}."] for n in range(4)}
        after = ranked(store, ["p1x1", "common"], ranking=plain, reranker=reranker)
    assert [len(texts) for texts in reranker.texts] == [8]
    wanted = np.zeros(24, np.float32)
    wanted[8 * best : 8 * best + 2] = [7.0, 1.0]
    np.testing.assert_allclose(after.added, wanted, atol=1e-5)
    np.testing.assert_allclose(after.score - before.score, wanted, atol=1e-5)
    np.testing.assert_array_equal(after.base_score, before.score)
    for number in range(24):
        parts = after.parts(number)
        assert parts["reranker"] == pytest.approx(wanted[number], abs=1e-5)
        assert sum(parts.values()) == pytest.approx(float(after.score[number]), abs=1e-4)
    assert "reranker" not in before.parts(0)
    assert reranker.questions == ["p1x1 common"]


def test_windows_come_in_the_order_of_the_scores():
    store = stored(**{f"d{n:02}": [f"Only common words here n{n}. "] for n in range(20)})
    reranker = WordReranker(lambda text: 0.0)
    found = ranked(store, ["common"], ranking=Ranking(Fusion(), trees()), reranker=reranker)
    order = np.argsort(-found.base_score, kind="stable")
    assert [texts[0].split()[-1] for texts in reranker.texts] == [f"n{n}." for n in order]


def test_a_question_too_long_for_the_reranker_is_searched_without():
    store, wanted = filled(2, 4), SearchModel(Ranking(Fusion()))
    declining = SimpleNamespace(for_query=lambda question: None)
    plain = searched(store, ["common"], model=wanted)
    for reranker, options in ((declining, {}), (WordReranker(), {"rerank": False})):
        model = SearchModel(Ranking(Fusion()), reranker)
        assert searched(store, ["common"], model=model, **options).passages == plain.passages
        assert getattr(reranker, "questions", []) == []


def test_a_search_reranks_and_says_so():
    store = stored(
        d=["Short one. ", "Another. ", f"{'supercalifragilistic ' * 40}. ", "Last one. "]
    )
    ranking = Ranking(Fusion(rerank=Reranking(1000.0)))
    options = {"seed": 3, "k": 1}
    first = searched(store, ["short"], model=SearchModel(ranking), budget=20, **options).passages[0]
    assert "supercali" not in first.text
    model = SearchModel(ranking, WordReranker())
    again = searched(store, ["short"], model=model, budget=2000, **options).passages[0]
    assert again.hits[0].contributions["reranker"] == pytest.approx(801, rel=0.01)
    assert again.hits[0].start == 20


def test_probabilities_have_numbers_of_their_own():
    fields = {
        "calibration": [0.0, 1.0, 0.0, 0.0, 0.0],
        "growth_threshold": 0.5,
        "rerank": {"weight": 9.0, "calibration": [-9, 1, 0, 1, 0, 0, 0], "growth_threshold": 2.0},
    }
    ranking, store = Ranking(Fusion.from_fields(fields)), filled(2, 4)
    nothing = WordReranker(lambda text: 0.0)
    first = ranked(store, ["common"], ranking=ranking)
    again = ranked(store, ["common"], ranking=ranking, reranker=nothing)
    assert nothing.questions
    np.testing.assert_array_equal(first.score, again.score)
    odds = [np.log(p / (1 - p)) for p in (each.probability([0]) for each in (first, again))]
    assert odds[0] - odds[1] == pytest.approx(9.0, abs=1e-4)
    assert (first.numbers.growth_threshold, again.numbers.growth_threshold) == (0.5, 2.0)


def test_a_probability_by_hand_after_reranking():
    numbers = Reranking(10.0, calibration=(-2.0, 0.5, 0.25, 0.1, 3.0, 0.0, 0.0))
    store, ranking = filled(2, 4), Ranking(Fusion(rerank=numbers))
    reranker = WordReranker(lambda text: 0.1 + 0.1 * int(text.split()[-1][-2]))
    options = {"ranking": ranking, "vocab_coverage": 0.75}
    before = ranked(store, ["common"], **options).score
    found = ranked(store, ["common"], reranker=reranker, **options)
    unknown = found.fused.signals["out of vocabulary"]
    assert unknown > 0
    added = found.score - before
    assert added[1] > added[0] > 0
    least, most = sorted(float(before[number]) for number in (0, 1))
    rest = 1 / (1 + np.exp(-least))
    odds = -2 + 0.5 * most + 0.25 * np.log1p(rest) + 0.1 * max(added[:2]) + 3 * unknown
    assert found.probability([0, 1]) == pytest.approx(1 / (1 + np.exp(-odds)), rel=1e-5)


def test_a_script_that_the_tokenizer_does_not_know_is_left_to_the_words():
    store = empty_store()
    put(store, "d", ["Some words. ", "Other words. "], vocab_coverage=0.25)
    plain = Ranking(Fusion(rerank=Reranking(10.0)))
    reranker = WordReranker(lambda text: 0.9 if text.startswith("Some") else 0.1)
    before = ranked(store, ["common"], ranking=plain)
    after = ranked(store, ["common"], ranking=plain, reranker=reranker)
    np.testing.assert_allclose(after.score - before.score, [0.25 * 9.0, 0.25 * 1.0], rtol=1e-3)


def test_texts_that_are_read_ahead_hold_the_whole_neighbourhood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sentence that was read as a neighbour of a better one may have neighbours that were not."""
    store = stored(d=["w" * (n + 1) + " " for n in range(40)])
    monkeypatch.setattr(module, "CONTEXT_SENTENCES", 2)
    monkeypatch.setattr(module, "MAX_WINDOWS", 3)
    found = read_at(store, [10, 12, 14, 16], WordReranker(room=2))
    assert np.flatnonzero(~np.isnan(found)).tolist() == [10, 12, 14]


def test_the_less_likely_of_passage_and_answer_says_whether_anything_answers():
    store = filled(3, 8)
    passage = (-8.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    numbers = Reranking(0.0, calibration=passage, answerable=(0.5, 2.0))
    found = []
    for said in (-1.0, 1.0):
        reranker = WordReranker(verdicts=np.array([0.0, 0.0, 0.0, said], np.float32))
        with store.snapshot() as state:
            model = SearchModel(Ranking(Fusion(rerank=numbers), trees()), reranker)
            found.append(search(state, asking(["common"], 3), model))
    assert found[0].best_score == found[1].best_score
    odds = [math.log(each.answerable / (1 - each.answerable)) for each in found]
    about = math.log(found[0].best_score / (1 - found[0].best_score))
    assert odds == pytest.approx([0.5 + 2 * less_likely(about, said) for said in (-1, 1)], abs=1e-3)


def test_how_likely_anything_answers_follows_from_the_best_passage():
    store = filled(3, 8)

    def found(answerable: tuple[float, ...], min_score: float = 0.0) -> SearchResult:
        numbers = Fusion(calibration=(-1.0, 1.0, 0.0, 0.0, 0.0), answerable=answerable)
        model = SearchModel(Ranking(numbers, trees()))
        with store.snapshot() as state:
            return search(state, asking(["common"], 3, min_score=min_score), model)

    unsaid = found(())
    assert unsaid.answerable is None
    said = found((-1.0, 0.5))
    odds = -1.0 + 0.5 * math.log(said.best_score / (1 - said.best_score))
    assert said.answerable == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-6)
    # the least score is one of the question: the best passage is shown though it has less
    high, low = found((4.0, 0.0), 0.9), found((-4.0, 0.0), 0.1)
    assert len(high.passages) >= 1
    assert low.passages == ()
    assert low.best_score > 0
    assert "2%" in found((-4.0, 0.0)).notes[0]
    assert "27%" in found((-1.0, 0.0)).notes[0]
    assert not found((1.0, 0.0)).notes
