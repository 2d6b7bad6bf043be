"""Processes that make, erase and search at the same time, and extensions in other schemas."""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit, urlunsplit

import pytest

from milepost.errors import IndexBusy, NotAnIndex, StoreError
from milepost.store import erase_store
from support.postgres import ask, server
from support.store_entries import entry, numbered, opened
from support.store_reads import reads
from support.threads import at_once


@pytest.fixture
def database() -> Iterator[Callable[[], str]]:
    """Makes addresses of new databases, in which nothing is."""
    made: list[str] = []

    def make() -> str:
        name = f"test_{uuid.uuid4().hex[:12]}"
        ask(server(), f"CREATE DATABASE {name}")
        made.append(name)
        return urlunsplit(urlsplit(server())._replace(path=f"/{name}"))

    yield make
    for name in made:
        ask(server(), f"DROP DATABASE {name} WITH (FORCE)")


def with_schema(address: str, name: str) -> str:
    return f"{address}{'&' if '?' in address else '?'}schema={name}"


def test_several_open_a_fresh_database_at_once(database: Callable[[], str]) -> None:
    for _ in range(2):
        address = database()
        places = [with_schema(address, f"s{number % 3}") for number in range(6)]
        assert at_once(*(lambda at=at: opened(at).close() for at in places)) == []


def test_several_make_an_index_anew_at_once(database: Callable[[], str]) -> None:
    address = database()
    opened(address).close()

    def anew() -> None:
        with suppress(NotAnIndex):  # another one has just erased it
            erase_store(address)
        store = opened(address)
        for number in range(3):
            store.put(numbered(number))
        store.close()

    for _ in range(3):
        assert at_once(anew, anew, anew) == []
        store = opened(address)
        assert len(reads(store).documents()) in (0, 1, 2, 3)
        store.close()


def test_searches_beside_a_rebuild(database: Callable[[], str]) -> None:
    address = database()
    store = opened(address)
    store.put(entry("a", ["One. "]))
    stop, seen = threading.Event(), set()

    def search() -> None:
        while not stop.is_set():
            with suppress(IndexBusy):
                seen.add(len(reads(store).documents()))

    def rebuild() -> None:
        try:
            for _ in range(5):
                erase_store(address)
                other = opened(address)
                other.put(entry("a", ["One. "]))
                other.close()
        finally:
            stop.set()

    assert at_once(search, rebuild) == []
    assert seen <= {0, 1}
    assert len(reads(store).documents()) == 1


def test_the_extension_in_another_schema(database: Callable[[], str]) -> None:
    address = database()
    ask(address, 'CREATE SCHEMA "My Extensions"')
    ask(address, 'CREATE EXTENSION vector SCHEMA "My Extensions"')
    store = opened(address)
    store.put(numbered(0))
    assert len(reads(store).documents()) == 1


def test_a_schema_that_was_made_before(database: Callable[[], str]) -> None:
    """The extension goes into ``public``; another index works, and erasing, too."""
    address = database()
    ask(address, "CREATE SCHEMA milepost")
    for place in (address, with_schema(address, "other")):
        store = opened(place)
        store.put(numbered(0))
        store.close()
    erase_store(address)
    opened(address).close()
    where = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
    assert ask(address, where) == [("public",)]


def test_an_extension_in_the_schema_of_an_index(database: Callable[[], str]) -> None:
    """As older versions have made it: others find it, and erasing leaves it there."""
    address = database()
    ask(address, "CREATE SCHEMA milepost")
    ask(address, "CREATE EXTENSION vector SCHEMA milepost")
    for place in (address, with_schema(address, "other")):
        opened(place).close()
    erase_store(address)
    assert len(ask(address, "SELECT 1 FROM pg_extension WHERE extname = 'vector'")) == 1
    opened(address).close()


def test_a_search_path_of_the_address_is_refused(database: Callable[[], str]) -> None:
    """Before anything is made: the tables would be in another schema."""
    address = database()
    joint = "&" if "?" in address else "?"
    with pytest.raises(StoreError, match=r"search_path.*try: \?schema=NAME"):
        opened(f"{address}{joint}options=-csearch_path%3Dpublic")
    assert ask(address, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]
