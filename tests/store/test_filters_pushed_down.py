"""What a filter leaves is the same in every store: what ``Filter.matches`` says."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost.filters import Filter, facts, parse
from milepost.filters.facts import BUILT_IN
from milepost.filters.nodes import Date, KeyTest, Node, Not
from milepost.properties import cleaned
from milepost.store import DocumentInfo, DocumentSelection, Snapshot, Store
from support import filter_cases
from support.store_checks import every_store
from support.store_entries import entry, rows
from support.store_reads import touch

NAMES = ["/a/b/Report.PDF", "/a/b/report 2.pdf", "/a/Ä/straße.md", "note", "caf\udce9.txt", "a\0b"]
NAMES += ["x" * 80 + "1", "x" * 80 + "2"]
LONG = "long " * 30


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Store]]:
    with every_store(tmp_path_factory.mktemp("filters")) as made:
        for store in made.values():
            for number, name in enumerate(NAMES):
                source = name if number != 3 else None
                words = [f"word{number} common "] * (number % 3)
                store.put(entry(name, words, seed=number, source=source))
        yield made


@pytest.fixture(params=["memory", "sqlite", "postgres", "lance"])
def store(request: pytest.FixtureRequest, stores: dict[str, Store]) -> Store:
    if request.param not in stores:
        pytest.skip(f"needs the extra {request.param}")
    return stores[request.param]


OPERANDS = {
    "document": ["report.pdf", "/a/b/report.pdf", "note", "x" * 80 + "1", "x" * 80, "CAFÉ.txt"],
    "folder": ["b", "/a/ä", "/a"],
    "kind": ["pdf", "md"],
    "title": ["Straße", "STRASSE", LONG + "a", LONG + "b", LONG],
    "language": ["en", "EN-gb"],
}
texts = st.sampled_from(list(OPERANDS)).flatmap(
    lambda key: st.builds(
        KeyTest,
        st.just(key),
        st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
        st.tuples(st.sampled_from(OPERANDS[key])),
    )
)
patterns = st.builds(
    KeyTest,
    st.sampled_from(["document", "folder", "title", "a"]),
    st.just("matches"),
    st.tuples(
        st.text(st.sampled_from("*?[]!-^%_\\aor/.ß"), max_size=7)
        | st.sampled_from(["*.pdf", "[!/]*", "*/b/*", "*[0-9].pdf", "c?f?.txt", "a?b"])
        | st.just("[一-\uffff]*")
    ),
)
built_in = (
    texts
    | patterns
    | st.builds(
        KeyTest,
        st.sampled_from(["document", "title", "folder"]),
        st.just("contains"),
        st.tuples(st.sampled_from(["", "port", "ß", "/A/", "%", "_", "ng a"])),
    )
    | st.builds(
        KeyTest,
        st.sampled_from(["date", "year"]),
        st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
        st.tuples(st.sampled_from([*filter_cases.DATES, Date("2020"), 2020.0, 2019.5])),
    )
)
trees = st.recursive(
    built_in | filter_cases.trees | built_in.map(Not), filter_cases._nested, max_leaves=5
)
properties = st.builds(
    lambda own, more: {**own, **more},
    filter_cases.properties,
    st.fixed_dictionaries(
        {},
        optional={
            "title": st.sampled_from(["straße", "Strasse", LONG + "A", LONG + "c", LONG.strip()]),
            "date": st.sampled_from(["2020", "2020-03", "2020-03-01T10:00", "2019-12-31", "x"]),
            "year": st.sampled_from([2020.0, 2019.5]) | st.just("2020-03"),
            "language": st.sampled_from(["en-GB", "EN", "de"]),
            "folder": st.just("mine"),
        },
    ),
)


def left(store: Store, where: Filter, names: frozenset[str] | None = None) -> set[str]:
    with store.snapshot() as state:
        return {info.name for info in state.select(DocumentSelection(names, where)) or []}


@given(
    changes=st.lists(st.tuples(st.sampled_from(NAMES), properties), min_size=2, max_size=5),
    roots=st.lists(trees, min_size=4, max_size=8),
    names=st.none() | st.frozensets(st.sampled_from(NAMES), max_size=4),
)
@settings(max_examples=5, suppress_health_check=list(HealthCheck))
def test_every_store_leaves_what_the_filter_means(
    stores: dict[str, Store],
    changes: list[tuple[str, Mapping[str, object]]],
    roots: list[Node],
    names: frozenset[str] | None,
) -> None:
    for store in stores.values():
        for name, held in changes:
            assert touch(store, name, (1, 2), properties=cleaned(held))
        with store.snapshot() as state:
            infos = state.documents()
            keys = {key for info in infos for key in info.properties}
            known = [Filter(root) for root in roots if Filter(root).keys <= keys | set(BUILT_IN)]
            for where in known:
                among = DocumentSelection(names, where)
                due = [
                    info
                    for info in infos
                    if (names is None or info.name in names) and where.matches(facts(info))
                ]
                assert state.select(among) == due, str(where)
            if known:
                asked_in_a_search(state, among, due)


def asked_in_a_search(state: Snapshot, among: DocumentSelection, due: list[DocumentInfo]) -> None:
    """The calls of a search keep to the documents due."""
    total = sum(info.sentences for info in due)
    assert state.select(among, total) == due
    if total:
        assert state.select(among, total - 1) is None
    query, limits = rows(1, 9)[0], {"candidates": 50, "among": among}
    filled = [info.name for info in due if info.sentences]
    found, complete = state.select_candidates(query, ["common"], most=100, **limits)
    assert complete
    assert [info.name for info in found] == filled
    found, complete = state.select_candidates(query, ["common"], most=0, **limits)
    assert complete is not bool(filled)
    assert {info.name for info in found} == set(filled)
    held = state.postings(["common"], among)["common"][0]
    assert {info.name for info in state.owners(held)} == set(filled)


def test_an_unknown_key_is_refused_by_every_call(store: Store) -> None:
    touch(store, NAMES[0], (1, 2), properties=cleaned({"tags": ["a"]}))
    among = DocumentSelection(None, parse('tagz = "a"'))
    with store.snapshot() as state:
        for call in (
            lambda: state.select(among),
            lambda: state.select(among, 3),
            lambda: state.select_candidates(
                rows(1, 1)[0], ["x"], most=3, candidates=3, among=among
            ),
            lambda: state.postings(["x"], among),
        ):
            with pytest.raises(InputError, match="'tagz'; try: 'tags'"):
                call()


def test_facts_follow_their_document(store: Store) -> None:
    where = parse('title = "first"')
    store.put(entry("again", ["a "], properties={"title": "First"}))
    assert left(store, where) == {"again"}
    store.put(entry("again", ["a "], properties={"title": "Second"}))
    assert left(store, where) == set()
    touch(store, "again", None, properties={"title": "first"})
    assert left(store, where) == {"again"}
    touch(store, "again", (3, 4))
    assert left(store, where) == {"again"}
    assert store.delete("again")
    assert left(store, where) == set()
    store.vacuum()
    assert left(store, where) == set()
