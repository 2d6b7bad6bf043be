"""Ray runs ``IndexFiles`` over many files: on the cores of this machine, or of a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.errors import InputError, MilepostError
from milepost.index.adding import finish
from milepost.index.intake import Tally, find_files, vanished, wanted_pictures
from milepost.index.places import absolute, local_path
from milepost.index.store_opening import opened_store
from milepost.index.workers.worker import IndexFiles
from milepost.store.address import IndexPlace
from milepost.types import Hidden, IndexReport, Ocr

_BATCH = 4  # files that a worker is given at a time: what a killed worker does again, at most

_RESTARTS = 20
"""How often workers may die before the run is given up: a batch is then run again each time."""

_STARTS = 3  # how often Ray is started on this machine before that is given up

Progress = Callable[[str, int, int], None]
"""Called with the name of a file that is done, how many are, and how many there are."""


def connect(address: str | None, **options: Any) -> Any:
    """Start Ray on this machine, or connect to a cluster, with options of ``ray.init``.

    ``address`` is ``ray://HOST:PORT``; None for this machine, or the cluster that ``RAY_ADDRESS``
    names.
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
    """``Index.add`` of files and folders by workers of Ray, each with one core and one engine.

    A worker that dies is replaced and its batch run again; so is, by the same call, what a killed
    driver has left. Documents of the folders whose files are gone are removed. All workers must be
    able to read the files and to reach ``place``. ``address`` is as in ``connect``; ``progress`` is
    called for each file.

    Raises:
        MissingExtra: Ray is not installed.
        InputError: the cluster cannot be reached.
        MilepostError: workers died too often, or the index cannot be written.
    """
    begun = time.monotonic()
    ray = connect(address)  # before anything is made
    store, chosen = opened_store(place, model, create=True, read_only=False)
    with closing(store), store.snapshot() as state:
        stored = {info.name: info for info in state.documents()}
    tally = Tally()
    pictures = wanted_pictures(stored, ocr)
    files, folders = find_files([local_path(path) for path in paths], tally.failed, pictures)
    unlisted = list(tally.failed)
    if model is None:
        model = chosen.manifest.name  # of an installed model
    # The name of a shipped model: its folder may be another one on other machines.
    model = str(absolute(model)) if Path(model).is_dir() else model
    workplace = place if isinstance(place, str) else str(place.absolute())
    options = {"hidden": hidden, "ocr": ocr}
    for number, row in enumerate(_rows(ray, files, (workplace, model), options), 1):
        _count(tally, row)
        if progress is not None:
            progress(row["path"], number, len(files))
    present = {str(file) for file in files}
    gone = vanished(stored.values(), folders, present, unlisted)
    store, _ = opened_store(place, model, create=True, read_only=False)
    with closing(store):
        return finish(store, tally, gone, begun)


def _rows(
    ray: Any, files: Sequence[Path], arguments: tuple[str, str], options: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    blocks = max(1, -(-len(files) // _BATCH))
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    found = ray.data.from_items(
        [{"path": str(file)} for file in files], override_num_blocks=blocks
    ).map_batches(
        IndexFiles,
        fn_constructor_args=arguments,
        fn_constructor_kwargs=options,
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


def _count(tally: Tally, row: dict[str, Any]) -> None:
    path, outcome, reason = row["path"], row["outcome"], row["reason"]
    if outcome == "failed":
        tally.failed[path] = reason
    else:
        getattr(tally, outcome).append(path)
        tally.notes |= {path: (reason,)} if reason else {}
    tally.sentences += int(row["sentences"])
    tally.tokens += int(row["tokens"])


def _cause(error: BaseException) -> str:
    """What a worker raised, if it was ours; else the kind of Ray's error."""
    seen: BaseException | None = error
    while seen is not None:
        inner = getattr(seen, "cause", None) or seen.__cause__
        if isinstance(seen, MilepostError):
            return seen.problem
        seen = inner if inner is not seen else None
    return type(error).__name__
