"""Fill disks under an index and a server, and look at what is said and what is left.

Each case gives a small file system, made for it, less room than the work needs.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from faults import child, kills, serving, workload
from faults.files import message_faults
from faults.log import Log, Record, counted, totals
from milepost.errors import MilepostError

ATTEMPTS = 20
KINDS = ("indexing", "updating", "vacuuming", "serving")

LARGE = 64 << 20
"""Bytes of a disk with room."""


@dataclass(frozen=True)
class Disk:
    """A small file system, mounted at ``place``."""

    place: Path

    def resize(self, size: int) -> None:
        _mount("-o", f"remount,size={size}", str(self.place))

    def limit(self, room: int) -> None:
        """Leave so many bytes, rounded up to a page."""
        self.resize(self.used + room // 4096 * 4096 + 4096)

    @property
    def used(self) -> int:
        return shutil.disk_usage(self.place).used


@contextmanager
def disk(place: Path, size: int = LARGE) -> Iterator[Disk]:
    """A file system in memory, for the length of a ``with`` block; Linux, and root alone.

    Raises:
        OSError: it may not be mounted.
    """
    place.mkdir(parents=True, exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place))
    try:
        yield Disk(place)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def run(log: Log, count: int) -> None:
    cases = list(log.left("full disks", count))
    if not cases:
        return
    child.adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        state = child.ChildState(home / "done")
        with disk(home / "small") as small:
            works = kills.works_in(home, small.place / "db")
            needed: dict[str, int] = {}
            for number in cases:
                kind = KINDS[number % len(KINDS)]
                rng = random.Random(f"{log.seed}:disk:{number}")
                small.resize(LARGE)
                shutil.rmtree(small.place / "db", ignore_errors=True)
                if kind == "serving":
                    found = _server(home, small, state, rng, needed)
                else:
                    found = _command(home, small, kind, works[kind], rng, needed)
                log.add("full disks", number, kind=kind, **found)
                shutil.rmtree(small.place / "served", ignore_errors=True)


def _command(
    home: Path, small: Disk, kind: str, work: kills.Work, rng: random.Random, needed: dict[str, int]
) -> Record:
    """Run a command that fills the disk; then give it room, and run it again."""
    output = home / "output"
    if kind not in needed:
        work.prepare()
        before = small.used
        _run(work, output)
        needed[kind] = max(small.used, before + 200_000) - before
    attempts = 0
    while attempts < ATTEMPTS:
        attempts += 1
        small.resize(LARGE)
        work.prepare()
        room = int(rng.random() * needed[kind])
        small.limit(room)
        code = _run(work, output)
        if code:
            break
    else:
        return {"outcome": "never full", "attempts": ATTEMPTS, "faults": [], "message": ""}
    said = output.read_text(encoding="utf-8")
    faults = [] if code == 2 else [f"exit code {code}"]
    if "no space left" not in said:
        faults.append("does not say that there is no space")
    faults += message_faults(said.removesuffix("\n"))
    readable, wrong = _read_when_full(work)
    faults += wrong
    small.resize(LARGE)
    faults += kills.guarded(lambda: work.faults([]))
    if code := _run(work, output):
        faults.append(f"with room: exit code {code}: {output.read_text(encoding='utf-8')[-200:]}")
    faults += [f"with room: {fault}" for fault in kills.guarded(work.faults_at_end)]
    message = said.replace(str(home), "…")[:300]
    return {"outcome": "full", "room": room, "attempts": attempts, "readable": readable,
            "message": message, "faults": faults}  # fmt: skip


def _run(work: kills.Work, output: Path) -> int:
    """``milepost index`` in a child, with a model that has no weights; its exit code."""

    def deed() -> None:
        import milepost.encoder.engine
        from milepost.cli import main

        milepost.encoder.engine.find_model = lambda *_: workload.MODEL  # type: ignore[assignment]
        sys.argv = ["milepost", "index", str(work.files), "--db", str(work.db), "--quiet"]
        main()

    return child.ended(child.start(deed, output))


def _read_when_full(work: kills.Work) -> tuple[bool, list[str]]:
    """Whether the index can be read while the disk is full, and what is wrong with that."""
    try:
        found = workload.held(work.db)
    except MilepostError as error:  # nothing was made yet, or SQLite finds no room for its log
        return False, message_faults(str(error))
    return True, [
        f"{name} is wrong while the disk is full"
        for name, value in found.items()
        if value not in (work.before.get(name), work.after.get(name))
    ]


def _server(
    home: Path, small: Disk, state: child.ChildState, rng: random.Random, needed: dict[str, int]
) -> Record:
    """Upload to a server until its disk is full; then give it room, and start another."""
    db = small.place / "served"
    right = serving.references(home, db / "uploads")
    serving.load()
    if "serving" not in needed:
        before = small.used
        _sent(home, db, state)
        needed["serving"] = small.used - before
    attempts = 0
    while attempts < ATTEMPTS:
        attempts += 1
        small.resize(LARGE)
        shutil.rmtree(db, ignore_errors=True)
        room = int(rng.random() * needed["serving"])
        sent, refused, faults = _sent(home, db, state, lambda room=room: small.limit(room))
        if refused:
            break
    else:
        return {"outcome": "never full", "attempts": ATTEMPTS, "faults": [], "message": ""}
    for message in refused:
        faults += message_faults(message)
        if str(home) in message:
            faults.append("a message of the server holds a path of its disk")
    if not any("no space left" in message.lower() for message in refused):
        faults.append("does not say that there is no space")
    small.resize(LARGE)
    faults += serving.restarted(home, db, state, sent, right)
    message = refused[0].replace(str(home), "…")[:300]
    return {"outcome": "full", "room": room, "attempts": attempts, "refused": len(refused),
            "stored": sent.answered, "message": message, "faults": faults}  # fmt: skip


def _sent(
    home: Path, db: Path, state: child.ChildState, limit: Callable[[], None] = lambda: None
) -> tuple[serving.Sent, list[str], list[str]]:
    """Start a server, leave it little room, send it everything, end it.

    Returns:
        What it accepted, what it said of what it refused, and what it did wrong.
    """
    sent, refused, faults = serving.Sent(), [], []
    pid = serving.started(home, db, state)
    try:
        limit()
        refused += serving.send(state.shared.port, sent)
        if serving.ask(state.shared.port, "GET", "/health")[0] != 200:
            faults.append("the server does not answer any more")
        failed = json.loads(serving.ask(state.shared.port, "GET", "/indexing")[1])["failed"]
        refused += [each["reason"] for each in failed]
    finally:
        os.kill(pid, signal.SIGTERM)
        if code := child.ended(pid):
            faults.append(f"exit code {code}")
    if left := child.orphans():
        faults.append(f"{left} orphans")
    return sent, refused, faults


def summary(log: Log) -> Record:
    records = log.of("full disks")
    return totals(records) | {
        "kinds": counted(records, "kind"),
        "readable while full": sum(record.get("readable", False) for record in records),
        "messages": dict(Counter(record["message"] for record in records).most_common(8)),
    }


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise OSError(f"may not mount a small disk: {done.stderr.strip()}")
