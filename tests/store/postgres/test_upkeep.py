"""Totals, statistics and the index of vectors: kept small and fast while others work."""

import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("psycopg_pool", reason="needs the extra postgres")

import psycopg

from milepost.errors import IndexBusy
from milepost.filters import parse
from milepost.store import DocumentSelection
from milepost.store.postgres import PostgresStore, schema, upkeep
from milepost.store.postgres.address import parse as parsed
from support.postgres import ask, fresh_schema, server
from support.store_entries import entry, opened, rows
from support.store_reads import nearest
from support.threads import at_once


@pytest.fixture(params=[1, 3])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    with fresh_schema(partitions=request.param) as made:
        yield made


def test_the_index_is_made_while_a_writer_writes(
    store: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "INDEX_FROM", 100)
    for number in range(40):
        store.put(entry(f"d{number}", [f"word{n} " for n in range(30)], seed=number))
    part = ask(address, "SELECT min(relname) FROM pg_class WHERE relname LIKE 'vectors\\__'")
    assert part[0][0] == "vectors_0"
    ask(address, "CREATE INDEX vectors_near_0 ON vectors_0 (scale)")
    ask(
        address,
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'vectors_near_0'::regclass",
    )
    stop = threading.Event()

    def write() -> None:
        other = opened(address, patience_s=1.0)
        number = 0
        while not stop.is_set():
            other.put(entry(f"other {number % 3}", ["new "] * 5, seed=number))
            number += 1
        other.close()

    def index() -> None:
        try:
            store.optimize()
        finally:
            stop.set()

    assert at_once(write, index) == []
    made = ask(
        address,
        "SELECT indexrelid::regclass::text, indisvalid, indexdef LIKE '%hnsw%' FROM pg_index "
        "JOIN pg_indexes ON indexname = indexrelid::regclass::text AND "
        f"schemaname = '{parsed(address).schema}' "
        "WHERE indexrelid::regclass::text LIKE 'vectors_near%'",
    )
    assert len(made) == 1 + max(1, parsed(address).partitions)
    assert all(valid and near for _, valid, near in made)
    again = ask(address, "SELECT 'vectors_near'::regclass::oid")
    store.optimize()
    assert ask(address, "SELECT 'vectors_near'::regclass::oid") == again


def test_only_one_process_makes_the_index(
    store: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "INDEX_FROM", 1)
    store.put(entry("a", ["a "] * 20))
    with psycopg.connect(parsed(address).conninfo, autocommit=True) as connection:
        connection.execute(f"SET search_path = {parsed(address).schema}".encode())
        with upkeep._alone(connection) as alone:
            assert alone
            store.optimize()
            assert ask(address, "SELECT to_regclass('vectors_near')") == [(None,)]
    store.optimize()
    assert ask(address, "SELECT to_regclass('vectors_near') IS NULL") == [(False,)]


def test_the_nearest_under_a_filter_are_those_of_the_exact_scan(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "INDEX_FROM", 100)
    plain, remote = opened(None), opened(address)
    for number in range(60):
        given = entry(
            f"d{number}", ["w "] * 20, seed=number, properties={"part": number % 10, "tags": "x"}
        )
        for each in (plain, remote):
            each.put(given)
    remote.optimize()
    hits = asked_for = 0
    for text in ("part < 9", "part = 3", "not part = 3", 'part in (1, 2) or tags = "y"'):
        among = DocumentSelection(None, parse(text))
        for seed in range(6):
            query = rows(1, 3000 + seed)[0]
            with plain.snapshot() as theirs, remote.snapshot() as ours:
                left = theirs.select(among) or []
                due, _ = nearest(theirs, query, 10, left)
                owners = [info.name for info in theirs.owners(due)]
                found, complete = ours.select_candidates(
                    query, [], most=0, candidates=40, among=among
                )
                assert not complete
                names = {info.name for info in found}
                assert names <= {info.name for info in left}
                hits += len(names & set(owners))
                asked_for += len(owners)
    assert hits >= 0.99 * asked_for


def test_settings_with_spaces_reach_the_server() -> None:
    """Libpq takes no plus sign for a space."""
    with fresh_schema() as address:
        store = opened(f"{address}&options=-c%20work_mem%3D7MB%20-c%20geqo%3Doff")
        with store.snapshot() as state:
            shown = state._session.ask(("SHOW geqo", {}), ("SHOW work_mem", {}))
        assert shown[0] == [("off",)]
        store.close()


def test_removed_text_that_a_transaction_may_read_is_named(address: str) -> None:
    """The server keeps it for every transaction of the database, whatever that one reads."""
    store = opened(address, patience_s=0.0)
    for name in ("one", "two"):
        store.put(entry(name, ["Some words. "]))
    with psycopg.connect(server()) as other:
        other.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        other.execute("SELECT 1")
        store.delete("one")
        with pytest.raises(IndexBusy, match="keeps removed text"):
            store.vacuum(now=True)
