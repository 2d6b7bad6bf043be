"""What ``vacuum(now=True)`` leaves of a deleted document in the files of a store: no byte."""

import random
import string
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from milepost.errors import IndexBusy
from milepost.store import Entry, Store, packing
from support.postgres import server
from support.store_entries import Child, entry, holds, numbered, opened, rows

Files = Callable[[], list[Path]]
SECRET = "quokkaplover"


@pytest.fixture
def kept(place: Path | str, tmp_path: Path) -> tuple[Store, Files]:
    files: Files = partial(files_below, tmp_path)
    if str(place).startswith("postgres"):
        from milepost.store.postgres.address import parse

        files = partial(table_files, parse(str(place)).schema)
        # Other tests read in the same database: a vacuum waits for their transactions.
        return opened(place, patience_s=60.0), files
    return opened(place), files


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def table_files(schema: str) -> list[Path]:
    """The files of tables, indexes and long values of a schema, after all is written to them."""
    import psycopg

    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        found = connection.execute(
            "SELECT current_setting('data_directory'), pg_relation_filepath(oid) FROM pg_class "
            "WHERE relnamespace = to_regnamespace(%s) AND relfilenode > 0 OR oid IN (SELECT "
            "unnest(ARRAY[reltoastrelid, (SELECT indexrelid FROM pg_index WHERE indrelid = "
            "c.reltoastrelid)]) FROM pg_class c WHERE relnamespace = to_regnamespace(%s) "
            "AND reltoastrelid > 0)",
            (schema, schema),
        ).fetchall()
    paths = [Path(folder) / name for folder, name in found]
    if not any(path.exists() for path in paths):
        pytest.skip("needs a server of this machine")
    return [path for path in paths if path.exists()]


def secret() -> tuple[Entry, list[bytes]]:
    draw = random.Random(7)
    words = [
        " ".join("".join(draw.choices(string.ascii_lowercase, k=9)) for _ in range(12)) + f" {n} "
        for n in range(60)
    ]
    words[30] += f"{SECRET} "
    vectors = rows(60, 99)
    made = entry(
        f"/files/{SECRET}-name.txt",
        words,
        vectors=vectors,
        source=f"/files/{SECRET}-name.txt",
        properties={"title": f"{SECRET} title"},
    )
    values = packing.rounded(vectors)[1]
    return made, [
        SECRET.encode(),
        packing.pieces(made.document.text)[0][:40],
        values.tobytes()[:64],
        values.astype(np.float16).tobytes()[:64],
    ]


def found(files: list[Path], marks: list[bytes]) -> set[int]:
    """Numbers of the marks that any of the files holds."""
    held = [path.read_bytes() for path in files]
    return {n for n, mark in enumerate(marks) if any(mark in each for each in held)}


def test_no_byte_is_left(kept: tuple[Store, Files]) -> None:
    store, files = kept
    made, marks = secret()
    others = [numbered(number) for number in range(3)]
    store.put(others[0])
    store.put(made)
    for each in others[1:]:
        store.put(each)
    assert found(files(), marks) >= {0, 1}
    assert store.delete(made.document.name)
    assert store.remains(now=False)
    store.vacuum(now=True)
    assert found(files(), marks) == set()
    for each in others:
        holds(store, each)
    store.put(made)  # and the store goes on
    holds(store, made)


def test_indexes_of_vectors_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lance keeps vectors and words in the files of its indexes, too."""
    pytest.importorskip("lancedb", reason="needs the extra lance")
    from milepost.store.lance import schema

    monkeypatch.setattr(schema, "INDEX_FROM", 20)
    made, marks = secret()
    store = opened(f"lance://{tmp_path / 'index'}")
    for each in (numbered(0), made, numbered(1)):
        store.put(each)
    store.optimize()
    names = {path.name for path in tmp_path.rglob("_indices/*")}
    assert names
    store.delete(made.document.name)
    store.vacuum(now=True)
    assert found(files_below(tmp_path), marks) == set()
    again = {path.name for path in tmp_path.rglob("_indices/*") if any(path.iterdir())}
    assert again
    assert not again & names
    holds(store, numbered(1))


def test_what_was_replaced_goes_too(kept: tuple[Store, Files]) -> None:
    """The text before a change is no document's any more."""
    store, files = kept
    made, marks = secret()
    store.put(made)
    store.put(entry(made.document.name, ["Something else. "]))
    store.vacuum(now=True)
    assert found(files(), marks[1:]) == set()


def test_a_reader_of_another_process_is_named(tmp_path: Path, child: Child) -> None:
    """SQLite keeps its log while somebody reads; the documents are removed all the same."""
    store = opened(tmp_path, patience_s=0.2)
    made, marks = secret()
    store.put(made)
    store.put(numbered(1))
    reader = child(
        "import sys\n"
        "from support.store_entries import opened\n"
        "with opened(sys.argv[1]).snapshot() as state:\n"
        "    state.documents()\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.readline()\n",
        tmp_path,
    )
    assert reader.stdout.readline() == "ready\n"
    store.delete(made.document.name)
    with pytest.raises(IndexBusy, match="is being read"):
        store.vacuum(now=True)
    assert store.remains(now=True)
    reader.communicate("\n")
    store.vacuum(now=True)
    assert store.remains(now=True) == ""
    assert found(files_below(tmp_path), marks) == set()
