"""The store: opening, snapshots, and writes that append."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa

from milepost.errors import StoreError
from milepost.store.base import DocumentInfo, Entry, Snapshot
from milepost.store.check import check_entry
from milepost.store.lance import log, schema, upkeep, write
from milepost.store.lance.address import parse
from milepost.store.lance.faults import translated
from milepost.store.lance.loop import together, wait
from milepost.store.lance.reading import Caches, Reading
from milepost.store.lance.snapshot import LanceSnapshot
from milepost.store.lance.state import GRACE_S, State, newest
from milepost.store.records import prepare, touched
from milepost.store.strings import escape

_ROWS = 1 << 36  # row numbers that one writer has; there is room for 2 ** 27 writers
_IDS = 1 << 32  # ids of documents and events that one writer has

OLD_S = 600.0
"""When tables are opened anew: of those that others have written the history may be gone."""


@dataclass
class Writer:
    """What an open store writes with: all tables by name, and its number, from 0.

    ``rows``, ``ids`` and ``events`` say how many of each were taken.
    """

    tables: dict[str, Any]
    number: int
    rows: int = 0
    ids: int = 0
    events: int = 0
    puts: int = 0
    begun: float = field(default_factory=time.monotonic)

    def reserved(self, sentences: int) -> tuple[int, int]:
        """Id and first row of a document; nobody else gets them."""
        found = self.number * _IDS + self.ids, self.number * _ROWS + self.rows
        self.ids += 1
        self.rows += sentences
        return found

    def noted(self) -> int:
        """Number of an event."""
        self.events += 1
        return self.number * _IDS + self.events


async def begun(database: Any, log: Any, before: Writer | None) -> Writer:
    """Begin to write: take a number, which is that of a commit, or go on with the one had."""
    names = (*schema.HELD, schema.WRITERS)
    opened = await together(*(database.open_table(name) for name in names))
    tables = dict(zip(names, opened, strict=True)) | {schema.LOG: log}
    if before is not None:
        before.tables, before.begun = tables, time.monotonic()
        return before
    row = pa.table({"started": [int(time.time())]}, schema=schema.columns(schema.WRITERS))
    added = await tables[schema.WRITERS].add(row)
    return Writer(tables, added.version - 2)  # making the table was the first commit


T = TypeVar("T")

_PUTS = 200
"""Puts after which files are joined: each makes one in every table, and each is a request."""


class LanceStore:
    """A store in Lance tables, open; safe to use from several threads, processes and machines.

    A snapshot sees the newest committed state and waits for no writer. Writers append and do not
    wait for each other; of two that put the same document at one time, one wins.
    """

    def __init__(
        self,
        address: str,
        fingerprint: str,
        dimensions: int,
        *,
        create: bool = True,
        read_only: bool = False,
        patience_s: float = 5.0,
    ) -> None:
        self._address = parse(address, patience_s)
        self.fingerprint, self.dimensions = model = fingerprint, dimensions
        self._read_only, self._closed = read_only, False
        self._lock = threading.RLock()
        self._caches = Caches()
        self._state: State | None = None
        self._writer: Writer | None = None
        with translated(self._address):
            if create:
                wait(schema.prepare(self._address, model))
            self._database, self._log, found = wait(schema.opened(self._address))
        self._made = schema.check(found, self._address, model)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        if self._closed:
            raise StoreError(f"the index {self._address.label} is closed")
        with translated(self._address):
            self._state = state = wait(self._current())
        reading = Reading(state, self._caches, self.dimensions)
        yield LanceSnapshot(state, reading, self._address, self.dimensions)

    def put(self, entry: Entry) -> None:
        check_entry(entry, self.dimensions)
        prepared = prepare(entry)

        async def put(writer: Writer) -> None:
            started = time.monotonic()
            document, first = writer.reserved(prepared.record["sentences"])
            rows = write.rows(prepared, document)
            await together(
                self._log.checkout_latest(),
                *(writer.tables[name].add(rows[name]) for name in schema.HELD if len(rows[name])),
            )
            if time.monotonic() - started > GRACE_S / 2:  # a vacuum takes it for a killed writer's
                raise StoreError(f"{self._address.label}: the storage is too slow", "a nearer one")
            await self._note(writer, log.PUT, document, first=first, **prepared.record)
            writer.puts += 1
            if writer.puts % _PUTS == 0:
                with suppress(ValueError, RuntimeError):  # the document is stored all the same
                    await upkeep.optimize(writer.tables, 0)

        self._write(put)

    def touch(self, info: DocumentInfo) -> bool:
        # All that a touch may change, so that the last one counts.
        changed = touched(info.signature, info.options, info.properties)
        return self._write(lambda writer: self._note_of(writer, log.TOUCH, info.name, **changed))

    def delete(self, name: str) -> bool:
        return self._write(lambda writer: self._note_of(writer, log.DELETE, name))

    def vacuum(self, *, now: bool = False) -> None:
        """Take out the rows of deleted documents; rows keep their numbers.

        The files of older states stay for an hour, for the snapshots that read them, if not
        ``now``.
        """

        async def vacuum(writer: Writer) -> None:
            await upkeep.vacuum(writer.tables)
            if now:
                state = await self._current()
                await upkeep.rewrite(writer.tables, state.records.statistics.sentences)
            self._state = None

        self._write(vacuum)

    def remains(self, *, now: bool) -> str:
        old = "old versions of its tables, for an hour after removed sentences outnumber the rest"
        return "" if now else old

    def optimize(self) -> None:

        async def optimize(writer: Writer) -> None:
            state = await self._current()
            await upkeep.optimize(writer.tables, state.records.statistics.sentences)
            self._state = None

        self._write(optimize)

    def close(self) -> None:
        self._closed = True
        self._writer = self._state = None

    async def _current(self) -> State:
        return await newest(self._address, self._database, self._log, self._state, self._made)

    def _write(self, work: Callable[[Writer], Coroutine[Any, Any, T]]) -> T:
        """Run what writes, one at a time in this store."""
        if self._closed:
            raise StoreError(f"the index {self._address.label} is closed")
        if self._read_only:
            raise StoreError(f"the index {self._address.label} was opened for reading only")

        async def run() -> T:
            if self._writer is None or time.monotonic() - self._writer.begun > OLD_S:
                self._writer = await begun(self._database, self._log, self._writer)
            return await work(self._writer)

        with self._lock, translated(self._address):
            return wait(run())

    async def _note_of(self, writer: Writer, kind: int, name: str, **more: Any) -> bool:
        """Append a row about the document of a name; False where there is none."""
        info = (await self._current()).records.listing.get(name)
        if info is not None:
            await self._note(writer, kind, info.id, name=escape(name), **more)
        return info is not None

    async def _note(self, writer: Writer, kind: int, document: int, **more: Any) -> None:
        """Append a row to the log; what it says is committed with it."""
        sequence = await self._log.version() + 1
        await self._log.add(write.event(writer.noted(), kind, sequence, document, **more))


def erase_tables(address: str, *, patience_s: float) -> None:
    """Remove the tables of an index, and nothing else."""
    place = parse(address, patience_s)
    with translated(place):
        wait(schema.erase(place))
