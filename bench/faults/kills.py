"""Kill processes while they index, update, vacuum and serve, and look at what is left."""

from __future__ import annotations

import os
import random
import shutil
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from faults import child, workload
from faults.log import Log, Record, at, counted
from faults.workload import Held
from milepost.intake import Step

COUNT = 24
"""Documents of an index."""

SHARES = {"indexing": 35, "updating": 30, "vacuuming": 15, "serving": 20}
"""How many of a hundred kills each kind of work gets."""

ATTEMPTS = 30
"""Processes that are started for one kill: some end before they are killed."""


@dataclass(frozen=True)
class Work:
    """One kind of work on an index.

    Attributes:
        prepare: makes the state before it, at the place of the case.
        do: the work, in the child.
        allowed: what each document may be after a kill, given what was said to be stored.
        after: everything that an undisturbed run leaves.
    """

    prepare: Callable[[], None]
    do: Callable[[child.Told], object]
    allowed: Callable[[list[str]], Mapping[str, Iterable[object]]]
    after: Held


def run(log: Log, count: int) -> None:
    """Kill for the cases that have no line yet."""
    cases = list(log.left("kills", count))
    if not cases:
        return
    child.adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        works = works_in(home)
        told = child.Told(home / "done")
        took: dict[str, float] = {}
        for number in cases:
            kind = kind_of(number)
            rng = random.Random(f"{log.seed}:kill:{number}")
            if kind == "serving":
                from faults import serving

                log.add("kills", number, kind=kind, **serving.kill(home, told, rng, took))
                continue
            if kind not in took:
                took[kind] = _seconds(home, works[kind], told)
            log.add("kills", number, kind=kind, **_kill(home, works[kind], told, rng, took[kind]))


def kind_of(number: int) -> str:
    """The work of a case: all kinds take turns, so that any number of cases has all of them."""
    order = [kind for kind, share in SHARES.items() for _ in range(share)]
    return order[number * 37 % len(order)]


def works_in(home: Path) -> dict[str, Work]:
    """The kinds of work but serving, at this place."""
    files, db, before = home / "files", home / "db", home / "before"
    all_one = dict.fromkeys(range(COUNT), 1)
    first = workload.reference(home, files, all_one)
    # Of four in a row: one is changed, one is changed and moved to the end, one goes, one stays.
    two = {n: 2 if n % 4 < 2 else 1 for n in range(COUNT) if n % 4 != 2}
    two |= dict.fromkeys(range(COUNT, COUNT + 6), 2)
    second = workload.reference(home, files, two)
    victim = workload.names([3])[0]
    third = {name: value for name, value in first.items() if name != victim}

    def indexed(versions: Mapping[int, int]) -> None:
        shutil.rmtree(files, ignore_errors=True)
        workload.write(files, versions)
        with workload.opened(db) as index:
            index.add(files)

    indexed(all_one)
    shutil.move(db, before)
    _many_dead(files, home / "dead")

    def fresh(start: Path | None, versions: Mapping[int, int]) -> Callable[[], None]:
        def prepare() -> None:
            for old in (files, db):
                shutil.rmtree(old, ignore_errors=True)
            workload.write(files, versions)
            if start is not None:
                shutil.copytree(start, db)

        return prepare

    def add(told: child.Told) -> None:
        name = ""

        def step(now: Step) -> None:
            nonlocal name
            if now.name != name:  # the one before is stored
                if name:
                    told.finished(Path(name).name)
                name = now.name

        with workload.opened(db) as index:
            index.add(files, progress=step)

    def remove(told: child.Told) -> None:
        with workload.opened(db) as index:
            index.remove(files / victim)

    def either(old: Held, new: Held, done: list[str]) -> dict[str, list[object]]:
        return {
            name: [new.get(name)] if name in done else [old.get(name), new.get(name)]
            for name in old.keys() | new.keys()
        }

    return {
        "indexing": Work(fresh(None, all_one), add, lambda done: either({}, first, done), first),
        "updating": Work(fresh(before, two), add, lambda done: either(first, second, done), second),
        "vacuuming": Work(
            fresh(home / "dead", all_one), remove, lambda done: either(first, third, done), third
        ),
    }


def _many_dead(files: Path, db: Path) -> None:
    """An index of the first version, most of whose rows belong to documents that are gone."""
    from milepost.index import Index

    plain = Index._vacuum
    Index._vacuum = lambda _: None  # type: ignore[method-assign]
    try:
        for version in (2, 3, 2, 1):
            workload.write(files, dict.fromkeys(range(COUNT), version))
            with workload.opened(db) as index:
                index.add(files)
    finally:
        Index._vacuum = plain  # type: ignore[method-assign]


def _seconds(home: Path, work: Work, told: child.Told) -> float:
    """Median time of the work, undisturbed."""
    took = []
    for _ in range(3):
        pid = _started(home, work, told)
        begun = time.perf_counter()
        code = child.ended(pid)
        took.append(time.perf_counter() - begun)
        if code:
            raise RuntimeError((home / "output").read_text(encoding="utf-8"))
    return statistics.median(took)


def _started(home: Path, work: Work, told: child.Told) -> int:
    work.prepare()
    told.clear()

    def deed() -> None:
        told.watch()
        told.begin()
        work.do(told)

    pid = child.start(deed, home / "output")
    while not told.begun:
        time.sleep(0.0005)
    return pid


def _kill(
    home: Path, work: Work, told: child.Told, rng: random.Random, seconds: float
) -> Record:
    """Kill at a random moment, check, go on, and compare with an undisturbed run."""
    db = home / "db"
    for attempt in range(ATTEMPTS):
        pid = _started(home, work, told)
        moment = rng.random() * seconds
        time.sleep(moment)
        os.kill(pid, signal.SIGKILL)
        code = child.ended(pid)
        if code == -signal.SIGKILL:
            break
        if code:  # it had ended, and badly
            return {"phase": "none", "outcome": "failed by itself", "attempts": attempt + 1,
                    "faults": [(home / "output").read_text(encoding="utf-8")[-300:]]}  # fmt: skip
    else:
        return {"phase": "none", "outcome": "never killed", "attempts": ATTEMPTS, "faults": []}
    phase, done = told.doing(), told.all_finished()
    left = workload.leftovers(db) if (db / workload.FILE).is_file() else []
    faults = guarded(lambda: workload.index_faults(db, work.allowed(done)))
    faults += [f"{count} orphans" for count in [child.orphans()] if count]
    faults += [f"next run: {fault}" for fault in guarded(lambda: _next(db, work, told))]
    return {"phase": phase, "moment": round(moment / seconds, 3), "stored": len(done),
            "left": left, "outcome": "killed", "attempts": attempt + 1, "faults": faults}  # fmt: skip


def _next(db: Path, work: Work, told: child.Told) -> list[str]:
    """The same work again, here and to its end; what is wrong then."""
    work.do(told)
    faults = workload.index_faults(db, {name: [value] for name, value in work.after.items()})
    with workload.opened(db) as index:
        index._store.vacuum()
    faults += [f"{name} is left for good" for name in workload.leftovers(db)]
    return faults


def guarded(check: Callable[[], list[str]]) -> list[str]:
    """What a check finds, or how it failed."""
    try:
        return check()
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


def summary(log: Log) -> Record:
    """Counts of all kills."""
    records = log.of("kills")
    killed = [record for record in records if record["outcome"] == "killed"]
    return {
        "cases": len(records),
        "outcomes": dict(Counter(record["outcome"] for record in records)),
        "kinds": dict(Counter(record["kind"] for record in killed)),
        "phases": counted(killed, "kind", "phase"),
        "ended before the kill": sum(record["attempts"] - 1 for record in records),
        "moments": [round(at([record["moment"] for record in killed], q), 2) for q in (0.1, 0.5, 0.9)],
        "documents stored before": sum(record.get("stored", 0) for record in killed),
        "left until the next vacuum": sum(bool(record.get("left")) for record in killed),
        "faults": sum(bool(record["faults"]) for record in records),
    }  # fmt: skip
