"""What a server adds to the contract: equal answers, lost connections, two writers, bad servers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("psycopg_pool", reason="needs the extra postgres")

import psycopg

from milepost.errors import IndexBusy, NewerSchema, NotAnIndex, OldSchema, StoreError
from milepost.store import erase_store
from milepost.store.postgres import PostgresStore, schema
from milepost.store.postgres.address import parse
from support.postgres import ask, server
from support.store_checks import (
    WRITER,
    a_killed_writer_leaves_whole_documents,
    are_the_three_documents,
    filled,
    finds_what_the_scan_finds,
    same_answers,
)
from support.store_entries import Child, holds, numbered, opened
from support.store_reads import reads


def end_connections(address: str) -> None:
    """End the connections to this index: tests name each program after its schema."""
    name = parse(address).schema
    ask(
        server(),
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'",
    )


def test_an_index_finds_what_the_scan_finds(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "INDEX_FROM", 100)
    plain, remote = filled(None, address)
    same_answers(plain, remote, seeds=8)
    remote.optimize()
    assert ask(address, "SELECT count(*) FROM pg_indexes WHERE indexname = 'vectors_near'")
    finds_what_the_scan_finds(plain, remote)


def test_idle_connections_that_were_lost_are_replaced(store: PostgresStore, address: str) -> None:
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
            for (pid,) in ask(server(), waiting):
                ask(server(), f"SELECT pg_terminate_backend({pid}, 5000)")
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
    return [ask(address, f"SELECT count(*) FROM {table}")[0][0] for table in WRITTEN]


@pytest.mark.parametrize("table", WRITTEN)
def test_a_connection_lost_in_mid_transaction_leaves_nothing_half(
    store: PostgresStore, address: str, table: str
) -> None:
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
    for _ in range(2):
        a_killed_writer_leaves_whole_documents(store, address, child)
        totals = reads(store).statistics()
        assert totals.sentences == sum(info.sentences for info in reads(store).documents())


def test_two_writers_lose_and_double_nothing(address: str, child: Child) -> None:
    code = WRITER.replace("10_000", "40")
    processes = [child(code, address) for _ in range(2)]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    store = opened(address)
    are_the_three_documents(store)
    assert ask(address, "SELECT count(*) FROM vectors") == [(90,)]


def test_another_version_is_refused(address: str) -> None:
    opened(address).close()
    ask(address, "UPDATE meta SET value = '999' WHERE key = 'version'")
    with pytest.raises(NewerSchema, match="schema 999, this one reads"):
        opened(address)
    ask(address, "UPDATE meta SET value = '0' WHERE key = 'version'")
    with pytest.raises(OldSchema, match="schema 0, this one reads"):
        opened(address)


def test_what_is_no_index_is_left_alone(address: str) -> None:
    name = parse(address).schema
    ask(server(), f"CREATE SCHEMA {name}")
    ask(address, "CREATE TABLE mine (n int)")
    with pytest.raises(NotAnIndex, match="holds other tables"):
        opened(address)
    assert ask(address, "SELECT count(*) FROM mine") == [(0,)]


def test_erasing_removes_the_tables_and_nothing_else(address: str) -> None:
    opened(address).close()
    ask(address, "CREATE TABLE mine (n int)")
    erase_store(address)
    assert ask(address, "SELECT count(*) FROM mine") == [(0,)]
    with pytest.raises(NotAnIndex):
        erase_store(address)


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
