"""Kill a server while it takes uploads, indexes them and removes documents; start another."""

import http.client
import json
import os
import random
import shutil
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from faults import child, workload
from faults.log import Record
from faults.workload import Held

UPLOADS = 10
"""Files that are uploaded, one after the other; the first are then replaced, others removed."""

REPLACED, REMOVED = (0, 1, 2), (4, 5)
ATTEMPTS = 20


@dataclass
class Sent:
    """What the client knows: the versions that each document may have.

    Attributes:
        versions: by number; None: it may be missing.
        answered: requests that were answered with success.
    """

    versions: dict[int, list[int | None]] = field(default_factory=dict)
    answered: int = 0


def serve(db: Path, state: child.ChildState) -> int:
    from milepost.server.app import create_app
    from milepost.server.running import listen, run
    from milepost.server.settings import ServeSettings

    state.watch()
    settings = ServeSettings(port=0)
    socket = listen(settings)
    with workload.opened(db) as index:
        app = create_app(index, settings, uploads=db / "uploads")
        state.shared.port = socket.getsockname()[1]
        state.shared.begun = 1
        run(app, settings, socket, show=False, quiet=True, note=lambda _: None)
    return 0


def kill(
    home: Path, state: child.ChildState, rng: random.Random, took: dict[str, tuple[float, int]]
) -> Record:
    """Kill a server at a random moment; start another, and compare with what was accepted."""
    db, files = home / "served", home / "served" / "uploads"
    right = references(home, files)
    load()
    if "serving" not in took:
        took["serving"] = _undisturbed(home, db, state), 0
    seconds = took["serving"][0]
    attempts = 0
    while attempts < ATTEMPTS:
        attempts += 1
        shutil.rmtree(db, ignore_errors=True)
        pid = started(home, db, state)
        moment = rng.random() * seconds
        killer = threading.Timer(moment, os.kill, (pid, signal.SIGKILL))
        killer.start()
        sent = Sent()
        with suppress(OSError, http.client.HTTPException):
            send(state.shared.port, sent)
        early = killer.is_alive()
        killer.join()  # no thread of ours is there when the next child is forked
        child.ended(pid)
        if not early or state.doing() != "between":
            break
    else:
        return {"phase": "none", "outcome": "never killed", "attempts": ATTEMPTS, "faults": []}
    phase = state.doing()
    faults = [f"{count} orphans" for count in [child.orphans()] if count]
    faults += _stored(db, sent, right)
    faults += [f"next server: {fault}" for fault in restarted(home, db, state, sent, right)]
    return {"phase": phase, "moment": round(moment / seconds, 3), "stored": sent.answered,
            "left": [], "outcome": "killed", "attempts": attempts, "faults": faults}  # fmt: skip


@cache
def load() -> None:
    """Import here what a server needs, so that no child does."""
    import asyncio

    import uvicorn

    from milepost.server.app import create_app
    from milepost.testing import fake_index

    with suppress(ImportError):
        import uvloop  # noqa: F401
    with fake_index() as index:
        app = create_app(index, uploads=Path("nowhere"))
        app.openapi()
        config = uvicorn.Config(app)
        config.load()
    asyncio.new_event_loop().close()


@cache
def references(home: Path, files: Path) -> dict[int, Held]:
    """What the index holds of uploads, by version."""
    return {
        version: workload.reference(home, files, dict.fromkeys(range(UPLOADS), version))
        for version in (1, 2)
    }


def started(home: Path, db: Path, state: child.ChildState) -> int:
    """A server that listens; its process."""
    state.clear()
    pid = child.start(lambda: serve(db, state), home / "output")
    until = time.monotonic() + 60
    while True:
        with suppress(OSError, http.client.HTTPException):
            if state.shared.begun and ask(state.shared.port, "GET", "/health")[0] == 200:
                return pid
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
            raise TimeoutError((home / "output").read_text(encoding="utf-8"))
        time.sleep(0.002)


def ask(port: int, method: str, path: str, body: bytes = b"", kind: str = "") -> tuple[int, bytes]:
    """Status and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body or None, {"Content-Type": kind} if kind else {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def upload(port: int, name: str, data: bytes) -> tuple[int, bytes]:
    head = f'--edge\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + data + b"\r\n--edge--\r\n"
    return ask(port, "POST", "/documents", body, "multipart/form-data; boundary=edge")


def send(port: int, sent: Sent) -> list[str]:
    """Upload, replace and remove, and note what was answered; then wait for the index.

    Returns:
        What the server said of requests that it refused.
    """
    refused = []
    for version, numbers in ((1, range(UPLOADS)), (2, REPLACED)):
        for number in numbers:
            before = sent.versions.get(number, [None])
            sent.versions[number] = [*before, version]
            status, answer = upload(port, *workload.content(number, version))
            if status == 202:
                sent.versions[number] = [version]
                sent.answered += 1
            else:
                refused.append(answer.decode())
    folder = json.loads(ask(port, "GET", "/documents")[1])  # only those that are indexed by now
    known = {each["name"]: each["id"] for each in folder["documents"]}
    for number in REMOVED:
        if identity := known.get(workload.content(number, 1)[0]):
            sent.versions[number] = [*sent.versions[number], None]
            status, answer = ask(port, "DELETE", f"/documents/{identity}")
            if status == 200:
                sent.versions[number] = [None]
                sent.answered += 1
            else:
                refused.append(answer.decode())
    idle(port)
    return refused


def idle(port: int, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not json.loads(ask(port, "GET", "/indexing")[1])["idle"]:
        if time.monotonic() > until:
            raise TimeoutError("the server does not come to rest")
        time.sleep(0.01)


def restarted(
    home: Path, db: Path, state: child.ChildState, sent: Sent, right: dict[int, Held]
) -> list[str]:
    """Start a server on what is left, let it catch up and end it; what is wrong then."""
    pid = started(home, db, state)
    try:
        idle(state.shared.port)
    finally:
        os.kill(pid, signal.SIGTERM)
        code = child.ended(pid)
    faults = [f"exit code {code}"] if code else []
    faults += _stored(db, sent, right, complete=True)
    faults += [f"{path.name} is left" for path in db.glob("*/.part-*")]
    faults += [f"{name} is left for good" for name in workload.leftovers(db)]
    faults += [f"{count} orphans" for count in [child.orphans()] if count]
    said = (home / "output").read_text(encoding="utf-8")
    return faults + ([f"it said {said[-200:]!r}"] if said.strip() else [])


def _stored(db: Path, sent: Sent, right: dict[int, Held], *, complete: bool = False) -> list[str]:
    """Compare files and index with what was accepted.

    Args:
        db: the index.
        sent: what the client knows.
        right: what the index holds of each version.
        complete: the server was at rest: the index holds just what the files say.
    """
    faults, allowed = [], {}
    for number, versions in sent.versions.items():
        name, _ = workload.content(number, 1)
        path = db / "uploads" / name
        found = path.read_bytes() if path.is_file() else None
        may = {v: workload.content(number, v)[1] if v else None for v in versions}
        is_version = [version for version, data in may.items() if data == found]
        if not is_version:
            faults.append(f"upload {name} is {'wrong' if found is not None else 'missing'}")
        kept = is_version if complete else [1, 2, None]  # it may be behind
        allowed[name] = [_unsigned(right[v].get(name)) if v else None for v in kept]
    return faults + workload.index_faults(db, allowed, read=_unsigned)


def _unsigned(value: tuple[object, ...] | None) -> tuple[object, ...] | None:
    """Everything but size and time of change, which are new for each upload."""
    return None if value is None else (*value[:3], *value[4:])


def _undisturbed(home: Path, db: Path, state: child.ChildState) -> float:
    """Seconds from the first request to rest."""
    shutil.rmtree(db, ignore_errors=True)
    pid = started(home, db, state)
    begun = time.perf_counter()
    send(state.shared.port, Sent())
    took = time.perf_counter() - begun
    os.kill(pid, signal.SIGTERM)
    if code := child.ended(pid):
        raise RuntimeError(f"{code}: {(home / 'output').read_text(encoding='utf-8')}")
    child.orphans()
    return took
