"""Bring an index up to date with files and folders, with many workers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from milepost.errors import IndexBusy, StorageFull
from milepost.index.intake import absolute, find_files, vanished, wanted_pictures
from milepost.index.places import local_path
from milepost.index.store_opening import opened_store
from milepost.index.workers.cluster import Progress, connect, index_files
from milepost.store.address import IndexPlace
from milepost.types import Hidden, IndexReport, Ocr


def index_paths(
    paths: Sequence[str],
    place: IndexPlace,
    *,
    model: str | None = None,
    address: str | None = None,
    hidden: Hidden | None = None,
    ocr: Ocr | None = None,
    progress: Progress | None = None,
) -> IndexReport:
    """``Index.add`` of files and folders by workers of Ray; see ``cluster.index_files``.

    Documents of the folders whose files are gone are removed.
    """
    begun = time.monotonic()
    connect(address)  # before anything is made
    store, chosen = opened_store(place, model, create=True, read_only=False)
    if model is None:
        model = chosen.manifest.name  # of an installed model
    with closing(store), store.snapshot() as state:
        stored = {info.name: info for info in state.documents()}
    failed: dict[str, str] = {}
    pictures = wanted_pictures(stored, ocr)
    files, folders = find_files([local_path(path) for path in paths], failed, pictures)
    report = index_files(
        files,
        place if isinstance(place, str) else str(place.absolute()),
        # The name of a shipped model: its folder may be another one on other machines.
        model=str(absolute(model)) if model and Path(model).is_dir() else model,
        address=address,
        hidden=hidden,
        ocr=ocr,
        progress=progress,
    )
    present = {str(file) for file in files}
    gone = vanished(stored.values(), folders, present, failed)
    store, _ = opened_store(place, model, create=True, read_only=False)
    with closing(store):
        for name in gone:
            store.delete(name)
        with suppress(IndexBusy, StorageFull):  # best effort: the next call tries again
            if report.added or report.changed:
                store.optimize()
    return replace(
        report, removed=tuple(gone), failed=failed | report.failed, seconds=time.monotonic() - begun
    )
