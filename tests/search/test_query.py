"""A question is checked and encoded once: what is taken, and what is refused."""

from functools import cache

import numpy as np
import pytest

from milepost.errors import BadQuestion, InputError
from milepost.quotes import stripped
from milepost.search import Limits, Query, quoted
from milepost.search.query import DEFAULT_K, Budget, parse_length
from milepost.search.quoted import places, regions
from milepost.store import DocumentSelection, Store
from milepost.testing import fake_encoder
from support.search_stores import empty_store, put
from support.store_reads import reads

MODEL = fake_encoder()


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (None, None),
        (1600, Budget(1600, "c")),
        ("1600", Budget(1600, "c")),
        ("1600c", Budget(1600, "c")),
        (" 400 t ", Budget(400, "t")),
    ],
)
def test_budgets(written: str | int | None, wanted: Budget | None) -> None:
    assert Limits.parse(budget=written).budget == wanted


@pytest.mark.parametrize("written", ["", "0", 0, -5, "ten", "12x", "1.5c", "c", "400tt", "0t"])
def test_bad_budgets(written: str | int) -> None:
    with pytest.raises(InputError, match=r"is not a length.*1600c or 400t") as caught:
        parse_length(written, "budget")
    assert repr(written) in str(caught.value)
    with pytest.raises(InputError, match="1600c or 400t"):
        Limits.parse(budget=written)
    with pytest.raises(InputError, match="1600c or 400t"):
        Query.parse("Who?", MODEL, budget=written)


@pytest.mark.parametrize(
    ("k", "budget", "wanted"),
    [(None, None, DEFAULT_K), (None, "400t", None), (None, 1, None), (3, None, 3), (3, "400t", 3)],
)
def test_something_limits_every_result(k: int | None, budget: str | None, wanted: int) -> None:
    limits = Limits.parse(k, budget)
    assert limits.k == wanted
    assert limits.k is not None or limits.budget is not None
    assert Query.parse("Who?", MODEL, k=k, budget=budget).limits == limits
    assert Limits() == Limits.parse()


@pytest.mark.parametrize("k", [0, -1])
def test_no_passages_cannot_be_asked_for(k: int) -> None:
    with pytest.raises(InputError, match="1 or more"):
        Limits.parse(k)
    with pytest.raises(InputError, match="1 or more"):
        Query.parse("Who?", MODEL, k=k)


@pytest.mark.parametrize("min_score", [-0.01, 1.01, 20, float("nan")])
def test_what_is_not_a_probability_is_refused(min_score: float) -> None:
    with pytest.raises(InputError, match="is not a probability"):
        Limits.parse(min_score=min_score)
    with pytest.raises(InputError, match="not a probability"):
        Query.parse("Who?", MODEL, min_score=min_score)


@pytest.mark.parametrize("question", ["", "  \n", "?!"])
def test_a_question_without_words_is_refused(question: str) -> None:
    with pytest.raises(BadQuestion):
        Query.parse(question, MODEL)


def test_a_query_holds_everything_that_is_asked() -> None:
    text = "What do the bees, the BEES, build?"
    query = Query.parse(
        text, MODEL, k=2, budget="90t", documents=iter("ab"), min_score=0.25, rerank=False
    )
    assert query.text == text
    np.testing.assert_array_equal(query.vector, MODEL.encode_query(text))
    assert query.terms == ("bee", "build")
    assert query.vocab_coverage == MODEL.vocab_coverage(text)
    assert query.limits == Limits(2, Budget(90, "t"), 0.25)
    assert (query.documents, query.rerank) == (frozenset("ab"), False)
    plain = Query.parse(text, MODEL)
    assert (plain.limits, plain.documents, plain.rerank) == (Limits(), None, True)


@cache
def stored(documents: int = 30, sentences: int = 40) -> Store:
    store = empty_store()
    for d in range(documents):
        texts = [f"Common word in text t{d} at place p{d}x{s}. " for s in range(sentences)]
        if d == 17:
            texts[20:22] = ["He saw a golden hon-\neycomb. ", "It was full of sweet wax. "]
        put(store, f"d{d}", texts)
    return store


def found(store: Store, quotation: str, names: list[str] | None = None) -> list[tuple[str, str]]:
    with store.snapshot() as state:
        among = DocumentSelection(None if names is None else frozenset(names))
        held = list(places(state, stripped(quotation), among))
    return [(info.name, reads(store).text(info.name, each.start, each.end)) for info, each in held]


@pytest.mark.parametrize("limit", [60_000, 0])
@pytest.mark.parametrize(
    ("quotation", "name", "count"),
    [
        ("golden honeycomb. It was full", "d17", 1),
        ("GOLDEN honeycomb", "d17", 1),
        ("text t3 at place p3x7. Common word", "d3", 1),
        ("at place p5x39", "d5", 1),
        ("text t9", "d9", 40),
        ("golden wax", "", 0),
        ("place p5x3. Common word in text t6", "", 0),
        ("nowhere to be found", "", 0),
    ],
)
def test_places_of_quotations(
    monkeypatch: pytest.MonkeyPatch, limit: int, quotation: str, name: str, count: int
) -> None:
    monkeypatch.setattr(quoted, "EVERYTHING", limit)
    got = found(stored(), quotation)
    assert [each for each, _ in got] == [name] * count


def test_documents_are_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored(6, 5)
    for limit in (60_000, 0):
        monkeypatch.setattr(quoted, "EVERYTHING", limit)
        assert {name for name, _ in found(store, "Common word", ["d2", "d4"])} == {"d2", "d4"}
        assert found(store, "text t3", ["d2", "d4"]) == []
        assert found(store, "text t3", []) == []


def test_single_characters_of_unspaced_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quoted, "EVERYTHING", 0)
    store = empty_store()
    put(store, "a", ["大東京都。", "何もない。"])
    assert found(store, "京") == [("a", "京")]
    assert found(store, "東京都") == [("a", "東京都")]


def test_regions_hold_the_rare_words() -> None:
    store = stored()
    with store.snapshot() as state:
        info, start, end = regions(state, "the golden honey: it was full of sour wax")[0]
        assert info.name == "d17"
        assert "It was full of sweet wax." in state.texts([(info, start, end)])[0]
        assert end - start < 2_000
        assert regions(state, "zebra giraffe") == []
        assert len(regions(state, "common word", limit=7)) <= 7
    with empty_store().snapshot() as state:
        assert regions(state, "golden") == []


def test_batches_hold_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quoted, "BATCH", 100)
    store = stored(5, 4)
    assert len(found(store, "Common word in text")) == 20
