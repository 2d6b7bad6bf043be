"""One thread that adds files to the index, while searches go first."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from milepost.errors import IndexBusy, MilepostError, StorageFull, UnreadableFile
from milepost.index import Index
from milepost.index.intake import Known, Step, file_signature, name_of
from milepost.server.failures import message_of
from milepost.types import Document, Ocr, ReadOptions

log = logging.getLogger("milepost.server")

_REMEMBERED = 100  # failures and notes that are kept for those who ask later

_PATIENCE_S = 1.0  # seconds that an agent waits for changes to be indexed

_REST_S, _LONGEST_REST_S = 0.1, 60.0
"""Seconds between two looks at the same folders, which grow with how long one takes."""

_RETRY_S, _LONGEST_RETRY_S = 1.0, 60.0
"""Seconds until a full disk or another writer is tried again; they double each time."""


class Stopped(BaseException):
    """The server shuts down; the document at hand is started anew at the next start.

    A ``BaseException``, so that nothing takes it for a bad file.
    """


@dataclass(frozen=True, slots=True)
class Work:
    """Something to add; documents of folders to ``prune`` whose files are gone are removed.

    A password opens these files, and is forgotten when they are read.
    """

    sources: tuple[Path | Document, ...]
    prune: bool = False
    ocr: Ocr | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Progress:
    """What the thread does.

    Attributes:
        step: the document at hand; None while nothing is read.
        waiting: pieces of work that wait.
        indexed: documents added or changed since the start.
        failed, notes: path or name of the last documents, and why, or what a reader left out.
        remedies: path → with what a file that failed could be read; see ``UnreadableFile``.
    """

    step: Step | None
    waiting: int
    indexed: int
    failed: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...]
    remedies: Mapping[str, str]

    @property
    def idle(self) -> bool:
        """Whether everything given is in the index."""
        return self.step is None and not self.waiting


class Indexer:
    """Adds to the index in the background.

    ``read`` is given the password of a file, if there is one. ``between``, called between batches
    of the encoder, may wait, so that searches go first. ``end`` is called by ``stop``, so that a
    file that is being read holds nobody up. ``known`` is not for what a password opens, which stays
    in this index.
    """

    def __init__(
        self,
        index: Index,
        read: Callable[..., Document],
        between: Callable[..., None] = lambda *_: None,
        end: Callable[[], None] = lambda: None,
        ocr: Ocr | None = None,
        known: Known | None = None,
    ) -> None:
        self._index, self._read, self._between, self._end = index, read, between, end
        self._ocr, self._known = ocr, known
        self._work: deque[Work] = deque()
        self._failed: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)
        self._notes: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)
        self._removed: set[str] = set()
        self._unread: dict[str, tuple[object, UnreadableFile]] = {}  # with the file's signature
        self._followed: Work | None = None
        self._look_at = 0.0
        self._step: Step | None = None
        self._busy = False
        self._indexed = 0
        self._stopping = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="milepost-indexer", daemon=True)

    def start(self) -> None:
        """Begin; work given before waits until then."""
        self._thread.start()

    def add(
        self,
        sources: Sequence[Path | Document],
        *,
        prune: bool = False,
        ocr: Ocr | None = None,
        password: str | None = None,
    ) -> None:
        """Add files, folders or documents behind what waits already."""
        with self._changed:
            self._removed.difference_update(map(name_of, sources))  # as an upload of the same name
            self._work.append(Work(tuple(sources), prune, ocr, password))
            if prune:
                self._followed = self._work[-1]
            self._changed.notify_all()

    def refresh(self) -> None:
        """Look for changes of what was last added with ``prune``, unless that was just done."""
        with self._changed:
            if self._followed is None or self._busy or time.monotonic() < self._look_at:
                return
            if not self._work:
                self._work.append(self._followed)
                self._changed.notify_all()
        self.join(_PATIENCE_S)

    def progress(self) -> Progress:
        """The present state."""
        with self._changed:
            waiting = len(self._work) + (self._busy and self._step is None)
            return Progress(
                self._step,
                waiting,
                self._indexed,
                tuple(self._failed),
                tuple(self._notes),
                {path: error.remedy for path, (_, error) in self._unread.items() if error.remedy},
            )

    def forget(self, name: str) -> None:
        """Say no more of a document that was removed, nor bring it back unless it is added."""
        with self._changed:
            self._drop({name})
            self._removed.add(name)

    def join(self, seconds: float | None = None) -> bool:
        """Wait until everything given is in the index; False where time was up before."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._work and not self._busy, seconds)

    def stop(self) -> None:
        """End after the batch at hand; what was stored stays, the rest is not begun."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._end()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._work or self._stopping)
                if self._stopping:
                    return
                work = self._work.popleft()
                self._busy = True
            began, before = time.monotonic(), self._indexed
            try:
                self._do(work)
            except Stopped:
                return
            finally:
                with self._changed:
                    self._step, self._busy = None, False
                    ended = time.monotonic()
                    took = ended - began if self._indexed == before else 0.0
                    self._look_at = ended + min(max(_REST_S, 10.0 * took), _LONGEST_REST_S)
                    self._changed.notify_all()

    def _do(self, work: Work) -> None:
        names, rest = {name_of(source) for source in work.sources}, _RETRY_S
        while True:
            try:
                report = self._index.add(
                    work.sources,
                    prune=work.prune,
                    progress=self._on_step,
                    ocr=work.ocr or self._ocr,
                    reader=partial(self._read_file, work),
                    known=self._known if work.password is None else None,
                )
                break
            except Exception as error:
                if isinstance(error, MilepostError):  # full disk, second writer, no database
                    log.warning("indexing stopped: %s", error)
                    why = message_of(error)
                else:
                    log.exception("indexing failed")
                    why = f"{type(error).__name__}; see the log"
                if passes := isinstance(error, IndexBusy | StorageFull):
                    why = f"{error.problem}; it is tried again"
                with self._changed:
                    self._step = None
                    self._drop(names)
                    self._failed.extend((name, why) for name in names - self._removed)
                    if not passes:
                        return
                    # What was accepted is indexed when that is over.
                    if self._changed.wait_for(lambda: self._stopping, rest):
                        raise Stopped from error
                rest = min(2 * rest, _LONGEST_RETRY_S)
        with self._changed:
            gone = set(self._removed)
        back = gone & {*report.added, *report.changed}
        if back:
            self._index.remove(back)
        with self._changed:
            self._indexed += len(report.added) + len(report.changed)
            # what was said before
            self._drop({*names, *report.added, *report.changed, *report.failed})
            self._failed.extend(
                (name, why) for name, why in report.failed.items() if name not in gone
            )
            for name, notes in report.notes.items():
                self._notes.extend((name, note) for note in notes)

    def _drop(self, names: set[str]) -> None:
        for said in (self._failed, self._notes):
            kept = [(name, why) for name, why in said if name not in names]
            said.clear()
            said.extend(kept)

    def _read_file(self, work: Work, path: Path, options: ReadOptions) -> Document:
        if self._stopping:
            raise Stopped
        signature, failed = file_signature(path), None
        before = self._unread.get(str(path))
        if str(path) in self._removed:
            raise UnreadableFile(str(path))
        try:
            if work.prune and before is not None and before[0] == signature:
                raise before[1].with_traceback(None)  # the file is the same still
            return self._read(path, options, *(() if work.password is None else (work.password,)))
        except UnreadableFile as error:
            failed = signature, error
            raise
        finally:
            with self._changed:
                self._unread.pop(str(path), None)
                if failed is not None:
                    self._unread[str(path)] = failed

    def _on_step(self, step: Step) -> None:
        with self._changed:
            self._step = step
            if self._stopping:
                raise Stopped
        self._between()
