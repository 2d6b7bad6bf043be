"""Kill processes while they index, update, vacuum and serve, and look at what is left."""

import os
import random
import shutil
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from faults import child, workload
from faults.log import Log, Record, at, counted, totals
from faults.workload import Held
from milepost.index.intake import Step

COUNT = 24
"""Documents of an index."""

SHARES = {"indexing": 40, "updating": 30, "vacuuming": 20, "serving": 10}
"""How many of a hundred kills each kind of work gets."""

ATTEMPTS = 30
"""Processes that are started for one kill: some end before they are killed."""


@dataclass(frozen=True)
class Work:
    """A state of files and index, in which ``milepost index`` has much to do.

    Attributes:
        files: the folder of the files.
        db: the index.
        prepare: makes the state, at these places.
        before: everything that the index holds before.
        after: everything that an undisturbed run leaves.
    """

    files: Path
    db: Path
    prepare: Callable[[], None]
    before: Held
    after: Held

    def do(self, state: child.ChildState | None = None) -> None:
        """Bring the index up to date; each document is named when it is stored."""
        name = ""

        def step(now: Step) -> None:
            nonlocal name
            if state is not None and name and now.name != name:  # the one before is stored
                state.finished(Path(name).name)
            name = now.name

        with workload.opened(self.db) as index:
            index.add(self.files, progress=step)

    def faults(self, done: list[str]) -> list[str]:
        """What is wrong after an interruption, given what was said to be stored before."""
        allowed = {
            name: [self.after.get(name), *([] if name in done else [self.before.get(name)])]
            for name in self.before.keys() | self.after.keys()
        }
        return workload.index_faults(self.db, allowed)

    def faults_at_end(self) -> list[str]:
        """What is wrong after a whole run, and what a vacuum leaves."""
        after = {name: [value] for name, value in self.after.items()}
        faults = workload.index_faults(self.db, after)
        with workload.opened(self.db) as index:
            index._store.vacuum()
        return faults + [f"{name} is left for good" for name in workload.leftovers(self.db)]


def run(log: Log, count: int) -> None:
    cases = list(log.left("kills", count))
    if not cases:
        return
    child.adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        works = works_in(home, home / "db")
        state = child.ChildState(home / "done")
        took: dict[str, tuple[float, int]] = {}
        for number in cases:
            kind = kind_of(number)
            rng = random.Random(f"{log.seed}:kill:{number}")
            if kind == "serving":
                from faults import serving

                log.add("kills", number, kind=kind, **serving.kill(home, state, rng, took))
                continue
            if kind not in took:
                took[kind] = _undisturbed(home, works[kind], state)
            log.add("kills", number, kind=kind, **_kill(home, works[kind], state, rng, *took[kind]))


def kind_of(number: int) -> str:
    """The work of a case: all kinds take turns, so that any number of cases has all of them."""
    order = [kind for kind, share in SHARES.items() for _ in range(share)]
    return order[number * 37 % len(order)]


def works_in(home: Path, db: Path) -> dict[str, Work]:
    """The kinds of work but serving.

    Args:
        home: a folder for files, and for copies of what is before.
        db: where the index is.
    """
    files, before, dead = home / "files", home / "before", home / "dead"
    one = dict.fromkeys(range(COUNT), 1)
    # Of four in a row two are changed, one goes and one stays; some are new.
    two = {n: 2 if n % 4 < 2 else 1 for n in one if n % 4 != 2}
    two |= dict.fromkeys(range(COUNT, COUNT + 6), 2)
    three = {n: 1 for n in one if n != 3}
    first, second, third = (workload.reference(home, files, each) for each in (one, two, three))
    workload.write(files, one)
    with workload.opened(before) as index:
        index.add(files)
    _many_dead(files, dead)

    def preparing(start: Path | None, versions: Mapping[int, int]) -> Callable[[], None]:
        def prepare() -> None:
            for old in (files, db):
                shutil.rmtree(old, ignore_errors=True)
            workload.write(files, versions)
            if start is not None:
                shutil.copytree(start, db)

        return prepare

    return {
        "indexing": Work(files, db, preparing(None, one), {}, first),
        "updating": Work(files, db, preparing(before, two), first, second),
        "vacuuming": Work(files, db, preparing(dead, three), first, third),
    }


def _many_dead(files: Path, db: Path) -> None:
    """An index of the first version, most of whose rows belong to documents that are gone."""
    with patch("milepost.index.adding.reclaim"):
        for version in (2, 3, 2, 1):
            workload.write(files, dict.fromkeys(range(COUNT), version))
            with workload.opened(db) as index:
                index.add(files)


def _undisturbed(home: Path, work: Work, state: child.ChildState) -> tuple[float, int]:
    """Median time of the work, and its number of writes."""
    took = []
    for _ in range(3):
        pid = _started(home, work, state)
        begun = time.perf_counter()
        code = child.ended(pid)
        took.append(time.perf_counter() - begun)
        if code:
            raise RuntimeError((home / "output").read_text(encoding="utf-8"))
    return statistics.median(took), state.shared.writes


def _started(home: Path, work: Work, state: child.ChildState) -> int:
    work.prepare()
    state.clear()

    def deed() -> None:
        state.watch()
        state.shared.begun = 1
        work.do(state)

    pid = child.start(deed, home / "output")
    while not state.shared.begun:
        if child.is_gone(pid):
            raise RuntimeError((home / "output").read_text(encoding="utf-8"))
        time.sleep(0.0005)
    return pid


def _kill(
    home: Path, work: Work, state: child.ChildState, rng: random.Random, seconds: float, writes: int
) -> Record:
    """Kill at a random moment, check, go on, and compare with an undisturbed run."""
    for attempts in range(1, ATTEMPTS + 1):
        pid = _started(home, work, state)
        begun = time.perf_counter()
        if rng.random() < 0.5:
            _await_write(state, rng.randint(1, writes))
            time.sleep(rng.random() * 0.004)
        else:
            time.sleep(rng.random() * seconds)
        moment = time.perf_counter() - begun
        os.kill(pid, signal.SIGKILL)
        code = child.ended(pid)
        if code == -signal.SIGKILL:
            break
        if code:  # it had ended, and badly
            return {"phase": "none", "outcome": "failed by itself", "attempts": attempts,
                    "faults": [(home / "output").read_text(encoding="utf-8")[-300:]]}  # fmt: skip
    else:
        return {"phase": "none", "outcome": "never killed", "attempts": ATTEMPTS, "faults": []}
    phase, done = state.doing(), state.all_finished()
    left = workload.leftovers(work.db)
    faults = guarded(lambda: work.faults(done))
    faults += [f"{count} orphans" for count in [child.orphans()] if count]
    faults += [f"next run: {fault}" for fault in guarded(lambda: _next(work))]
    return {"outcome": "killed", "phase": phase, "moment": round(moment / seconds, 3),
            "stored": len(done), "left": left, "attempts": attempts, "faults": faults}  # fmt: skip


def _await_write(state: child.ChildState, number: int) -> None:
    """Wait until this write begins: writes take a small part of the time."""
    until = time.perf_counter() + 5.0
    while state.shared.writes < number and time.perf_counter() < until:
        time.sleep(0.0002)


def _next(work: Work) -> list[str]:
    """The same work again, here and to its end; what is wrong then."""
    work.do()
    return work.faults_at_end()


def guarded(check: Callable[[], list[str]]) -> list[str]:
    """What a check finds, or how it failed."""
    try:
        return check()
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


def summary(log: Log) -> Record:
    records = log.of("kills")
    killed = [record for record in records if record["outcome"] == "killed"]
    moments = [record["moment"] for record in killed]
    return totals(records) | {
        "kinds": dict(Counter(record["kind"] for record in killed)),
        "phases": counted(killed, "kind", "phase"),
        "ended before the kill": sum(record["attempts"] - 1 for record in records),
        "moments": [round(at(moments, share), 2) for share in (0.1, 0.5, 0.9)],
        "documents stored before": sum(record.get("stored", 0) for record in killed),
        "left until the next vacuum": sum(bool(record.get("left")) for record in killed),
    }  # fmt: skip
