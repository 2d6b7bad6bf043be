"""Small documents in two versions, and what an index of them must hold."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from milepost.index import Index
from milepost.index import open as open_index
from milepost.store.sqlite import segment
from milepost.store.sqlite.schema import FILE
from milepost.testing import fake_encoder
from support.pdf_writer import PdfPage, write_pdf
from support.small_index import everything

MODEL = fake_encoder()
SUFFIXES = ("txt", "md", "html", "md", "txt", "html", "txt", "pdf")
TIME = 1_700_000_000

Held = Mapping[str, tuple[object, ...]]
"""Everything that an index holds of each document, by file name; see ``everything``."""


def content(number: int, version: int, sentences: int = 30) -> tuple[str, bytes]:
    suffix = SUFFIXES[number % len(SUFFIXES)]
    lines = [
        f"Sentence {i} of note {number}, version {version}: boat {(i * 7 + number) % 50} came in."
        for i in range(sentences)
    ]
    name = f"note{number:03}.{suffix}"
    if suffix == "pdf":
        page = PdfPage()
        page.lines(50, 740, lines[: sentences // 3])  # these take long to read
        return name, write_pdf([page])
    if suffix == "html":
        return name, "".join(["<html><body>", *(f"<p>{x}</p>" for x in lines)]).encode()
    head = "# Notes\n\n" if suffix == "md" else ""
    return name, (head + "\n\n".join(lines)).encode()


def write(folder: Path, versions: Mapping[int, int]) -> None:
    """Write documents (number → version); their times of change tell the versions apart."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, version in versions.items():
        name, data = content(number, version)
        (folder / name).write_bytes(data)
        os.utime(folder / name, (TIME + version, TIME + version))


def opened(db: Path, *, read_only: bool = False) -> Index:
    return open_index(db, model=MODEL, read_only=read_only)


def held(db: Path) -> Held:
    with opened(db, read_only=True) as index:
        return {Path(name).name: value for name, value in everything(index).items()}


def reference(home: Path, files: Path, versions: Mapping[int, int]) -> Held:
    """What an undisturbed run makes of these documents at this place."""
    shutil.rmtree(files, ignore_errors=True)
    write(files, versions)
    db = home / "reference"
    shutil.rmtree(db, ignore_errors=True)
    with opened(db) as index:
        index.add(files)
    found = held(db)
    shutil.rmtree(db)
    shutil.rmtree(files)
    return found


def index_faults(
    db: Path,
    allowed: Mapping[str, Iterable[object]],
    read: Callable[[Any], object] = lambda value: value,
) -> list[str]:
    """What is wrong with an index.

    Args:
        db: its folder.
        allowed: what each document may be, by file name; None among it: it may be missing.
        read: what is compared of a document.
    """
    if not (db / FILE).is_file():
        return [f"{name} is missing" for name, may in allowed.items() if None not in may]
    faults = database_faults(db)
    if blank(db):  # killed while it was made: the next one who opens it makes it
        found: Held = {}
    else:
        with opened(db, read_only=True) as index:
            found = {Path(name).name: value for name, value in everything(index).items()}
            with index.snapshot() as state:
                counted, infos = state.statistics().sentences, state.documents()
                rows = sum(len(value[4]) for value in found.values())  # type: ignore[arg-type]
                if counted != rows or len(infos) != len(found):
                    faults.append(f"{counted} sentences are counted and {rows} held")
                import numpy as np

                vector = np.ones(index.model.manifest.dimensions, np.float32)
                if len(state.score_inputs(vector, [], infos).similarity) != rows:
                    faults.append("not every sentence is found by its vector")
                boats = sum(
                    "boat" in value[0][start:end]  # type: ignore[index]
                    for value in found.values()
                    for start, end in value[4]  # type: ignore[attr-defined]
                )
                if boats and len(state.postings(["boat"])["boat"][0]) != boats:
                    faults.append("not every sentence is found by its words")
    for name, may in allowed.items():
        if read(found.get(name)) not in list(may):
            faults.append(f"{name} is {'wrong' if name in found else 'missing'}")
    faults += [f"{name} should not be there" for name in found if name not in allowed]
    return faults


def database_faults(db: Path) -> list[str]:
    connection = sqlite3.connect(db / FILE)
    try:
        said = connection.execute("PRAGMA integrity_check").fetchall()
        faults = [] if said == [("ok",)] else [f"integrity_check: {said[:3]}"]
        if not blank(db):
            connection.execute("INSERT INTO lexicon (lexicon) VALUES ('integrity-check')")
            connection.rollback()
    except sqlite3.Error as error:
        return [f"{FILE}: {error}"]
    finally:
        connection.close()
    return faults


def leftovers(db: Path) -> list[str]:
    """Files of a closed index beside the database and its one segment."""
    if not (db / FILE).is_file() or blank(db):
        return []
    with sqlite3.connect(db / FILE) as connection:
        generation = connection.execute(
            "SELECT value FROM meta WHERE key = 'generation'"
        ).fetchone()[0]
    connection.close()
    known = {FILE, f"{FILE}-wal", f"{FILE}-shm", segment.file_name(generation), "uploads"}
    return sorted(path.name for path in db.iterdir() if path.name not in known)


def blank(db: Path) -> bool:
    connection = sqlite3.connect(db / FILE)
    try:
        return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    finally:
        connection.close()
