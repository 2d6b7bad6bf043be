"""What Lance tables add to the contract: parts without their last row, writers, other folders."""

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lancedb", reason="needs the extra lance")

import pyarrow as pa

from milepost.errors import (
    IndexDamaged,
    NewerSchema,
    NotAnIndex,
    OldSchema,
    StorageFull,
    StoreError,
)
from milepost.filters import parse as parse_filter
from milepost.store import DocumentSelection, erase_store
from milepost.store.lance import LanceStore, log, reading, schema, upkeep, write
from milepost.store.lance.address import parse
from milepost.store.lance.loop import wait
from milepost.store.records import prepare
from support.store_checks import (
    a_killed_writer_leaves_whole_documents,
    are_the_three_documents,
    filled,
    finds_what_the_scan_finds,
    put_numbered,
    same_answers,
    written_by_two,
)
from support.store_entries import FINGERPRINT, WIDTH, Child, entry, holds, numbered, opened, rows
from support.store_reads import nearest, reads, touch


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"lance://{tmp_path / 'index'}"


@pytest.fixture
def store(address: str) -> LanceStore:
    return opened(address)


def count(address: str, table: str) -> int:
    async def counted() -> int:
        database = await schema.connect(parse(address))
        return int(await (await database.open_table(table)).count_rows())

    return wait(counted())


def test_an_index_finds_what_the_scan_finds(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, lance = filled(None, address)
    monkeypatch.setattr(schema, "INDEX_FROM", 100)
    same_answers(plain, lance, seeds=3)  # no index yet: LanceDB's own scan
    lance.optimize()

    async def indexed() -> set[tuple[str, str]]:
        database = await schema.connect(parse(address))
        tables = [(name, await database.open_table(name)) for name in schema.HELD]
        return {
            (name, each.columns[0]) for name, table in tables for each in await table.list_indices()
        }

    assert {("vectors", "vector"), ("postings", "token")} <= wait(indexed())
    finds_what_the_scan_finds(plain, lance)
    for each in (plain, lance):
        each.delete("d5")
        each.put(entry("d6", ["word1 new "] * 20, seed=99))
    same_answers(plain, lance, seeds=3)
    lance.vacuum()
    lance.optimize()
    plain.vacuum()
    same_answers(plain, lance, seeds=3)


def test_parts_without_their_row_of_the_log_are_nothing(
    store: LanceStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that was killed before the last row leaves what a vacuum removes an hour later."""
    store.put(numbered(0))
    whole = {name: count(address, name) for name in schema.HELD}

    async def killed(*_: object, **__: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(store, "_note", killed)
        with pytest.raises(StoreError):
            store.put(numbered(3))
    assert count(address, "vectors") == 2 * whole["vectors"]
    holds(store, numbered(0))
    assert reads(store).nearest(rows(1, 1)[0], 99)[0].shape == (30,)
    store.vacuum()
    assert count(address, "vectors") == 2 * whole["vectors"]  # another writer may be about it
    monkeypatch.setattr(upkeep, "GRACE_S", -5)
    store.vacuum()
    assert {name: count(address, name) for name in schema.HELD} == whole
    holds(store, numbered(0))


def test_a_vacuum_takes_rows_out_and_keeps_the_log_short(store: LanceStore, address: str) -> None:
    put_numbered(store, range(6))
    touch(store, "document 0", (1, 2), options="hidden=keep")
    touch(store, "document 0", (3, 4), options="hidden=keep")
    store.delete("document 1")
    assert reads(store).statistics().dead == 4 * 30
    store.vacuum()
    assert reads(store).statistics().dead == 0
    assert count(address, "vectors") == 60
    assert count(address, "documents") == 3  # two documents, one of them touched
    info = reads(store).info("document 0")
    assert (info.signature, info.options) == ((3, 4), "hidden=keep")
    holds(store, numbered(5))


def test_old_files_go_after_their_time(
    store: LanceStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(0, 30, 3):
        store.put(numbered(number, sentences=200))
    folder = Path(address.removeprefix("lance://"))

    def size() -> int:
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

    before = size()
    store.vacuum()
    monkeypatch.setattr(upkeep, "_KEPT", timedelta(milliseconds=1))
    store.put(numbered(30, sentences=200))
    store.vacuum()
    assert size() < before / 3
    holds(store, numbered(30, sentences=200))


def test_the_last_deed_counts() -> None:
    """A touch of a document that was replaced at the same time does not bring it back."""

    def put(event: int, sequence: int, name: str = "a") -> pa.Table:
        record = prepare(entry(name, ["x "], hash=str(event))).record
        return write.event(event, log.PUT, sequence, event, first=event, **record)

    deeds = [
        put(1, 1),
        put(2, 2),
        write.event(3, log.TOUCH, 2, 1, name="a", size=7, mtime_ns=7, options="", properties="{}"),
        put(4, 1, "b"),
        write.event(5, log.DELETE, 3, 4, name="b"),
        put(7, 4, "c"),
        put(6, 4, "c"),
    ]
    for order in (deeds, deeds[::-1]):
        table = pa.concat_tables(order)
        records = log.folded(table)
        held = records.listing.documents
        assert [(info.name, info.hash) for info in held] == [("a", "2"), ("c", "7")]
        assert held[0].signature == (0, 10**18)
        assert sorted(records.gone) == [1, 4, 6]
        assert sorted(records.idle) == [1, 3, 4, 5, 6]
        left = [event not in records.idle for event in table["event"].to_pylist()]
        assert log.folded(table.filter(pa.array(left))).listing.documents == held


def test_a_killed_writer_leaves_whole_documents(
    store: LanceStore, address: str, child: Child
) -> None:
    a_killed_writer_leaves_whole_documents(store, address, child)


def test_two_writers_lose_and_double_nothing(address: str, child: Child) -> None:
    store = written_by_two(address, child, theirs=6, ours=range(12, 15))
    are_the_three_documents(store)
    assert count(address, "vectors") == 90


def test_a_reader_follows_another_opening(store: LanceStore, address: str) -> None:
    other = opened(address)
    store.put(numbered(0))
    holds(other, numbered(0))
    with other.snapshot() as held:
        before = held.documents()
        store.put(numbered(3))
        store.vacuum()
        store.optimize()
        assert held.texts([(before[0], 0, 7)]) == ["number0"]
        assert len(held.vectors(before)) == 30
    holds(other, numbered(3))
    other.put(numbered(1))
    holds(store, numbered(1))
    assert {info.first for info in reads(store).documents()} == {30, 1 << 36}


def test_many_puts_join_their_files(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    from milepost.store.lance import store as module

    monkeypatch.setattr(module, "_PUTS", 40)
    for number in range(80):
        store.put(entry(f"d{number}", ["one two "], seed=number))

    async def files() -> int:
        table = await store._database.open_table(schema.VECTORS)
        return int((await table.stats())["fragment_stats"]["num_fragments"])

    assert wait(files()) < 40
    assert len(reads(store).documents()) == 80
    assert len(reads(store).nearest(rows(1, 1)[0], 99)[0]) == 80


@pytest.mark.parametrize(
    ("version", "error", "words"),
    [
        ("999", NewerSchema, "schema 999, this one reads"),
        ("1", OldSchema, "schema 1, this one reads .*--rebuild"),
        ("", NotAnIndex, "holds other tables"),
    ],
)
def test_another_schema_is_refused(
    address: str, version: str, error: type[StoreError], words: str
) -> None:
    about = {"milepost": version, "fingerprint": FINGERPRINT, "dimensions": str(WIDTH), "made": ""}

    async def made() -> None:
        database = await schema.connect(parse(address))
        await database.create_table(
            schema.LOG, schema=schema.columns(schema.LOG).with_metadata(about)
        )

    wait(made())
    with pytest.raises(error, match=words):
        opened(address)
    assert count(address, schema.LOG) == 0


def test_what_is_no_index_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(NotAnIndex, match="holds other files"):
        opened(f"lance://{tmp_path}")
    with pytest.raises(NotAnIndex, match="is a file"):
        opened(f"lance://{tmp_path / 'letter.txt'}")
    with pytest.raises(NotAnIndex):
        erase_store(f"lance://{tmp_path}")
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]

    async def foreign() -> None:
        database = await schema.connect(parse(f"lance://{tmp_path / 'theirs'}"))
        await database.create_table("mine", schema=pa.schema([("n", pa.int64())]))

    wait(foreign())
    with pytest.raises(NotAnIndex, match="holds other tables"):
        opened(f"lance://{tmp_path / 'theirs'}")


def test_an_opening_that_was_killed_is_finished(address: str) -> None:
    async def half() -> None:
        database = await schema.connect(parse(address))
        await database.create_table(schema.PARTS, schema=schema.columns(schema.PARTS))

    wait(half())
    store = opened(address)
    store.put(numbered(0))
    holds(store, numbered(0))


def test_erasing_removes_the_tables_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "folder with % and ?"
    opened(f"lance://{folder}").close()
    (folder / "mine.txt").write_text("dear", encoding="utf-8")
    erase_store(f"lance://{folder}")
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    (folder / "mine.txt").unlink()
    opened(f"lance://{folder}").close()
    erase_store(f"lance://{folder}")
    assert not folder.exists()


def test_an_index_made_anew_is_not_taken_for_the_old_one(store: LanceStore, address: str) -> None:
    store.put(numbered(0))
    holds(store, numbered(0))
    erase_store(address)
    new = opened(address)
    new.put(numbered(3))
    new.put(numbered(6))
    with pytest.raises(StoreError):
        reads(store).documents()


@pytest.mark.parametrize("table", ["documents", "vectors", "parts", "postings"])
@pytest.mark.parametrize("harm", ["cut", "garbage", "gone", "manifest"])
def test_damage_is_one_clear_line(store: LanceStore, address: str, table: str, harm: str) -> None:
    store.put(numbered(0))
    store.close()
    folder = Path(address.removeprefix("lance://"))
    part = "_versions" if harm == "manifest" else "data"
    for path in (folder / f"{table}.lance" / part).iterdir():
        if harm == "gone":
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[:60] if harm != "garbage" else b"x" * 5_000)
    with pytest.raises(IndexDamaged, match="missing or damaged") as error:
        holds(opened(address), numbered(0))
    assert "\n" not in str(error.value)
    assert error.value.hint.endswith("--rebuild")
    if (table, harm) == ("documents", "manifest"):  # it may be a table of another program
        with pytest.raises(IndexDamaged, match="delete its folder"):
            erase_store(address)
    else:
        erase_store(address)
        opened(address).put(numbered(0))


def test_a_full_disk_keeps_what_was_there(small_disk: Path) -> None:
    store = opened(f"lance://{small_disk / 'index'}")
    store.put(numbered(0))
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (1 << 20))
    random = np.random.default_rng(0)
    text = "".join(map(chr, random.integers(0x4E00, 0x9000, 600_000).tolist()))
    with pytest.raises(StorageFull, match="no space is left"):
        store.put(entry("large", [text]))
    holds(store, numbered(0))
    assert [info.name for info in reads(store).documents()] == ["document 0"]
    filler.unlink()
    store.put(numbered(3))
    holds(store, numbered(3))


@pytest.mark.parametrize("where", ["part < 9", "not part = 3", "part in (1, 2)"])
def test_many_documents_are_not_named_in_a_query(
    address: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter may leave more of them: rows of the index are read until enough."""
    monkeypatch.setattr(schema, "INDEX_FROM", 20)
    monkeypatch.setattr(reading, "_MANY", 3)
    plain, tables = opened(None), opened(address)
    for each in (plain, tables):
        for number in range(20):
            properties = {"part": number % 5}
            each.put(entry(f"d{number}", ["w common "] * 5, seed=number, properties=properties))
        each.delete("d7")
    among = DocumentSelection(None, parse_filter(where))
    with plain.snapshot() as theirs, tables.snapshot() as ours:
        left, found = theirs.select(among) or [], ours.select(among) or []
        assert [info.name for info in found] == [info.name for info in left]
        for seed in range(3):
            query = rows(1, 100 + seed)[0]
            due, scores = nearest(theirs, query, 8, left)
            near, ours_scores = nearest(ours, query, 8, found)
            assert len(near) == len(due)
            assert abs(ours_scores - scores).max(initial=0) < 1e-6
