"""Read hostile files as the server reads them: in another process, with limits."""

import os
import random
import re
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from faults import crafted
from faults.log import Log, Record, at, counted, totals
from faults.mutations import Case, flip, make
from faults.originals import originals
from milepost.documents.isolated import Isolated
from milepost.documents.reader_process import read_plain
from milepost.documents.recognition import check_installed
from milepost.errors import MissingExtra, UnreadableFile
from milepost.index import Index
from milepost.testing import fake_index
from milepost.types import READ_DEFAULTS, Document

OCR_EVERY = 100
"""One case in so many is a picture or a scan whose text is recognised: it takes seconds."""

INDEXED = 20_000
"""Characters of a text that is also split, encoded and stored; longer ones are only read."""

LONGEST_MESSAGE = 500

FAILED = "failed in the process that asked"
SLOW = "took too long, named"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Limits:
    """What one file may cost.

    Attributes:
        seconds: without text recognition.
        recognising: seconds with it.
        memory: bytes of address space of the process that reads.
    """

    seconds: float = 30.0
    recognising: float = 120.0
    memory: int = 3 << 30


def run(log: Log, count: int, folder: Path | None, limits: Limits) -> None:
    small, large = originals(folder)
    ocr = _ocr_installed()
    Path(crafted.SECRET_FILE).write_text(crafted.SECRET, encoding="utf-8")
    index = fake_index()
    begun = Path.cwd()
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)  # a file that is written beside us is seen
        # Loading the recognition's models needs address space of its own.
        plain, recogniser = Isolated(memory=limits.memory), Isolated()
        try:
            for number in log.left("files", count):
                recognise = ocr and number % OCR_EVERY == 0
                if recognise:
                    case, isolated = picture(log.seed, number, small), recogniser
                else:
                    case, isolated = make(log.seed, number, small, large), plain
                seconds = limits.recognising if recognise else limits.seconds
                found = attempt(case, Path(home), isolated, seconds, index, ocr=recognise)
                if found["seconds"] > seconds:  # or this process was stopped for a while
                    found = attempt(case, Path(home), isolated, seconds, index, ocr=recognise)
                log.add("files", number, kind=case.kind, original=case.original, ocr=recognise,
                        name=case.name, bytes=len(case.data), **found)  # fmt: skip
        finally:
            plain.close()
            recogniser.close()
            os.chdir(begun)


def picture(seed: int, number: int, small: Mapping[str, bytes]) -> Case:
    """A picture or scan, changed a little or not at all, so that there is text to recognise."""
    rng = random.Random(f"{seed}:ocr:{number}")
    original = rng.choice([name for name in sorted(small) if "scan" in name])
    name, data = original, small[original]
    if rng.random() < 0.8:
        name, data = flip(rng, name, data, small)
    return Case(f"{number:05}-{name}", data, "recognised", original)


def attempt(
    case: Case, home: Path, isolated: Isolated, seconds: float, index: Index, *, ocr: bool
) -> Record:
    path = home / case.name
    path.write_bytes(case.data)
    options = replace(READ_DEFAULTS, ocr="auto") if ocr else READ_DEFAULTS
    isolated.call(os.getpid)  # the start of a new process is not the file's time
    _forget_peak(isolated)
    begun = time.perf_counter()
    message, faults = "", []
    try:
        document = isolated.call_within(seconds, read_plain, path, options)
        outcome = "read"
        faults += document_faults(document)
        _store(index, document)
    except UnreadableFile as error:
        message = str(error)
        outcome = named(message, case.name)
        faults += message_faults(message)
    except Exception as error:  # what would have ended the server's thread
        faults.append("failed in the main process")
        outcome, message = FAILED, f"{type(error).__name__}: {error}"
    spent, peak = time.perf_counter() - begun, _peak(isolated)
    path.unlink()
    faults += [f"left {name}" for name in _strays(home)]
    return {"outcome": outcome, "message": message.replace(str(home), "…")[:300],
            "seconds": round(spent, 3), "peak_mib": peak, "faults": faults}  # fmt: skip


def named(message: str, name: str) -> str:
    """Which of the ways in which a file is refused."""
    if "crashed its reader" in message:
        return "crashed its reader, named"
    if "more than" in message and " s" in message and message.startswith("reading took"):
        return SLOW
    if "needs more memory" in message:
        return "needed too much memory, named"
    own = name in message and "its reader failed" not in message
    return "refused in one line" if own else "refused in one line, in a library's words"


def message_faults(message: str) -> list[str]:
    faults = []
    if len(message.splitlines()) > 1 or _CONTROL.search(message):
        faults.append("the message is not one line")
    if "Traceback" in message or 'File "' in message:
        faults.append("the message has a traceback")
    if len(message) > LONGEST_MESSAGE:
        faults.append("the message is long")
    return faults


def document_faults(document: Document) -> list[str]:
    faults = []
    try:
        document.text.encode("utf-8")
        "".join(document.notes).encode("utf-8")
    except UnicodeEncodeError:
        faults.append("text that cannot be stored")
    offsets = [mark.offset for mark in document.marks]
    if offsets != sorted(offsets) or any(not 0 <= at <= len(document.text) for at in offsets):
        faults.append("marks out of order")
    if list(document.blocks) != sorted(set(document.blocks)):
        faults.append("blocks out of order")
    if crafted.SECRET in document.text:
        faults.append("holds text of another file")
    for note in document.notes:
        faults += [f"note: {fault}" for fault in message_faults(note)]
    if any(_CONTROL.search(mark.value) for mark in document.marks):
        faults.append("control characters in a heading or place")
    return faults


def summary(log: Log) -> Record:
    records = log.of("files")
    plain = [record for record in records if not record["ocr"]]
    return totals(records) | {
        "kinds": counted(records, "kind"),
        "failed": sum(record["outcome"] == FAILED for record in records),
        "recognised": len(records) - len(plain),
        "seconds": {str(share): round(at([record["seconds"] for record in plain], share), 2)
                    for share in (0.5, 0.99, 1.0)},
        "peak_mib": {str(share): at([record["peak_mib"] for record in plain], share)
                     for share in (0.5, 0.99, 1.0)},
    }  # fmt: skip


def _store(index: Index, document: Document) -> None:
    if len(document.text) <= INDEXED:
        index.add(replace(document, source=None))
        index.remove(document.name)


def _ocr_installed() -> bool:
    with suppress(MissingExtra):
        check_installed()
        return True
    return False


def _strays(home: Path) -> list[str]:
    """Names that something wrote, here or where crafted names lead; they are removed."""
    out = Path(crafted.TRAVERSAL[1])
    found = [*home.iterdir(), *([out] if out.exists() else [])]
    for path in found:
        with suppress(OSError):
            path.unlink()
    return [path.name for path in found]


def _forget_peak(isolated: Isolated) -> None:
    """Let the system measure the process's peak anew."""
    with suppress(OSError, AttributeError):
        Path(f"/proc/{isolated._process.pid}/clear_refs").write_text("5", encoding="ascii")  # type: ignore[union-attr]


def _peak(isolated: Isolated) -> int:
    """MiB that the process held at most since ``_forget_peak``; 0 where it is gone."""
    with suppress(OSError, AttributeError):
        status = Path(f"/proc/{isolated._process.pid}/status").read_text(encoding="utf-8")  # type: ignore[union-attr]
        line = next((line for line in status.splitlines() if line.startswith("VmHWM")), "")
        return int(line.split()[1]) // 1024 if line else 0
    return 0
