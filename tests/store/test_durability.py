"""What is left after a kill at any point, a full disk, and damage: all of a document or none."""

import random
import signal
import sqlite3
import sys
import time
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from milepost.errors import IndexDamaged, StorageFull
from milepost.store import Store, erase_store, open_store
from milepost.store.sqlite import schema, segment
from milepost.store.sqlite.faults import translated
from support.store_entries import Child, entry, holds, numbered, opened, rows
from support.store_reads import reads

PUTTING = """
import sys
from pathlib import Path
from support.store_entries import Child, numbered, opened
store = opened(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), 10**6):
    print(number, flush=True)  # "about to put": the line before it was put whole
    store.put(numbered(number))
"""

# Kills itself just before the n-th statement that SQLite is given, counted over all connections.
DYING = """
import os, signal, sys
from pathlib import Path
from milepost.store.sqlite import connection, folder
from support.store_entries import Child, numbered, opened
left = int(sys.argv[2])
def count(statement):
    global left
    left -= 1
    if left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
plain = folder.connect
def watched(*arguments):
    made = plain(*arguments)
    made.set_trace_callback(count)
    return made
connection.connect = folder.connect = watched
store = opened(Path(sys.argv[1]))
exec(sys.argv[3])
print("alive")
"""

FILLING = """
import resource, sys
from pathlib import Path
from milepost.errors import StorageFull
from support.store_entries import Child, numbered, opened
store = opened(Path(sys.argv[1]))
store.put(numbered(0))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
number = 0
try:
    while True:
        number += 1
        store.put(numbered(number))
except StorageFull as error:
    print(number, error)
"""


def whole(store: Store, last: int) -> int:
    """Assert that the series is held whole up to ``last`` or the one after; say which."""
    read = reads(store)
    held = {int(info.hash) for info in read.documents()}
    assert held in ({*range(max(0, last - 2), last + 1)}, {*range(max(0, last - 1), last + 2)})
    for number in held:
        holds(store, numbered(number))
    assert read.statistics().sentences == 30 * len(held)
    assert len(read.nearest(rows(1, 1)[0], 1000)[0]) == 30 * len(held)
    assert len(read.matching(["sentence0"], 1000)) == len(held)
    return max(held)


def stored(folder: Path, count: int = 3) -> None:
    """Put the first documents of the series, and close."""
    with closing(opened(folder)) as store:
        for number in range(count):
            store.put(numbered(number))


def test_kills_at_random_moments(tmp_path: Path, child: Child) -> None:
    moments = random.Random(7)
    last = -1
    for _ in range(3):
        process = child(PUTTING, tmp_path, last + 1)
        for _ in range(moments.randint(1, 8)):
            line = process.stdout.readline()
        time.sleep(moments.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        rest, complaint = process.communicate()
        assert process.returncode == -signal.SIGKILL, complaint
        begun = int([line, *rest.splitlines()][-1])
        store = opened(tmp_path, read_only=True)
        last = whole(store, begun - 1)
        store.close()
    store = opened(tmp_path)
    store.put(numbered(last + 1))
    assert whole(store, last) == last + 1


@pytest.mark.parametrize(
    ("deed", "first", "step"),
    [("store.put(numbered(3))", 12, 45), ("store.delete('document 0')", 12, 30)],
)
def test_kills_at_each_stage(
    tmp_path: Path, child: Child, deed: str, first: int, step: int
) -> None:
    stored(tmp_path)
    died = 0
    for left in range(first, 10**6, step):
        process = child(DYING, tmp_path, left, deed)
        out, complaint = process.communicate()
        store = opened(tmp_path)
        names = {info.name: int(info.hash) for info in reads(store).documents()}
        for number in names.values():
            holds(store, numbered(number))
        if process.returncode == 0:
            assert out == "alive\n"
            assert names.get("document 0") == (3 if "put" in deed else None)
            break
        assert process.returncode == -signal.SIGKILL, complaint
        assert names == {"document 0": 0, "document 1": 1, "document 2": 2}
        died += 1
        store.close()
    assert died >= 2


def test_kills_while_vacuuming(tmp_path: Path, child: Child) -> None:
    stored(tmp_path, 6)
    for left in range(8, 10**6, 40):
        process = child(DYING, tmp_path, left, "store.vacuum()")
        process.communicate()
        store = opened(tmp_path)
        assert whole(store, 5) == 5
        store.close()
        if process.returncode == 0:
            break
    store = opened(tmp_path)
    assert reads(store).statistics().dead == 0
    assert len(segment.files(tmp_path)) == 1


def test_killed_while_made(tmp_path: Path, child: Child) -> None:
    for left in (1, 17):
        folder = tmp_path / str(left)
        child(DYING, folder, left, "").communicate()
        store = opened(folder)
        store.put(numbered(0))
        whole(store, 0)
        store.close()


def test_full_disk(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(300_000))
    folder = small_disk / "index"
    store = opened(folder)
    last = -1
    with pytest.raises(StorageFull, match="its contents are intact"):  # noqa: PT012
        while True:
            store.put(numbered(last + 1, 30))
            last += 1
    assert last > 2
    assert whole(store, last) == last
    other = opened(folder, read_only=True)
    assert whole(other, last) == last
    other.close()
    ballast.unlink()
    store.put(numbered(last + 1))
    assert whole(store, last) == last + 1


def test_a_database_that_must_not_be_written(tmp_path: Path) -> None:
    opened(tmp_path).close()
    place = f"{(tmp_path / schema.FILE).as_uri()}?mode=ro"
    database = sqlite3.connect(place, uri=True)
    with closing(database), pytest.raises(StorageFull), translated(tmp_path):
        database.execute("CREATE TABLE more (x)")


def test_disk_full_under_the_vectors(small_disk: Path) -> None:
    wide = 80_000
    store = open_store(small_disk / "index", fingerprint="f", dimensions=wide)
    given = [entry(str(i), ["a ", "b "] * 4, vectors=rows(8, i, wide)) for i in range(4)]
    store.put(given[0])
    store.put(given[1])
    with pytest.raises(StorageFull):
        store.put(given[2])
    assert [info.name for info in reads(store).documents()] == ["0", "1"]
    holds(store, given[0])
    holds(store, given[1])
    store.delete("0")
    with pytest.raises(StorageFull):
        store.vacuum()
    holds(store, given[1])


def test_limit_on_file_size(tmp_path: Path, child: Child) -> None:
    if sys.platform == "win32":
        pytest.skip("Windows has no limit on file size")
    for limit in (300_000, 8_000):
        folder = tmp_path / str(limit)
        process = child(FILLING, folder, limit)
        out, complaint = process.communicate()
        assert process.returncode == 0, complaint
        number, problem = out.split(" ", 1)
        assert "no space left" in problem
        store = opened(folder)
        assert whole(store, int(number) - 1) == int(number) - 1
        store.put(numbered(int(number)))
        store.close()


def test_flipped_byte_in_the_vectors(tmp_path: Path) -> None:
    stored(tmp_path)
    path = tmp_path / segment.file_name(0)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4  # in the second of three documents
    path.write_bytes(data)
    store = opened(tmp_path)
    query = rows(1, 0)[0]
    read = reads(store)
    holds(store, numbered(0))
    assert len(read.similarity(query, "document 2")) == 30
    for use in (
        lambda: read.vectors("document 1"),
        lambda: read.similarity(query, "document 1"),
        lambda: read.similarity(query, "document 0", "document 1", "document 2"),
        lambda: read.nearest(query, 3),
        store.vacuum,
    ):
        with pytest.raises(IndexDamaged, match=r"rows 30–59 .*checksum.*--rebuild"):
            use()
    assert len(read.nearest(query, 99, ["document 0", "document 2"])[0]) == 60
    store.put(numbered(4))
    assert len(read.nearest(query, 99)[0]) == 90


@pytest.mark.parametrize("left", [0, 100, None])
def test_truncated_segment(tmp_path: Path, left: int | None) -> None:
    stored(tmp_path, 1)
    path = tmp_path / segment.file_name(0)
    if left is None:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(IndexDamaged, match=r"vectors.seg .*--rebuild"):
        opened(tmp_path)


def test_garbage_beyond_the_end_is_harmless(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.put(numbered(0))
    with (tmp_path / segment.file_name(0)).open("ab") as file:
        file.write(b"\xff" * 1001)
    store.put(numbered(1))
    assert whole(store, 1) == 1


def test_flipped_byte_in_a_text(tmp_path: Path) -> None:
    words = " ".join(str(number * 7919) for number in range(3000))
    store = opened(tmp_path)
    store.put(entry("d", [words], terms=[["x"]]))
    store.close()
    path = tmp_path / "milepost.sqlite"
    data = bytearray(path.read_bytes())
    at = data.index(zlib.compress(words[:16_384].encode())[2:40])
    data[at + 20] ^= 1
    path.write_bytes(data)
    store = opened(tmp_path)
    with pytest.raises(IndexDamaged, match=r"milepost\.sqlite"):
        reads(store).text("d", 0, 10)


def test_garbage_pages(tmp_path: Path) -> None:
    stored(tmp_path)
    path = tmp_path / "milepost.sqlite"
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(IndexDamaged, match="--rebuild"):
        opened(tmp_path)
    erase_store(tmp_path)
    opened(tmp_path).close()


def test_replaced_rows_are_given_back(tmp_path: Path) -> None:
    store, reader = opened(tmp_path), opened(tmp_path, read_only=True)
    for number in range(30):
        store.put(numbered(number, 200))
    read = reads(reader)
    before = read.vectors("document 2")
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    store.vacuum()
    assert [path.name for path in segment.files(tmp_path)] == ["vectors-1.seg"]
    assert (tmp_path / "vectors-1.seg").stat().st_size == 600 * (4 + 8)
    assert (read.vectors("document 2") == before).all()
    assert len(read.nearest(rows(1, 1)[0], 10**6)[0]) == 600
    store.put(numbered(30, 200))
    assert {info.name: info.first // 200 for info in read.documents()} == {
        "document 0": 30,
        "document 1": 28,
        "document 2": 29,
    }
    holds(reader, numbered(30, 200))
    reader.close()
    store.close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < size / 2
    with sqlite3.connect(tmp_path / "milepost.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO lexicon (lexicon) VALUES ('integrity-check')")
    connection.close()
