"""Three small texts, a model that needs no weights, and all that an index holds."""

import sqlite3
from pathlib import Path

from milepost.index import Index
from milepost.testing import fake_encoder
from support.files import write_files

MODEL = fake_encoder()
BEES = "Bees build cells of wax. The queen lays the eggs. A swarm leaves the hive in summer.\n"
SHIPS = "# Harbours\n\nA ship needs deep water. Tugs pull large ships to the quay.\n"
GOLD = "Gold melts at 1064 degrees. It is heavier than lead, and it never rusts.\n"


def write_notes(folder: Path, bees: str = BEES, ships: str = SHIPS) -> Path:
    return write_files(folder, {"bees.txt": bees, "ships.md": ships, "gold.txt": GOLD})


def everything(index: Index) -> dict[str, tuple[object, ...]]:
    """All that an index holds, to compare two of them; rows may differ."""
    held = {}
    with index._store.snapshot() as state:
        for info in state.documents():
            part, vectors = state.sentences([info]), state.vectors([info])
            text = state.texts([(info, 0, info.characters)])[0]
            held[info.name] = (text, state.marks([info])[0], info.hash, info.signature)
            held[info.name] += (part.spans.tolist(), part.lengths.tolist(), vectors.tobytes())
    return held


def write_schema(folder: Path, schema: int) -> Path:
    """Make of an index in a folder one of another schema: another number, and other columns."""
    path = folder / "milepost.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE bodies RENAME COLUMN vocab_coverage TO familiar")
    connection.execute("ALTER TABLE bodies DROP COLUMN paragraph_starts")
    connection.execute(f"PRAGMA user_version = {schema}")
    connection.close()
    return path
