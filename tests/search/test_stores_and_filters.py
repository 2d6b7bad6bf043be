"""A search under a filter: the same passages from every store, and few calls of it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from milepost.filters import parse
from milepost.search import SearchModel, SearchResult, quoted, scope, search
from milepost.search.query import Query
from milepost.store import Snapshot, Store
from support.search_stores import PLAIN, asking
from support.store_checks import every_store
from support.store_entries import entry, rows
from support.store_reads import Counted

FILTERS = (
    None,
    'author = "ann lee"',
    "year >= 2008 and not tags = 'draft'",
    'author != "Ann Lee" or year = 2003',
    'missing tags and document matches "d1?"',
    "part < 15",
)
QUERIES = (
    asking(["bees", "wax"], vector=rows(1, 1)[0]),
    asking(["common", "number7"], vector=rows(1, 2)[0], budget=600),
    replace(asking(["cells"], vector=rows(1, 3)[0]), phrases=("wax cells",)),
    replace(asking(["honey", "bees"], vector=rows(1, 4)[0]), excluded=("honey",)),
)

SOME = frozenset({"d4", "d5", "d13", "d16", "d17"})


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Store]]:
    with every_store(tmp_path_factory.mktemp("where")) as made:
        for store in made.values():
            for number in range(18):
                store.put(entry(f"d{number}", words_of(number), seed=number, properties=of(number)))
        yield made


DUE: dict[object, list[SearchResult]] = {}
"""What memory finds, which every store is compared with."""


def words_of(number: int) -> list[str]:
    words = [
        f"The bees make wax number{number} at place p{number}x{n}. " for n in range(4)
    ]  # a coverage that stores keep exactly
    words[number % 4] = "In the hive wax cells hold honey and common brood. "
    return words


def of(number: int) -> dict[str, object]:
    held: dict[str, object] = {"author": ["Ann Lee", "Bo Chen"][number % 2], "part": number}
    if number % 3:
        held["date"] = f"{2000 + number % 20}-05"
    if number % 4 == 0:
        held["tags"] = ["draft", "wax"]
    return held


def asked(state: Snapshot | Counted, query: Query, where: str | None) -> SearchResult:
    limited = replace(query, where=parse(where) if where else None)
    return search(state, limited, SearchModel(PLAIN))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "everything", "names"),
    [
        ("sqlite", 60_000, None),
        ("sqlite", 8, None),
        ("sqlite", 8, SOME),
        ("postgres", 60_000, SOME),
        ("postgres", 8, None),
        ("postgres", 8, SOME),
        ("lance", 8, None),
    ],
)
def test_the_passages_under_a_filter_are_those_of_memory(
    stores: dict[str, Store],
    kind: str,
    everything: int,
    names: frozenset[str] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if kind not in stores:
        pytest.skip(f"needs the extra {kind}")
    monkeypatch.setattr(scope, "EVERYTHING", everything)
    monkeypatch.setattr(quoted, "EVERYTHING", everything)
    key = everything, names
    queries = [replace(each, documents=names) for each in QUERIES]
    if key not in DUE:
        with stores["memory"].snapshot() as state:
            DUE[key] = [asked(state, query, where) for query in queries for where in FILTERS]
    left = iter(DUE[key])
    with stores[kind].snapshot() as state:
        for query in queries:
            for where in FILTERS:
                due, found = next(left), asked(state, query, where)
                assert [(each.document, each.start, each.end) for each in found.passages] == [
                    (each.document, each.start, each.end) for each in due.passages
                ], where
                np.testing.assert_allclose(
                    [each.score for each in found.passages],
                    [each.score for each in due.passages],
                    atol=1e-5,
                )
                assert (found.notes, found.phrases) == (due.notes, due.phrases)


@pytest.mark.parametrize("everything", [60_000, 8])
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_no_search_asks_for_the_list_of_documents(
    stores: dict[str, Store], kind: str, everything: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind not in stores:
        pytest.skip(f"needs the extra {kind}")
    monkeypatch.setattr(scope, "EVERYTHING", everything)
    monkeypatch.setattr(quoted, "EVERYTHING", everything)
    with stores[kind].snapshot() as state:
        for number, query in enumerate(QUERIES):
            for where in FILTERS[:3]:
                counted = Counted(state)
                asked(counted, query, where)
                assert not counted.calls["documents"]
                assert counted.calls.total() <= (4 if number < 2 else 12), counted.calls


@pytest.mark.parametrize("where", FILTERS)
def test_six_round_trips_at_most(
    stores: dict[str, Store], where: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "postgres" not in stores:
        pytest.skip("needs the extra postgres")
    names = frozenset(f"d{number}" for number in range(18))
    for everything in (60_000, 8):
        monkeypatch.setattr(scope, "EVERYTHING", everything)
        for given in (None, names):
            with stores["postgres"].snapshot() as state:
                if given is not None:
                    assert len(state.infos([*given, "unknown"])) == 18
                result = asked(state, replace(QUERIES[0], documents=given), where)
                assert result.passages
                # The reranker, which is not here, reads texts: one more.
                assert state._session.round_trips + 1 <= 6
