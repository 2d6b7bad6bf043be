"""The best places read again: which they are, and what they add to a score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.errors import ModelError
from milepost.search import reranking as module
from milepost.search import search
from milepost.search.fusion import Fusion, Reranking
from milepost.search.ranking import Ranked, Ranking, reranked
from milepost.search.reranking import rerank
from milepost.search.scope import Scope, gather
from milepost.search.searcher import again_of
from milepost.store.base import Store
from support.random_trees import trees
from support.search_stores import empty_store, filled, put, unit


class Letters:
    """Reads a word as so many tokens; a sentence's cosine is its length over a thousand."""

    room = 60

    def __init__(self) -> None:
        self.places: list[Sequence[Sequence[int]]] = []

    def tokens(self, sentences: Sequence[str]) -> list[list[int]]:
        return [[len(word) for word in sentence.split()] for sentence in sentences]

    def cosines(self, places: Sequence[Sequence[Sequence[int]]]) -> list[np.ndarray]:
        self.places = list(places)
        return [np.array([sum(ids) / 1000 for ids in place], np.float32) for place in places]


def measured(store: Store) -> Scope:
    return gather(store, unit(1), ["common"])


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
    st.integers(14, 80),
    st.integers(1, 200),
    st.integers(1, 9),
)
def test_places_are_apart_within_documents_and_within_the_budget(sizes, random, room, budget, most):
    """Whatever the order: no sentence twice, no place over a border, no more than is allowed."""
    store = empty_store()
    lengths = [random.randint(1, 12) for _ in range(sum(sizes))]
    document_offsets = np.cumsum([0, *sizes])
    for d, size in enumerate(sizes):
        # The one word of a sentence, repeated, says by its length which sentence it is.
        numbers = range(document_offsets[d], document_offsets[d] + size)
        put(store, f"d{d}", [" ".join(["w" * (n + 1)] * lengths[n]) + " " for n in numbers])
    scope = measured(store)
    order = list(range(len(scope.spans)))
    random.shuffle(order)
    reader = Letters()
    reader.room = room
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BUDGET", budget)
        patch.setattr(module, "PLACES", most)
        found = again_of(store, scope, reader)(np.array(order))
    places = [[ids[0] - 1 for ids in place] for place in reader.places]
    costs = [sum(len(ids) + 1 for ids in place) for place in reader.places]
    read = np.flatnonzero(~np.isnan(found))
    assert sorted(number for place in places for number in place) == read.tolist()
    assert order[0] in places[0]
    for place, ids, cost in zip(places, reader.places, costs, strict=True):
        assert cost <= room
        assert place == list(range(place[0], place[-1] + 1))
        assert scope.owner(place[0]) == scope.owner(place[-1])
        assert [len(each) for each in ids] == [lengths[number] for number in place]
        wanted = [sum(each) / 1000 for each in ids]
        np.testing.assert_allclose(found[place], wanted, rtol=1e-6)
    assert sum(costs[:-1]) < budget
    assert len(places) <= most
    if sum(costs) < budget and len(places) < most:
        assert len(read) == len(order)


def test_a_place_grows_around_its_best_sentence():
    """Neighbours join on both sides while there is room; the next place leaves them out."""
    store = empty_store()
    put(store, "d", [f"{'a ' * 9}s{n}. " for n in range(9)])  # ten tokens and a landmark each
    scope, reader = measured(store), Letters()
    reader.room = 34
    texts = lambda a, b: [f"{'a ' * 9}s{n}. " for n in range(a, b)]  # noqa: E731
    found = rerank(scope, np.array([4, 3, 0]), reader, texts)
    assert [len(place) for place in reader.places] == [3, 3]
    assert np.flatnonzero(np.isnan(found)).tolist() == [6, 7, 8]


def test_what_is_read_again_is_added_above_the_least():
    """Parts add up, what was not read keeps its score, and a low cosine takes nothing away."""
    store = filled(3, 8)
    scope = measured(store)
    plain = Ranking(Fusion(rerank=Reranking(10.0, 0.2)), trees())
    before = Ranked(scope, 1.0, plain)
    cosines = np.full(len(scope.spans), np.nan, np.float32)
    cosines[:4] = [0.9, 0.3, 0.1, -0.5]
    after = Ranked(scope, 1.0, plain, lambda order: cosines)
    wanted = [7.0, 1.0, 0.0, 0.0] + [0.0] * (len(scope.spans) - 4)
    np.testing.assert_allclose(after.score - before.score, wanted, atol=1e-5)
    for number in range(len(scope.spans)):
        parts = after.parts(number)
        assert parts["reranker"] == pytest.approx(wanted[number], abs=1e-5)
        assert sum(parts.values()) == pytest.approx(float(after.score[number]), abs=1e-4)
    assert "reranker" not in before.parts(0)


def test_the_order_given_is_that_of_the_scores():
    """The reranker is asked about the best first."""
    scope = measured(filled(3, 8))
    asked: list[np.ndarray] = []

    def again(order: np.ndarray) -> np.ndarray:
        asked.append(order)
        return np.full(len(scope.spans), np.nan, np.float32)

    after = Ranked(scope, 1.0, Ranking(Fusion(), trees()), again)
    assert (np.diff(after.score[asked[0]]) <= 0).all()


def test_a_search_reads_again_and_says_so():
    """Through the whole search: a sentence that the reranker likes comes first."""
    store = empty_store()
    put(store, "d", ["Short one. ", "Another. ", f"{'supercalifragilistic ' * 40}. ", "Last one. "])
    fusion = Ranking(Fusion(rerank=Reranking(1000.0)))
    first = search(store, unit(3), ["short"], ranking=fusion, k=1, budget=20).passages[0]
    assert "supercali" not in first.text
    again = search(
        store, unit(3), ["short"], ranking=fusion, reranker=Letters(), k=1, budget=2000
    ).passages[0]
    assert again.hits[0].parts["reranker"] == pytest.approx(801, rel=0.01)
    assert again.hits[0].start == 20


def test_neighbours_have_a_share_by_hand():
    """Means over what was read of seven, in a document; 10 · (0.5 own + 0.5 mean - 0.1)."""
    cosines = np.array([0.9, 0.3, np.nan, 0.6, 0.2, 0.0], np.float32)
    added = reranked(cosines, np.array([0, 5, 6]), Reranking(10.0, 0.1, 0.5))
    # 0: mean of 0.9, 0.3, 0.6; 1, 3: of all four; 4: of 0.3, 0.6, 0.2; 5 is another document.
    wanted = [0.65, 0.3, 0.0, 0.45, 0.1 + 11 / 60 - 0.1, 0.0]
    np.testing.assert_allclose(added, [10 * value for value in wanted], atol=1e-5)


@pytest.mark.parametrize("change", ["replaced", "removed"])
def test_a_document_that_changes_while_it_is_read_again(change):
    """The search begins anew: what it shows is of one state."""
    store = empty_store()
    put(store, "d", ["Old words stand here. ", "More of them. "])
    put(store, "e", ["Another old text. "])

    class Slow(Letters):
        def cosines(self, places: Sequence[Sequence[Sequence[int]]]) -> list[np.ndarray]:
            if store.info("e") is not None:  # the first time
                store.delete("e")
                store.delete("d")
                if change == "replaced":
                    put(store, "d", ["All is new. ", "Nothing stayed as it was. "])
            return super().cosines(places)

    found = search(store, unit(3), ["words"], ranking=Ranking(Fusion()), reranker=Slow(), k=5)
    text = " ".join(passage.text for passage in found.passages)
    assert "ld" not in text
    assert ("new" in text) == (change == "replaced")


def test_chances_have_numbers_of_their_own():
    """What was fitted to scores with a reranker is not used for scores without one."""
    fields = {
        "calibration": [0.0, 1.0, 0.0],
        "growth_threshold": 0.5,
        "rerank": {"weight": 9.0, "calibration": [-9, 1, 0, 1, 0], "growth_threshold": 2.0},
    }
    fusion = Fusion.from_fields(fields)
    scope = measured(filled(2, 4))
    nothing = np.full(len(scope.spans), np.nan, np.float32)
    first = Ranked(scope, 1.0, Ranking(fusion))
    again = Ranked(scope, 1.0, Ranking(fusion), lambda order: nothing)
    np.testing.assert_array_equal(first.score, again.score)
    odds = [np.log(each.chance([0]) / (1 - each.chance([0]))) for each in (first, again)]
    assert odds[0] - odds[1] == pytest.approx(9.0, abs=1e-4)
    assert (first.numbers.growth_threshold, again.numbers.growth_threshold) == (0.5, 2.0)


def test_a_chance_by_hand_where_places_were_read_again():
    """The first reading's best and rest, the most that was added, and what is not known."""
    numbers = Reranking(10.0, calibration=(-2.0, 0.5, 0.25, 0.1, 3.0))
    scope = measured(filled(2, 4))
    cosines = np.linspace(0.1, 0.8, len(scope.spans), dtype=np.float32)
    ranking = Ranking(Fusion(rerank=numbers))
    before = Ranked(scope, 0.75, ranking).score
    ranked = Ranked(scope, 0.75, ranking, lambda order: cosines)
    unknown = ranked.fused.signals["out of vocabulary"]
    assert unknown > 0
    added = ranked.score - before
    least, most = sorted(float(before[number]) for number in (0, 1))
    rest = 1 / (1 + np.exp(-least))
    odds = -2 + 0.5 * most + 0.25 * np.log1p(rest) + 0.1 * max(added[:2]) + 3 * unknown
    assert ranked.chance([0, 1]) == pytest.approx(1 / (1 + np.exp(-odds)), rel=1e-5)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"calibration": [0.0, 1.0]}, "calibration has 2 numbers instead of 3"),
        (
            {"rerank": {"calibration": [-9, 1, 0]}},
            r"rerank\.calibration has 3 numbers instead of 5",
        ),
    ],
)
def test_a_chance_of_too_few_numbers_is_refused(fields, said):
    """A manifest of another version is named, and what mends it."""
    with pytest.raises(ModelError, match=said):
        Fusion.from_fields(fields)


def test_a_script_that_the_tokenizer_does_not_know_is_left_to_the_words():
    """Its sentences look alike to the reranker."""
    store = empty_store()
    put(store, "d", ["Some words. ", "Other words. "], vocab_coverage=0.25)
    scope = measured(store)
    cosines = np.array([0.9, 0.1], np.float32)
    plain = Ranking(Fusion(rerank=Reranking(10.0)))
    before = Ranked(scope, 1.0, plain)
    after = Ranked(scope, 1.0, plain, lambda order: cosines)
    np.testing.assert_allclose(after.score - before.score, [0.25 * 9.0, 0.25 * 1.0], rtol=1e-3)
