"""An index through PgBouncer, which gives every transaction another connection of the server."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("psycopg_pool", reason="needs the extra postgres")

import psycopg

from milepost.errors import StoreError
from milepost.store.postgres import schema
from support.postgres import fresh_schema, server
from support.store_checks import filled, same_answers
from support.store_entries import entry, holds, numbered, opened
from support.store_reads import reads

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
        yield (
            f"{pooler}?{urlsplit(made).query.partition('schema=')[1]}"
            + (urlsplit(made).query.partition("schema=")[2])
        )


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


def test_options_of_the_address_are_refused_by_name(address: str, pooler: str) -> None:
    try:
        opened(f"{address}&options=-cwork_mem%3D8MB").close()
    except StoreError as error:
        assert "the pooler takes no options" in str(error)  # noqa: PT017 - one of two poolers
