"""Who may use an index at the same time: processes and threads."""

from __future__ import annotations

import gc
import multiprocessing
import subprocess
import threading
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import numpy as np
import pytest

import milepost
from milepost.errors import IndexBusy
from milepost.store import Entry, erase_store
from milepost.testing import fake_encoder
from support.store_checks import put_numbered, refuses, refuses_writes
from support.store_entries import Child, entry, holds, numbered, opened, rows
from support.store_reads import nearest, reads
from support.threads import at_once

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

FORKING = """
import sys
from multiprocessing import get_context
from support.store_entries import numbered, opened
from support.store_reads import reads

def count(number):
    if number:
        store.put(numbered(number))
    return len(reads(store).documents())

store = opened(sys.argv[1])
store.put(numbered(0))
with get_context("fork").Pool(1) as pool:
    print(count(0), pool.apply_async(count, (0,)).get(60))
    store.close()
    store = opened(sys.argv[1])
    store.put(numbered(1))
    print(pool.apply(count, (0,)), pool.apply(count, (2,)), count(0))
"""

REFUSED = """
import sys
from multiprocessing import get_context
from milepost.errors import StoreError
from support.store_entries import numbered, opened

def use(again):
    try:
        (opened(sys.argv[1]) if again else store).put(numbered(2))
    except StoreError as error:
        return "forked" in str(error)

store = opened(sys.argv[1])
store.put(numbered(0))
with get_context("fork").Pool(1) as pool:
    print(pool.map(use, [False, True]))
"""


def say(process: subprocess.Popen[str], line: str) -> str:
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


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


def test_second_writer(tmp_path: Path, child: Child) -> None:
    store = opened(tmp_path, patience_s=0.2)
    store.put(numbered(0))
    process = child(HOLDING, tmp_path)
    assert process.stdout.readline() == "held\n"
    busy = "another process is writing"
    refuses_writes(store, IndexBusy, busy)
    refuses(IndexBusy, busy, lambda: erase_store(tmp_path, patience_s=0.1))
    holds(store, numbered(0))
    other = opened(tmp_path, read_only=True)
    holds(other, numbered(0))
    other.close()
    assert say(process, "") == "free"
    store.put(numbered(1))
    holds(store, numbered(1))


def test_reader_sees_commits_of_another_process(tmp_path: Path, child: Child) -> None:
    reader = opened(tmp_path)
    read, process = reads(reader), child(PUTTING, tmp_path)
    for number in range(5):
        assert say(process, str(number)) == "done"
        holds(reader, numbered(number))
        live = min(number + 1, 3)
        assert len(read.nearest(rows(1, 0)[0], 10**4)[0]) == 30 * live
        assert len(read.matching(["sentence3"], 99)) == live


def test_reading_keeps_its_locks(tmp_path: Path, child: Child) -> None:
    """A writer that ends beside an open reader leaves SQLite's log: it knows of the reader."""
    reader = opened(tmp_path)
    log = tmp_path / "milepost.sqlite-wal"
    reads(reader).documents()
    process = child(PUTTING + "store.close()", tmp_path)
    process.communicate("0 1 2")
    assert log.stat().st_size > 0
    assert len(reads(reader).documents()) == 3


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_a_forked_process_reads_and_writes_beside_its_parent(
    place: Path | str, child: Child
) -> None:
    """It cannot share the parent's connections, nor their locks."""
    assert child(FORKING, place).communicate(timeout=100)[0] == "1 1\n2 3 3\n"


@pytest.mark.parametrize("place", ["lance"], indirect=True)
def test_a_forked_process_is_refused_where_it_would_crash(place: str, child: Child) -> None:
    """LanceDB 0.40 ends by a signal or hangs in most children that write."""
    assert child(REFUSED, place).communicate(timeout=100)[0] == "[True, True]\n"


def test_threads_share_a_store(place: Path | str) -> None:
    store = opened(place)
    put_numbered(store, range(3))
    done = threading.Event()

    def read() -> None:
        query = rows(1, 3)[0]
        while not done.is_set():
            with store.snapshot() as state:
                infos = state.documents()
                found, _ = nearest(state, query, 10**4)
                texts = state.texts([(info, 0, 12) for info in infos])
                held = state.postings(["sentence1"])["sentence1"][0]
                spans = state.sentences(infos).spans
                vectors = state.vectors(infos)
                statistics = state.statistics()
            want = [row for info in infos for row in range(info.first, info.first + 30)]
            assert sorted(found.tolist()) == want
            assert len(want) == statistics.sentences == len(spans) == 90
            assert held.tolist() == [info.first + 1 for info in infos]
            assert texts == [f"number{info.hash} sentence"[:12] for info in infos]
            due = np.concatenate([rows(30, int(info.hash)) for info in infos])
            assert np.abs(vectors - due).max() <= 1e-6

    def write() -> None:
        try:
            for number in range(3, 15):
                store.put(numbered(number))
                if number % 5 == 0:
                    store.vacuum()
        finally:
            done.set()

    assert at_once(read, read, read, write) == []


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="lists open files by /proc")
def test_an_index_that_is_forgotten_lets_its_folder_go(tmp_path: Path) -> None:
    with milepost.open(tmp_path / "i", model=fake_encoder()):
        pass
    held = []
    for _ in range(2):
        for _ in range(5):
            milepost.open(tmp_path / "i", model=fake_encoder()).documents()
        gc.collect()
        held.append(len(list(Path("/proc/self/fd").iterdir())))
    assert held[0] == held[1]
