"""Quotations in a store: every place in a small one, and the right stretches of a large one."""

from __future__ import annotations

from functools import cache

import pytest

from milepost.quotes import stripped
from milepost.search import quoted
from milepost.search.quoted import places, regions
from milepost.store import DocumentSelection, Store
from support.search_stores import empty_store, put
from support.store_reads import reads


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
