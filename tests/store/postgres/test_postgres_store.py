"""What a server adds to the contract: equal answers, lost connections, two writers, bad servers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

pytest.importorskip("psycopg_pool", reason="needs the extra postgres")

import psycopg

from milepost.errors import IndexBusy, NewerSchema, NotAnIndex, OldSchema, StoreError
from milepost.store import Entry, erase_store
from milepost.store.postgres import PostgresStore, schema
from milepost.store.postgres.address import parse
from support.postgres import fresh_schema, server
from support.store_checks import (
    WRITER,
    a_killed_writer_leaves_whole_documents,
    are_the_three_documents,
    filled,
    names_come_back,
    refuses_another_model,
    same_answers,
    threads_read_while_one_writes,
    writes_nothing_when_reading_only,
)
from support.store_entries import WIDTH, Child, entry, holds, numbered, opened, rows
from support.store_reads import reads


@pytest.fixture
def address() -> Iterator[str]:
    with fresh_schema() as made:
        yield made


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    made = opened(address)
    assert isinstance(made, PostgresStore)
    yield made
    made.close()


def admin(query: str, address: str = "") -> list[tuple[Any, ...]]:
    """Run a query as an administrator would, beside Milepost."""
    found = parse(address or server())
    options = f"-c search_path={found.schema},public"
    with psycopg.connect(found.conninfo, autocommit=True, options=options) as connection:
        cursor = connection.execute(query.encode())
        return cursor.fetchall() if cursor.description else []


def end_connections(address: str, more: str = "") -> None:
    """End the connections to this index: tests name each program after its schema."""
    name = parse(address).schema
    admin(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE application_name = '{name}' {more}"
    )


def test_candidates_are_those_of_memory(address: str) -> None:
    """Nearest and matching rows and the documents chosen are the reference's, in its order."""
    plain, remote = filled(None, address)
    same_answers(plain, remote, seeds=20)
    remote.close()


def test_an_index_finds_what_the_scan_finds(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the approximate index the best ten of hundreds are those of the exact scan."""
    monkeypatch.setattr(schema, "INDEX_FROM", 100)
    plain, remote = filled(None, address)
    remote.optimize()
    assert admin("SELECT count(*) FROM pg_indexes WHERE indexname = 'vectors_near'", address)
    hits = 0
    for seed in range(30):
        query = rows(1, 2000 + seed)[0]
        due, found = reads(plain).nearest(query, 10)[1], reads(remote).nearest(query, 10)[1]
        hits += int(np.isclose(due, found, atol=1e-6).sum())
    assert hits >= 297  # of 300
    remote.close()


def test_a_search_waits_for_the_server_six_times_at_most(address: str) -> None:
    """Its beginning, choosing among many (two), measuring, and two readings of text."""
    _, remote = filled(None, address)
    with remote.snapshot() as state:
        query = rows(1, 5)[0]
        documents, complete = state.select_candidates(query, ["word1"], most=100, candidates=5)
        assert not complete
        documents.sort(key=lambda info: info.first)
        state.score_inputs(query, ["word1"], documents)
        state.texts([(documents[0], 0, 10)])
        state.excerpts([(documents[0], 0, 10), (documents[1], 0, 5)])
    assert state.round_trips == 6
    remote.close()


def test_a_snapshot_does_not_see_what_is_written_beside_it(store: PostgresStore) -> None:
    """It is the state of its beginning; the next one has the new state."""
    store.put(numbered(0))
    with store.snapshot() as state:
        before = state.documents()
        store.put(numbered(1))
        store.delete("document 0")
        assert state.documents() == before
        assert state.texts([(before[0], 0, 6)]) == ["number"]
    assert [info.name for info in reads(store).documents()] == ["document 1"]


def test_names_that_a_server_cannot_hold_come_back(store: PostgresStore) -> None:
    names_come_back(store)


def test_idle_connections_that_were_lost_are_replaced(store: PostgresStore, address: str) -> None:
    """A server that was restarted, or a firewall, ends connections that lie idle."""
    store.put(numbered(0))
    assert reads(store).documents()
    end_connections(address)
    assert reads(store).documents()
    store.put(numbered(1))
    assert len(reads(store).documents()) == 2


def test_a_search_whose_connection_was_lost_can_be_tried_again(
    store: PostgresStore, address: str
) -> None:
    """A restart of the server is no failure of Milepost's: its own server answers 503."""
    store.put(numbered(0))
    with store.snapshot() as state:
        end_connections(address)
        with pytest.raises(IndexBusy):
            state.documents()
    assert reads(store).documents()


@contextmanager
def waiting_writers_are_cut(address: str, table: str) -> Iterator[list[int]]:
    """Hold a table, so that every writer waits there, and end the connections that wait.

    Yields the list of those ended.
    """
    found = parse(address)
    waiting = (
        "SELECT pid FROM pg_stat_activity "
        f"WHERE application_name = '{found.schema}' AND wait_event_type = 'Lock'"
    )
    stop = threading.Event()
    ended: list[int] = []

    def cut() -> None:
        while not stop.wait(0.02):
            for (pid,) in admin(waiting):
                admin(f"SELECT pg_terminate_backend({pid}, 5000)")
                ended.append(pid)

    thread = threading.Thread(target=cut)
    options = f"-c search_path={found.schema},public"
    with psycopg.connect(found.conninfo, options=options) as holder:
        holder.execute(f"LOCK TABLE {table} IN SHARE MODE".encode())
        thread.start()
        try:
            yield ended
        finally:
            stop.set()
            thread.join()


WRITTEN = ("documents", "bodies", "pieces", "postings", "vectors", "totals")
"""The tables of a transaction that stores a document, in this order."""


def counts(address: str) -> list[int]:
    return [admin(f"SELECT count(*) FROM {table}", address)[0][0] for table in WRITTEN]


@pytest.mark.parametrize("table", WRITTEN)
def test_a_connection_lost_in_mid_transaction_leaves_nothing_half(
    store: PostgresStore, address: str, table: str
) -> None:
    """The server ends the connection at each step of a transaction, and at every retry."""
    store.put(numbered(0))
    held = counts(address)
    with waiting_writers_are_cut(address, table) as ended:
        with pytest.raises(IndexBusy, match="connection was lost"):
            store.put(numbered(1))
        assert len(ended) > 1  # the writer has tried again
        assert counts(address) == held
    store.put(numbered(1))
    holds(store, numbered(0))
    holds(store, numbered(1))


def test_a_killed_writer_leaves_whole_documents(
    store: PostgresStore, address: str, child: Child
) -> None:
    """The server notices the end of the connection and undoes the transaction."""
    for _ in range(3):
        a_killed_writer_leaves_whole_documents(store, address, child)
        totals = reads(store).statistics()
        assert totals.sentences == sum(info.sentences for info in reads(store).documents())


def test_two_writers_lose_and_double_nothing(address: str, child: Child) -> None:
    """Two processes write the same three documents; in the end each is one of theirs, whole."""
    code = WRITER.replace("10_000", "40")
    processes = [child(code, address) for _ in range(2)]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    store = opened(address)
    are_the_three_documents(store)
    assert admin("SELECT count(*) FROM vectors", address) == [(90,)]
    store.close()


def test_another_model_or_version_is_refused(address: str) -> None:
    """With the versions or fingerprints in one line."""
    refuses_another_model(address)
    admin("UPDATE meta SET value = '999' WHERE key = 'version'", address)
    with pytest.raises(NewerSchema, match="schema 999, this one reads"):
        opened(address)
    admin("UPDATE meta SET value = '0' WHERE key = 'version'", address)
    with pytest.raises(OldSchema, match="schema 0, this one reads"):
        opened(address)


def test_an_old_schema_is_brought_up_to_date(
    store: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the statements of its migration; the documents stay."""
    store.put(numbered(0))

    def add_a_column(connection: psycopg.Connection[Any], partitions: int) -> bool:
        assert partitions == 1
        connection.execute("ALTER TABLE documents ADD COLUMN extra text")
        return True

    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    monkeypatch.setitem(schema.MIGRATIONS, schema.VERSION - 1, add_a_column)
    newer = opened(address)
    holds(newer, numbered(0))
    newer.close()
    assert admin("SELECT value FROM meta WHERE key = 'version'", address) == [
        (str(schema.VERSION),)
    ]


def test_what_is_no_index_is_left_alone(address: str) -> None:
    """Neither opened nor erased."""
    with pytest.raises(NotAnIndex, match="holds no index"):
        opened(address, create=False)
    with pytest.raises(NotAnIndex, match="holds no index"):
        erase_store(address)
    name = parse(address).schema
    admin(f"CREATE SCHEMA {name}")
    admin("CREATE TABLE mine (n int)", address)
    with pytest.raises(NotAnIndex, match="holds other tables"):
        opened(address)
    assert admin("SELECT count(*) FROM mine", address) == [(0,)]


def test_erasing_removes_the_tables_and_nothing_else(address: str) -> None:
    opened(address).close()
    admin("CREATE TABLE mine (n int)", address)
    erase_store(address)
    assert admin("SELECT count(*) FROM mine", address) == [(0,)]
    with pytest.raises(NotAnIndex):
        erase_store(address)


def test_reading_only_writes_nothing(address: str) -> None:
    writes_nothing_when_reading_only(address)


SECRET = "s3cret-word"


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("127.0.0.1:{port}/notes", "no server answers"),
        ("no-such-host.invalid/notes", "there is no such host"),
        ("127.0.0.1:{port}/notes?schema=Bad-Name", "not a schema name"),
        ("127.0.0.1:{port}/notes?partitions=0", "partitions='0' is not valid"),
        ("127.0.0.1:x/notes", "port of the address is not a number"),
        ("127.0.0.1:{port}/notes?nonsense=1", "the address cannot be read"),
    ],
)
def test_a_server_that_cannot_be_reached_is_one_line_without_secrets(
    where: str, words: str
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(StoreError, match=words) as error:
        opened(f"postgresql://anna:{SECRET}@{where.format(port=port)}", patience_s=1.0)
    assert isinstance(error.value, IndexBusy) == (words == "no server answers")
    message = str(error.value)
    assert "\n" not in message
    assert SECRET not in message
    assert "anna" not in message
    assert error.value.__cause__ is None or SECRET not in repr(error.value.__cause__)


def test_a_database_that_is_not_there_is_named() -> None:
    address = server().replace("/postgres?", "/no_such_database?")
    with pytest.raises(StoreError, match="no such database"):
        opened(address)


def test_many_threads_read_while_one_writes(store: PostgresStore) -> None:
    threads_read_while_one_writes(store, documents=30)


def test_entries_that_do_not_fit_are_refused(store: PostgresStore) -> None:
    bad: Entry = entry("a", ["One. "], vectors=np.ones((1, WIDTH + 1), np.float32))
    with pytest.raises(ValueError, match="vectors have the shape"):
        store.put(bad)
