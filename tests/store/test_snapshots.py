"""A snapshot is one state: whatever is written beside it, and however much is asked at once."""

import threading
from pathlib import Path

import pytest

from milepost.errors import StoreError
from milepost.store import Store
from support.store_checks import put_numbered
from support.store_entries import entry, holds, numbered, opened, rows
from support.store_reads import all_of, reads, touch
from support.threads import at_once

QUERY = rows(1, 77)[0]
TERMS = ["sentence1", "number0", "number4", "word2", "nowhere"]

# Each leaves another state than three documents of the series.
DEEDS = {
    "add": "store.put(entry('another', ['number4 word2 ', 'sentence1 '], seed=5))",
    "replace": "store.put(numbered(4))",
    "delete": "store.delete('document 0')",
    "touch": "touch(store, 'document 2', (1, 2))",
    "vacuum": "store.delete('document 1'); store.vacuum()",
    "all": "store.put(numbered(3)); store.put(numbered(4)); store.delete('document 2'); "
    "store.vacuum(); store.put(numbered(5)); touch(store, 'document 0', (3, 4)); store.vacuum()",
}


def three(store: Store) -> None:
    """Put the first three documents of the series, one of which was another before."""
    put_numbered(store, (5, 0, 1, 2))


def state_of(store: Store) -> dict[str, object]:
    with store.snapshot() as state:
        return all_of(state, QUERY, TERMS)


@pytest.mark.parametrize("read_before", [False, True])
@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
def test_a_snapshot_keeps_its_state_beside_a_thread(
    store: Store, deed: str, read_before: bool
) -> None:
    three(store)
    before = state_of(store)
    with store.snapshot() as held:
        if read_before:
            assert all_of(held, QUERY, TERMS) == before
        else:
            held.info("document 0")
        names = {"store": store, "entry": entry, "numbered": numbered, "touch": touch}
        assert at_once(lambda: exec(deed, names)) == []
        assert all_of(held, QUERY, TERMS) == before
        after = state_of(store)  # a second one, beside the first
        assert after != before
        assert all_of(held, QUERY, TERMS) == before
    assert state_of(store) == after
    if deed == DEEDS["all"]:
        assert [info.name for info in after["documents"]] == [f"document {n}" for n in range(3)]
        holds(store, numbered(4))
        holds(store, numbered(5))


def test_snapshots_do_not_wait_for_each_other(store: Store) -> None:
    three(store)
    both, written = threading.Barrier(3, timeout=30), threading.Barrier(3, timeout=30)
    seen: list[dict[str, object]] = []
    before = state_of(store)

    def hold() -> None:
        with store.snapshot() as state:
            state.documents()
            both.wait()  # broken where one waits for the other's end
            written.wait()
            seen.append(all_of(state, QUERY, TERMS))

    def write() -> None:  # it does not wait, either
        both.wait()
        store.put(numbered(3))
        written.wait()

    assert at_once(hold, hold, write) == []
    assert seen == [before, before]
    assert state_of(store) != before


def test_an_error_inside_a_snapshot_ends_it(store: Store) -> None:
    three(store)

    def fails() -> None:
        with store.snapshot() as state:
            assert state.documents()
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fails()
    store.put(numbered(3))
    holds(store, numbered(3))


def test_closing_lets_a_snapshot_finish(tmp_path: Path) -> None:
    store = opened(tmp_path)
    three(store)
    before = state_of(store)
    with store.snapshot() as held:
        held.documents()
        store.close()
        assert all_of(held, QUERY, TERMS) == before
        with pytest.raises(StoreError, match="closed"), store.snapshot():
            pass
    store = opened(tmp_path, create=False)
    assert state_of(store) == before


def test_touch_changes_the_signature_alone(store: Store) -> None:
    three(store)
    before = state_of(store)
    assert touch(store, "document 1", (99, 10**18))
    after = state_of(store)
    changed = [
        (old.name, new.signature)
        for old, new in zip(before["documents"], after["documents"], strict=True)
        if old != new
    ]
    assert changed == [("document 1", (99, 10**18))]
    same = before.keys() - {"documents", "records"}
    assert {key: after[key] for key in same} == {key: before[key] for key in same}
    old, new = (reads_of["documents"] for reads_of in (before, after))
    assert [(each.id, each.first) for each in new] == [(each.id, each.first) for each in old]
    assert touch(store, "document 1", None, options="hidden=keep")
    info = reads(store).info("document 1")
    assert (info.signature, info.options) == (None, "hidden=keep")
    assert not touch(store, "nobody", (1, 2))
    assert reads(store).statistics() == before["statistics"]


def test_touch_takes_new_properties(store: Store) -> None:
    store.put(numbered(1))
    before = reads(store).document("document 1")
    assert touch(store, "document 1", (1, 2), properties={"title": "New", "tags": ("x",)})
    assert reads(store).info("document 1").properties == {"title": "New", "tags": ("x",)}
    assert touch(store, "document 1", (3, 4), properties={})
    after = reads(store).document("document 1")
    assert after.properties == {}
    assert (after.text, after.marks, after.hash) == (before.text, before.marks, before.hash)
    assert reads(store).statistics().dead == 0
