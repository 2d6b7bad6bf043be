"""What the tests of several stores check in the same way, beyond the contract."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from milepost.store import Store
from support.postgres import fresh_schema
from support.store_entries import Child, entry, holds, numbered, opened, rows
from support.store_reads import NOBODY, reads

WRITER = """
import sys
from support.store_entries import numbered, opened
store = opened(sys.argv[1])
print("ready", flush=True)
for number in range(1, 10_000):
    store.put(numbered(number))
    print(number, flush=True)
"""
"""A process that writes the same three documents again and again, and says so."""


def put_numbered(store: Store, numbers: Iterable[int]) -> None:
    for number in numbers:
        store.put(numbered(number))


def refuses(error: type[Exception], words: str, *uses: Callable[[], object]) -> None:
    """Each use raises an error whose message matches."""
    for use in uses:
        with pytest.raises(error, match=words):
            use()


def refuses_writes(store: Store, error: type[Exception], words: str) -> None:
    refuses(
        error,
        words,
        lambda: store.put(numbered(1)),
        lambda: store.touch(NOBODY),
        lambda: store.delete("document 0"),
        store.vacuum,
    )


@contextmanager
def placed(kind: str, folder: Path) -> Iterator[Path | str | None]:
    """Where a kind of store makes an index."""
    if kind == "postgres":
        with fresh_schema(partitions=2) as address:
            yield address
    elif kind == "lance":
        pytest.importorskip("lancedb", reason="needs the extra lance")
        yield f"lance://{folder / 'lance'}"
    else:
        yield folder / "index" if kind == "sqlite" else None


@contextmanager
def every_store(folder: Path) -> Iterator[dict[str, Store]]:
    """A store of each kind whose extra is installed, by its name."""
    extras = {"lance": "lancedb", "postgres": "psycopg_pool"}
    kinds = ["memory", "sqlite", *(kind for kind, module in extras.items() if find_spec(module))]
    with ExitStack() as stack:
        places = [stack.enter_context(placed(kind, folder)) for kind in kinds]
        stores = [stack.enter_context(closing(opened(at))) for at in places]
        yield dict(zip(kinds, stores, strict=True))


def filled(*places: str | None, documents: int = 40) -> list[Any]:
    """Stores with the same documents."""
    made = [opened(place) for place in places]
    for number in range(documents):
        words = [f"word{(number * i) % 11} common thing{i} " for i in range(20)]
        for each in made:
            each.put(entry(f"d{number}", words, seed=number))
    return made


def same_answers(plain: Any, other: Any, *, seeds: int) -> None:
    """Nearest and matching rows, and the documents chosen, are the same."""
    for seed in range(seeds):
        query = rows(1, 1000 + seed)[0]
        for names in (None, ["d3", "d7", "d20"]):
            due, scores = reads(plain).nearest(query, 30, names)
            found, theirs = reads(other).nearest(query, 30, names)
            assert np.abs(scores - theirs).max() < 1e-6
            if len(np.unique(np.round(scores, 5))) == len(scores):
                assert found.tolist() == due.tolist()
            terms = [f"word{seed % 11}", "thing3", "absent"]
            due = reads(plain).matching(terms, 30, names)
            assert reads(other).matching(terms, 30, names).tolist() == due.tolist()
        with plain.snapshot() as ours, other.snapshot() as state:
            limits = {"most": 100, "candidates": 10}
            due, _ = ours.select_candidates(query, ["word3"], **limits)
            found, complete = state.select_candidates(query, ["word3"], **limits)
            assert [info.name for info in found] == [info.name for info in due]
            assert not complete
            measured = state.score_inputs(query, ["word3", "absent"], state.documents()[:5])
            expected = ours.score_inputs(query, ["word3", "absent"], ours.documents()[:5])
            assert measured.frequencies == expected.frequencies
            assert state.statistics() == ours.statistics()
            assert measured.counts["word3"].tolist() == expected.counts["word3"].tolist()


def finds_what_the_scan_finds(plain: Any, indexed: Any) -> None:
    """An approximate index misses one in a hundred of the nearest at most."""
    hits = 0
    for seed in range(30):
        query = rows(1, 2000 + seed)[0]
        due, found = reads(plain).nearest(query, 10)[1], reads(indexed).nearest(query, 10)[1]
        hits += int(np.isclose(due, found, atol=1e-6).sum())
    assert hits >= 297  # of 300


def a_killed_writer_leaves_whole_documents(store: Store, address: str, child: Child) -> None:
    """What it said is stored is there; nothing else but the document at hand."""
    process = child(WRITER, address)
    assert process.stdout.readline() == "ready\n"
    said = [int(process.stdout.readline())]  # a loaded machine may take seconds to the first
    time.sleep(0.4)
    process.kill()
    said += [int(line) for line in process.stdout if line.strip().isdigit()]
    process.wait()
    for rest, number in {number % 3: number for number in said}.items():
        info = reads(store).info(f"document {rest}")
        held = int(info.hash)
        assert held in (number, said[-1] + 1)
        holds(store, numbered(held))


def written_by_two(address: str, child: Child, *, theirs: int, ours: Iterable[int]) -> Store:
    """A store in which another process and this one wrote the same documents at once."""
    process = child(WRITER.replace("10_000", str(theirs)), address)
    assert process.stdout.readline() == "ready\n"
    store = opened(address)
    put_numbered(store, ours)
    _, errors = process.communicate(timeout=90)
    assert process.returncode == 0, errors
    return store


def are_the_three_documents(store: Store) -> None:
    """Two writers lost and doubled nothing: each document is one of theirs, whole."""
    infos = reads(store).documents()
    assert sorted(info.name for info in infos) == [f"document {n}" for n in range(3)]
    for info in infos:
        holds(store, numbered(int(info.hash)))
    assert len({info.first for info in infos}) == 3
    store.vacuum()
    assert reads(store).statistics().sentences == 90
