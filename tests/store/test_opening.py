"""Doors: what opens, what is refused and how, and who may use an index at the same time."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import numpy as np
import pytest

from milepost.errors import IndexBusy, NewerSchema, NotAnIndex, OldSchema, StoreError, WrongModel
from milepost.store import Entry, erase_store, open_store
from milepost.store.sqlite.schema import VERSION
from support.small_index import write_schema
from support.store_entries import FINGERPRINT, WIDTH, Child, entry, holds, numbered, opened, rows
from support.store_reads import reads

HOLDING = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1] + "/milepost.sqlite", isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE documents SET hash = 'uncommitted'")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
print("free", flush=True)
sys.stdin.readline()
"""

PUTTING = """
import sys
from pathlib import Path
from support.store_entries import Child, numbered, opened
store = opened(Path(sys.argv[1]))
for line in sys.stdin:
    for number in map(int, line.split()):
        store.put(numbered(number))
    print("done", flush=True)
"""


def say(process: subprocess.Popen[str], line: str) -> str:
    """Send a line to a process and wait for its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def test_import_is_light() -> None:
    """The room loads neither numpy nor sqlite3 before a store is opened."""
    code = "import sys, milepost.store; print({'numpy', 'sqlite3'} & {*sys.modules})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment)
    assert ran.stdout.strip() == b"set()"


def test_opens_again(tmp_path: Path) -> None:
    """An index made in a folder that was missing is there when opened again."""
    folder = tmp_path / "new" / "folder with % and ?"
    store = opened(folder)
    store.put(numbered(0))
    store.close()
    assert sorted(path.name for path in folder.iterdir()) == ["milepost.sqlite", "vectors.seg"]
    store = opened(folder, create=False)
    assert (store.fingerprint, store.dimensions) == (FINGERPRINT, WIDTH)
    holds(store, numbered(0))
    store.close()


def test_closed_is_closed(tmp_path: Path) -> None:
    """A closed store refuses every use, and closing twice is no error."""
    store = opened(tmp_path)
    store.close()
    store.close()
    for use in (
        reads(store).documents,
        lambda: reads(store).nearest(rows(1, 1)[0], 1),
        lambda: store.put(numbered(0)),
        lambda: store.touch("document 0", None),
        lambda: store.delete("document 0"),
        store.vacuum,
    ):
        with pytest.raises(StoreError, match="closed"):
            use()


@pytest.mark.parametrize("options", [{"create": False}, {"read_only": True}])
def test_nothing_there(tmp_path: Path, options: dict[str, bool]) -> None:
    """Where nothing may be created, a missing folder is refused with the command that makes one."""
    with pytest.raises(NotAnIndex, match=r"milepost index PATH… --db"):
        opened(tmp_path / "missing", **options)
    assert not (tmp_path / "missing").exists()


def test_foreign_folder(tmp_path: Path) -> None:
    """A folder with other files, or a file, is refused and left as it is."""
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(NotAnIndex, match="holds other files"):
        opened(tmp_path)
    with pytest.raises(NotAnIndex, match="is a file"):
        opened(tmp_path / "letter.txt")
    with pytest.raises(NotAnIndex):
        opened(tmp_path / "letter.txt", create=False)
    with pytest.raises(NotAnIndex, match="name the folder of an index"):  # none can be made here
        opened(tmp_path, create=False)
    with pytest.raises(NotAnIndex):
        erase_store(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("kind", ["sqlite", "application", "text"])
@pytest.mark.parametrize("create", [True, False])
def test_foreign_file_of_that_name(tmp_path: Path, kind: str, create: bool) -> None:
    """A file of another program under our name is refused and not changed by a byte."""
    path = tmp_path / "milepost.sqlite"
    if kind == "text":
        path.write_text("this is no database at all, but long enough to be looked at")
    else:
        connection = sqlite3.connect(path)
        if kind == "application":
            connection.execute("PRAGMA application_id = 77")
        connection.execute("CREATE TABLE meta (a)")
        connection.close()
    before = path.read_bytes()
    with pytest.raises(NotAnIndex, match="not a Milepost index"):
        opened(tmp_path, create=create)
    with pytest.raises(NotAnIndex):
        erase_store(tmp_path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["milepost.sqlite"]


@pytest.mark.parametrize("model", [("other", WIDTH), (FINGERPRINT, WIDTH + 1)])
def test_wrong_model(tmp_path: Path, model: tuple[str, int]) -> None:
    """An index of another model is refused with the command that makes it anew."""
    opened(tmp_path).close()
    with pytest.raises(WrongModel, match=r"another model .*--db .* --rebuild"):
        open_store(tmp_path, fingerprint=model[0], dimensions=model[1])


@pytest.mark.parametrize("schema", [1, 2])
@pytest.mark.parametrize("options", [{}, {"create": False}, {"read_only": True}])
def test_older_schema(tmp_path: Path, schema: int, options: dict[str, bool]) -> None:
    """An index of an older Milepost is refused with the command that makes it anew, unchanged."""
    store = opened(tmp_path)
    store.put(numbered(0))
    store.close()
    write_schema(tmp_path, schema)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = re.escape(f"milepost index PATH… --db {tmp_path} --rebuild")
    with pytest.raises(OldSchema, match=rf"schema {schema}, this one reads {VERSION}.*{again}"):
        opened(tmp_path, **options)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {name: after[name] for name in before} == before
    erase_store(tmp_path)
    assert list(tmp_path.iterdir()) == []
    store = opened(tmp_path)
    store.put(numbered(1))
    holds(store, numbered(1))
    store.close()


def test_newer_schema(tmp_path: Path) -> None:
    """An index of a newer Milepost is refused with the command that gets one, and can be erased."""
    opened(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "milepost.sqlite")
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(
        NewerSchema,
        match=rf"schema {VERSION + 1}, this one reads {VERSION}.*pip install -U milepost",
    ):
        opened(tmp_path)
    erase_store(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_erased_and_made_anew(tmp_path: Path) -> None:
    """Erasing takes our files only; stores that are still open notice the new index."""
    reader, writer = opened(tmp_path), opened(tmp_path)
    read = reads(reader)
    writer.put(numbered(0))
    assert len(read.documents()) == 1
    (tmp_path / "note.txt").write_text("mine")
    erase_store(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]
    with pytest.raises(NotAnIndex):
        read.documents()
    (tmp_path / "note.txt").unlink()
    opened(tmp_path).close()
    assert read.documents() == []
    writer.put(numbered(1))
    holds(reader, numbered(1))
    assert len(read.nearest(rows(1, 0)[0], 99)[0]) == 30
    erase_store(tmp_path)
    open_store(tmp_path, fingerprint="other", dimensions=5).close()
    with pytest.raises(WrongModel):
        writer.put(numbered(2))
    with pytest.raises(WrongModel):
        read.nearest(rows(1, 0)[0], 99)


def _made_together(folder: Path, own: Entry, barrier: Barrier, found: Queue[str]) -> None:
    """One of several processes: makes each index at the moment the others do, and writes to it."""
    told = ""
    try:
        for number in range(15):
            barrier.wait(60)
            store = opened(folder / str(number))
            if number % 10 == 0:
                store.put(own)
            store.close()
    except BaseException as error:
        told = repr(error)
        barrier.abort()
    found.put(told)


def test_several_processes_may_make_the_index_at_once(tmp_path: Path) -> None:
    """None fails because another makes the same index in the same millisecond."""
    context = multiprocessing.get_context("spawn")
    barrier, found = context.Barrier(3), context.Queue()
    entries = [entry(f"process {seed}", ["One. ", "Two. "], seed=seed) for seed in range(3)]
    processes = [
        context.Process(target=_made_together, args=(tmp_path, own, barrier, found))
        for own in entries
    ]
    for process in processes:
        process.start()
    assert [found.get(timeout=100) for _ in processes] == [""] * 3
    for process in processes:
        process.join()
    store = opened(tmp_path / "10")
    for own in entries:
        holds(store, own)
    store.close()


def test_second_writer(tmp_path: Path, child: Child) -> None:
    """Beside a writer a reader reads on; a second writer waits, then is told, then may write."""
    store = opened(tmp_path, patience_s=0.2)
    store.put(numbered(0))
    process = child(HOLDING, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    for write in (
        lambda: store.put(numbered(1)),
        lambda: store.touch("document 0", None),
        lambda: store.delete("document 0"),
        store.vacuum,
        lambda: erase_store(tmp_path, patience_s=0.1),
    ):
        with pytest.raises(IndexBusy, match=r"another process is writing .*run the command again"):
            write()
    holds(store, numbered(0))
    other = opened(tmp_path, read_only=True)
    holds(other, numbered(0))
    other.close()
    assert say(process, "") == "free"
    store.put(numbered(1))
    holds(store, numbered(1))
    store.close()


def test_reader_sees_commits_of_another_process(tmp_path: Path, child: Child) -> None:
    """A reader opened before a write sees it by its next call, in tables and vectors."""
    reader = opened(tmp_path)
    read, process = reads(reader), child(PUTTING, tmp_path)
    for number in range(5):
        assert say(process, str(number)) == "done"
        holds(reader, numbered(number))
        live = min(number + 1, 3)
        assert len(read.nearest(rows(1, 0)[0], 10**4)[0]) == 30 * live
        assert len(read.matching(["sentence3"], 99)) == live
    reader.close()


def test_reading_keeps_its_locks(tmp_path: Path, child: Child) -> None:
    """A writer that ends beside an open reader leaves SQLite's log: it knows of the reader."""
    reader = opened(tmp_path)
    log = tmp_path / "milepost.sqlite-wal"
    reads(reader).documents()
    process = child(PUTTING + "store.close()", tmp_path)
    process.communicate("0 1 2")
    assert log.stat().st_size > 0
    assert len(reads(reader).documents()) == 3
    reader.close()


def test_threads_share_a_store(tmp_path: Path) -> None:
    """Threads read consistent answers from one store while another thread writes and vacuums."""
    store = opened(tmp_path)
    for number in range(3):
        store.put(numbered(number))
    done = threading.Event()
    wrong: list[BaseException | str] = []

    def read() -> None:
        query = rows(1, 3)[0]
        try:
            while not done.is_set():
                with store.snapshot() as state:
                    infos = state.documents()
                    found, _ = state.nearest(query, 10**4)
                    texts = state.texts([(info, 0, 12) for info in infos])
                    held = state.postings(["sentence1"])["sentence1"][0]
                    spans = state.sentences(infos).spans
                    vectors = state.vectors(infos)
                    statistics = state.statistics()
                want = [row for info in infos for row in range(info.first, info.first + 30)]
                if sorted(found.tolist()) != want or not len(want) == statistics.sentences == 90:
                    wrong.append(f"{len(found)} rows")
                if held.tolist() != [info.first + 1 for info in infos]:
                    wrong.append("postings")
                if len(spans) != 90:
                    wrong.append("spans")
                for place, (info, text) in enumerate(zip(infos, texts, strict=True)):
                    due = rows(30, int(info.hash))
                    off = np.abs(vectors[30 * place : 30 * place + 30] - due).max()
                    if not text.startswith(f"number{info.hash} ") or off > 1e-6:
                        wrong.append("text or vectors of another state")
        except BaseException as error:
            wrong.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for thread in readers:
        thread.start()
    for number in range(3, 24):
        store.put(numbered(number))
        if number % 6 == 0:
            store.vacuum()
    done.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    store.close()


def test_read_only_store_refuses_to_write(tmp_path: Path) -> None:
    """A store opened for reading says so when asked to write."""
    opened(tmp_path).close()
    store = opened(tmp_path, read_only=True)
    for write in (
        lambda: store.put(numbered(0)),
        lambda: store.touch("x", None),
        lambda: store.delete("x"),
        store.vacuum,
    ):
        with pytest.raises(StoreError, match="for reading only"):
            write()
    store.close()


def test_read_only_medium(small_disk: Path) -> None:
    """An index on a medium that cannot be written is read; a write is refused in one line."""
    folder = small_disk / "index"
    store = opened(folder)
    for number in range(3):
        store.put(numbered(number))
    store.close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for options in ({}, {"create": False}, {"read_only": True}):
        store = opened(folder, **options)
        holds(store, numbered(2))
        assert len(reads(store).nearest(rows(1, 0)[0], 999)[0]) == 90
        with pytest.raises(StoreError, match=r"permission|for reading only"):
            store.put(numbered(3))
        holds(store, numbered(1))
        store.close()
    with pytest.raises(StoreError):
        opened(small_disk / "new")
    # Written elsewhere since: a view of the old state notices.
    store = opened(folder, read_only=True)
    assert len(reads(store).documents()) == 3
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    writer = opened(folder)
    writer.put(numbered(3))
    holds(store, numbered(3))
    writer.close()
    holds(store, numbered(3))
    store.close()


def test_unfinished_log_on_a_read_only_medium(small_disk: Path, tmp_path: Path) -> None:
    """An index copied while open is not read as of an older state: it is refused."""
    store = opened(tmp_path / "open")
    store.put(numbered(0))
    shutil.copytree(tmp_path / "open", small_disk / "copy")
    (small_disk / "copy" / "milepost.sqlite-shm").unlink()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(StoreError, match="was not closed"):
        opened(small_disk / "copy", read_only=True)
    store.close()


def test_no_permission(tmp_path: Path) -> None:
    """A folder that may not be written is refused with a hint at its permissions."""
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("root may write anywhere; the read-only medium stands for it")
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(StoreError, match="permission"):
            opened(tmp_path / "new")
    finally:
        tmp_path.chmod(0o755)
