"""Read, encode and store what has changed of some sources; remove what is gone from folders."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from milepost.documents import recognition
from milepost.documents.prefixes import read_object
from milepost.encoder import Encoder
from milepost.errors import IndexBusy, StorageFull
from milepost.index import intake
from milepost.index.intake import Step, Steps, Tally
from milepost.index.naming import Name
from milepost.index.places import File, source_place
from milepost.index.reading_ahead import ReadingAhead, Signature
from milepost.index.removing import reclaim
from milepost.objects import Downloads, ObjectFile
from milepost.store import DocumentInfo, Store
from milepost.types import READ_DEFAULTS, Document, Hidden, IndexReport, Ocr, ReadOptions


def add_sources(
    store: Store,
    model: Callable[[], Encoder],
    sources: Sequence[Name | Document],
    *,
    prune: bool,
    progress: Callable[[Step], None] | None,
    hidden: Hidden | None,
    ocr: Ocr | None,
    reader: Callable[[Path, ReadOptions], Document] | None,
    known: intake.Known | None,
) -> IndexReport:
    """See ``Index.add``; ``model`` is called only if there is something to encode."""
    begun = time.monotonic()
    # Refuse unknown options and missing extras before anything is read.
    if READ_DEFAULTS.changed(hidden=hidden, ocr=ocr).ocr != "never":
        recognition.check_installed()
    tally = Tally()
    work: list[File | Document] = [source for source in sources if isinstance(source, Document)]
    places = [source_place(source) for source in sources if not isinstance(source, Document)]
    stored = {info.name: info for info in _documents(store)}
    pictures = intake.wanted_pictures(stored, ocr)
    inside, readable = intake.find_places(places, tally.failed, pictures, stored)
    work.extend(inside)
    present = set(map(intake.name_of, work))
    done: set[str] = set()
    elsewhere = partial(known.find, store) if known else lambda path, options: None
    options = partial(intake.read_options, hidden=hidden, ocr=ocr)
    with (
        Downloads(intake.to_download(work, stored, options)) as downloads,
        ReadingAhead(intake.to_read(work, stored, options, elsewhere)) as ahead,
    ):

        def read(file: File, chosen: ReadOptions, signature: Signature, steps: Steps) -> Document:
            if isinstance(file, ObjectFile):
                return read_object(file, *downloads.read(file), chosen, steps.page)
            if reader is not None:
                return reader(file, chosen)
            return ahead.read((steps.number, file, chosen, signature), steps.page)

        for number, item in enumerate(work, 1):
            name = intake.name_of(item)
            steps = Steps(progress, name, number, len(work))
            if name in done:  # a duplicate source: compare it with what was just stored
                stored = {info.name: info for info in _documents(store)}
            done.add(name)
            intake.add_one(
                item,
                stored.get(name),
                tally,
                steps,
                store=store,
                model=model,
                options=options,
                read=read,
                known=known,
            )
    gone = intake.vanished(_documents(store), readable, present, tally.failed) if prune else []
    return finish(store, tally, gone, begun)


def finish(store: Store, tally: Tally, gone: Sequence[str], begun: float) -> IndexReport:
    """Remove the documents that are gone, put the store in order, and report what was done."""
    for name in gone:
        store.delete(name)
    if tally.changed or gone:
        reclaim(store)
    if tally.added or tally.changed:
        with suppress(IndexBusy, StorageFull):  # best effort, as the vacuum
            store.optimize()
    return tally.report(gone, time.monotonic() - begun)


def _documents(store: Store) -> list[DocumentInfo]:
    with store.snapshot() as state:
        return state.documents()
