"""Ray runs ``IndexFiles`` over many files: on the cores of this machine, or of a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.errors import IndexBusy, InputError, MilepostError, StorageFull
from milepost.index.intake import Tally, find_files, vanished, wanted_pictures
from milepost.index.places import absolute, local_path
from milepost.index.store_opening import opened_store
from milepost.index.workers.worker import IndexFiles
from milepost.store.address import IndexPlace
from milepost.types import Hidden, IndexReport, Ocr

_BATCH = 4
"""Files that a worker is given at a time: what a killed worker does again, at most."""

_RESTARTS = 20
"""How often workers may die before the run is given up: a batch is then run again each time."""

_STARTS = 3
"""How often Ray is started on this machine before that is given up."""

Progress = Callable[[str, int, int], None]
"""Called with the name of a file that is done, how many are, and how many there are."""


def connect(address: str | None, **options: Any) -> Any:
    """Start Ray on this machine, or connect to a cluster.

    Args:
        address: ``ray://HOST:PORT``; None for this machine, or the cluster that ``RAY_ADDRESS``
            names.
        options: of ``ray.init``.

    Raises:
        MissingExtra: Ray is not installed.
        InputError: the cluster cannot be reached, or Ray cannot start here.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it reports to its makers
    ray = require("ray", extra="ray")
    require("ray.data", extra="ray")
    if ray.is_initialized():
        return ray
    if address is None:
        options = {"include_dashboard": False, **options}
    for left in reversed(range(_STARTS)):
        try:
            ray.init(address=address, log_to_driver=False, **options)
            break
        except Exception as error:  # Ray raises bare exceptions, too
            ray.shutdown()
            # A busy machine starts Ray too slowly for the 30 seconds that Ray allows itself.
            if address is not None or not left or "timed out" not in str(error).lower():
                raise InputError(
                    *_not_started(address or os.environ.get("RAY_ADDRESS"), error)
                ) from error
    return ray


def _not_started(address: str | None, error: Exception) -> tuple[str, str]:
    """What is said where Ray did not answer, and what to try."""
    if address is not None:
        return f"the cluster {address} cannot be reached", "ray status --address HOST:PORT"
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return f"Ray cannot start on this machine: {reason}", "the same command without --workers"


def index_files(
    files: Sequence[Path],
    place: str,
    *,
    model: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    hidden: Hidden | None = None,
    ocr: Ocr | None = None,
    progress: Progress | None = None,
) -> IndexReport:
    """Index files with workers that Ray runs; each of them has one core, one engine, one thread.

    A worker that dies is replaced and its batch run again; so is, by the same call, what a killed
    driver has left. Files that cannot be read are in the report.

    Args:
        files: absolute paths, which all workers can read.
        place: folder or address of the index, which all workers can reach.
        model: name or folder of the model; None for the default.
        workers: how many; None for as many as there are cores.
        address: see ``connect``.
        hidden: as in ``Index.add``.
        ocr: as in ``Index.add``.
        progress: called after each batch.

    Raises:
        MissingExtra: Ray is not installed.
        InputError: the cluster cannot be reached.
        MilepostError: workers died too often, or the index cannot be written.
    """
    begun = time.monotonic()
    ray = connect(address)
    count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    rows: list[dict[str, Any]] = []
    for row in _rows(ray, files, place, model, count, hidden, ocr):
        rows.append(row)
        if progress is not None:
            progress(row["path"], len(rows), len(files))
    return _report(rows, time.monotonic() - begun)


def _rows(
    ray: Any,
    files: Sequence[Path],
    place: str,
    model: str | None,
    workers: int,
    hidden: Hidden | None,
    ocr: Ocr | None,
) -> Iterator[dict[str, Any]]:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    blocks = max(1, -(-len(files) // _BATCH))
    found = ray.data.from_items(
        [{"path": str(file)} for file in files], override_num_blocks=blocks
    ).map_batches(
        IndexFiles,
        fn_constructor_args=(place, model),
        fn_constructor_kwargs={"hidden": hidden, "ocr": ocr},
        batch_size=_BATCH,
        batch_format="numpy",
        compute=ray.data.ActorPoolStrategy(size=min(workers, blocks)),
        num_cpus=1,
        max_restarts=_RESTARTS,
        max_task_retries=_RESTARTS,
    )
    try:
        yield from found.iter_rows()
    except ray.exceptions.RayError as error:
        raise MilepostError(
            f"the workers could not continue: {_cause(error)}", "the same command to continue"
        ) from error


def _cause(error: BaseException) -> str:
    """What a worker raised, if it was ours; else the kind of Ray's error."""
    seen: BaseException | None = error
    while seen is not None:
        inner = getattr(seen, "cause", None) or seen.__cause__
        if isinstance(seen, MilepostError):
            return seen.problem
        seen = inner if inner is not seen else None
    return type(error).__name__


def _report(rows: Sequence[dict[str, Any]], seconds: float) -> IndexReport:
    tally = Tally()
    for row in rows:
        path, outcome, reason = row["path"], row["outcome"], row["reason"]
        if outcome == "failed":
            tally.failed[path] = reason
        else:
            getattr(tally, outcome).append(path)
            tally.notes |= {path: (reason,)} if reason else {}
        tally.sentences += int(row["sentences"])
        tally.tokens += int(row["tokens"])
    return tally.report((), seconds)


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
    """``Index.add`` of files and folders by workers of Ray; see ``index_files``.

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
