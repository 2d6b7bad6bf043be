"""Doors: what opens, and what is refused and how."""

import os
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from milepost.errors import NewerSchema, NotAnIndex, OldSchema, StoreError, WrongModel
from milepost.store import erase_store, open_store
from milepost.store.sqlite.schema import VERSION
from support.small_index import write_schema
from support.store_entries import FINGERPRINT, WIDTH, holds, numbered, opened, rows
from support.store_reads import reads


def test_opens_again(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder with % and ?"
    store = opened(folder)
    store.put(numbered(0))
    store.close()
    assert sorted(path.name for path in folder.iterdir()) == ["milepost.sqlite", "vectors.seg"]
    store = opened(folder, create=False)
    assert (store.fingerprint, store.dimensions) == (FINGERPRINT, WIDTH)
    holds(store, numbered(0))
    store.close()


def test_closed_is_closed(place: Path | str) -> None:
    store = opened(place)
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
    with pytest.raises(NotAnIndex, match=r"milepost index PATH… --db"):
        opened(tmp_path / "missing", **options)
    assert not (tmp_path / "missing").exists()


def test_foreign_folder(tmp_path: Path) -> None:
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
def test_wrong_model(place: Path | str, model: tuple[str, int]) -> None:
    opened(place).close()
    with pytest.raises(WrongModel, match="made by another model"):
        open_store(place, fingerprint=model[0], dimensions=model[1])


@pytest.mark.parametrize("schema", [1, 2])
@pytest.mark.parametrize("options", [{}, {"create": False}, {"read_only": True}])
def test_older_schema(tmp_path: Path, schema: int, options: dict[str, bool]) -> None:
    store = opened(tmp_path)
    store.put(numbered(0))
    store.close()
    write_schema(tmp_path, schema)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = re.escape(f"milepost index PATH… --db {tmp_path} --rebuild")
    with pytest.raises(OldSchema, match=rf"schema {schema}.*{again}"):
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
    opened(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "milepost.sqlite")
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(NewerSchema, match=rf"schema {VERSION + 1}.*pip install . in a clone"):
        opened(tmp_path)
    erase_store(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_erased_and_made_anew(tmp_path: Path) -> None:
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


def test_read_only_store_refuses_to_write(place: Path | str) -> None:
    opened(place).close()
    store = opened(place, read_only=True)
    for write in (
        lambda: store.put(numbered(0)),
        lambda: store.touch("x", None),
        lambda: store.delete("x"),
        store.vacuum,
    ):
        with pytest.raises(StoreError, match="reading only"):
            write()
    store.close()


def test_read_only_medium(small_disk: Path) -> None:
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
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("root may write anywhere; the read-only medium stands for it")
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(StoreError, match="permission"):
            opened(tmp_path / "new")
    finally:
        tmp_path.chmod(0o755)
