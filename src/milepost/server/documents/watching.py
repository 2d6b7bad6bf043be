"""Keep an index up to date with files and folders while they change.

Whatever has changed, the files given are looked through again as by ``Index.add``: it takes
milliseconds for each thousand files, and a change that the system did not report is found as well.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.documents import read_file
from milepost.documents.folders import IGNORE_FILES
from milepost.documents.sidecar import sidecar
from milepost.errors import IndexBusy, InputError, MilepostError, StorageFull, UnreadableFile
from milepost.index import Index
from milepost.index.intake import Known, Step
from milepost.index.places import absolute, local_path
from milepost.types import Document, Hidden, IndexReport, Ocr, ReadOptions

_TICK = 0.3
"""Seconds between looks at files that were given by name, and at those still being written."""

_SETTLED = 0.5  # seconds that a file must be left alone before it is read

_RETRY = 5.0
"""Seconds after which an index is tried again that another process writes, or that is full."""

_Stamp = tuple[int, int, int]


@dataclass(slots=True)
class Watch:
    """Follows files and folders, and adds to an index what has changed.

    Documents of the folders among ``paths`` whose files are gone are removed. Nothing in ``place``,
    the folder of the index, is followed. The other fields are as in ``Index.add``.
    """

    index: Index
    paths: Sequence[str | os.PathLike[str]]
    place: Path
    hidden: Hidden | None = None
    ocr: Ocr | None = None
    read: Callable[[Path, ReadOptions], Document] = read_file
    progress: Callable[[Step], None] | None = None
    known: Known | None = None

    def updates(self, before: IndexReport) -> Generator[IndexReport | MilepostError, None, None]:
        """Yield a report of each change of the index, without end.

        A report leaves out what did not change: documents that stay as they are, and files that
        could not be read before and are the same. An index that cannot be written for a while is
        yielded once as an error, and tried again. An ``InputError`` says that the system does not
        let us follow.
        """
        state = _Files(self.read)
        state.remember(before.failed)
        look, wait, error = False, 0.0, ""
        for changed in self._ticks():
            look = look or changed
            if not look or time.monotonic() < wait:
                continue
            try:
                report = self._update(state)
            except (IndexBusy, StorageFull) as problem:
                wait = time.monotonic() + _RETRY
                if str(problem) != error:
                    yield problem
                error = str(problem)
                continue
            look, error = bool(state.unsettled), ""
            if report.added or report.changed or report.removed or report.failed:
                yield report

    def _update(self, files: _Files) -> IndexReport:
        files.unsettled.clear()
        report = self.index.add(
            self.paths,
            progress=self.progress,
            hidden=self.hidden,
            ocr=self.ocr,
            reader=files.read,
            known=self.known,
        )
        return replace(report, unchanged=(), failed=files.remember(report.failed))

    def _ticks(self) -> Generator[bool, None, None]:
        """Say again and again whether something has changed."""
        watchfiles = require("watchfiles", extra="watch")
        given = [local_path(path) for path in self.paths]
        while True:
            folders = {path: _identity(path) for path in given if path.is_dir()}
            # Files are looked at, because a program that replaces one ends what follows the old.
            others = [path for path in given if path not in folders]
            stamps = [_stamp(path) for path in others]
            started = True  # nobody followed them until now: what has changed is found by looking
            with closing(_events(watchfiles, list(folders), absolute(self.place))) as ticks:
                for events in ticks:
                    before, stamps = stamps, [_stamp(path) for path in others]
                    moved = any(_identity(path) != was for path, was in folders.items())
                    yield started or events or moved or stamps != before
                    started = False
                    if moved or any(path.is_dir() for path in others):
                        break  # to follow the folders that are there now


def _events(watchfiles: Any, folders: Sequence[Path], place: Path) -> Generator[bool, None, None]:
    """Say after each tick whether a file of the folders, but not in ``place``, has changed."""
    if not folders:
        while True:
            time.sleep(_TICK)
            yield False

    def wanted(_: object, name: str) -> bool:
        path = Path(name)
        if path.is_relative_to(place):
            return False
        root = next((folder for folder in folders if path.is_relative_to(folder)), path)
        *above, last = path.relative_to(root).parts or ("",)
        return not any(part.startswith(".") for part in above) and (
            not last.startswith(".") or last in IGNORE_FILES
        )

    milliseconds = round(1000 * _TICK)
    try:
        for changes in watchfiles.watch(
            *folders,
            watch_filter=wanted,
            debounce=milliseconds,
            rust_timeout=milliseconds,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            yield bool(changes)
    except FileNotFoundError:  # gone between two looks
        time.sleep(_TICK)
        yield True
    except OSError as error:  # the system's limit of followed folders
        raise InputError(
            f"the folders cannot be followed: {error.strerror or error}",
            "sudo sysctl fs.inotify.max_user_watches=1000000, or fewer folders",
        ) from error


class _Files:
    """Reads files that are settled, not those ``unsettled``, and remembers what cannot be read."""

    def __init__(self, read: Callable[[Path, ReadOptions], Document]) -> None:
        self.unsettled: set[str] = set()
        self._read = read
        self._stamps: dict[str, _Stamp | None] = {}  # when they were last read
        self._failed: dict[str, tuple[_Stamp | None, str]] = {}

    def read(self, path: Path, options: ReadOptions) -> Document:
        """Read a file that is left alone, unless it could not be read and is the same still."""
        name, stamp = str(path), _stamp(path)
        if stamp is not None and self._failed.get(name, (None, ""))[0] == stamp:
            raise UnreadableFile(self._failed[name][1])
        age = time.time() - max(stamp[1:]) / 1e9 if stamp else _SETTLED
        if 0 <= age < _SETTLED:  # a clock that is ahead does not hold a file up
            self.unsettled.add(name)
            raise UnreadableFile(name)
        self._stamps[name] = stamp
        return self._read(path, options)

    def remember(self, failed: dict[str, str]) -> dict[str, str]:
        """Those of the failures that are new."""
        kept: dict[str, tuple[_Stamp | None, str]] = {
            name: (self._stamps.get(name), reason)
            for name, reason in failed.items()
            if name not in self.unsettled
        }
        new = {
            name: reason
            for name, (stamp, reason) in kept.items()
            if name not in self._failed
            # None: it failed before we looked, and was read once more to learn its stamp.
            or self._failed[name][0] not in (None, stamp)
            or self._failed[name][1] != reason
        }
        self._failed = kept
        return new


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a folder from another that takes its place; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _stamp(path: Path) -> _Stamp | None:
    """Size and times of change, of the file and its sidecar; None where there is no such file."""
    try:
        status = [each.stat() for each in (path, sidecar(path)) if each is not None]
    except OSError:
        return None
    return (
        sum(each.st_size for each in status),
        max(each.st_mtime_ns for each in status),
        max(each.st_ctime_ns for each in status),
    )
