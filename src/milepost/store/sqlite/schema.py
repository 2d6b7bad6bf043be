"""The tables, how they are made, and how a file is known to be an index of the right model."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from milepost.errors import IndexDamaged, NotAnIndex
from milepost.store.check import Model, check_model, check_version
from milepost.store.sqlite import segment

FILE = "milepost.sqlite"
APPLICATION = 0x4D504F53  # "MPOS"
# 10 kept names that are not UTF-8 as bytes, 9 had each number in one form and no dates or units, 8
# had numbers as they were written, 7 read rows of tables without the names of their columns, 6
# stemmed no word but English ones, 5 had no facts, 4 no properties, 3 said not how files were read
VERSION = 11

# The record of a document is narrow and its bulk lies in ``bodies`` and ``pieces``, so that a list
# of all documents reads few pages. ``facts`` are what filters ask for, see ``store.conditions``;
# ``properties`` what is given back. ``runs`` outlive their documents until vacuum.
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, source TEXT, hash TEXT NOT NULL,
    size INTEGER, mtime_ns INTEGER, characters INTEGER NOT NULL, sentences INTEGER NOT NULL,
    terms INTEGER NOT NULL, first INTEGER NOT NULL, notes TEXT NOT NULL,
    options TEXT NOT NULL, properties TEXT NOT NULL);
CREATE INDEX documents_first ON documents (first, sentences);
CREATE TABLE facts (
    document INTEGER NOT NULL, key TEXT NOT NULL, place INTEGER NOT NULL, text TEXT, number REAL,
    flag INTEGER, dated TEXT, PRIMARY KEY (document, key, place)) WITHOUT ROWID;
CREATE INDEX facts_text ON facts (key, substr(text, 1, 64));
CREATE INDEX facts_number ON facts (key, number, dated) WHERE number IS NOT NULL;
CREATE INDEX facts_dated ON facts (key, dated) WHERE dated IS NOT NULL;
CREATE TABLE bodies (
    document INTEGER PRIMARY KEY, bounds BLOB NOT NULL, lengths BLOB NOT NULL,
    vocab_coverage BLOB NOT NULL, paragraph_starts BLOB NOT NULL, marks BLOB NOT NULL,
    tokens BLOB NOT NULL);
CREATE TABLE pieces (
    document INTEGER NOT NULL, number INTEGER NOT NULL, text BLOB NOT NULL,
    PRIMARY KEY (document, number));
CREATE TABLE runs (
    first INTEGER PRIMARY KEY, count INTEGER NOT NULL, place INTEGER NOT NULL,
    crc INTEGER NOT NULL, live INTEGER NOT NULL);
CREATE VIRTUAL TABLE lexicon USING fts5 (tokens, content='', tokenize='ascii');
CREATE VIRTUAL TABLE instances USING fts5vocab (lexicon, instance);
"""


@dataclass(frozen=True, slots=True)
class Meta:
    """What the index says of itself.

    Each vacuum starts a segment file of a new ``generation``. ``next_row``, the number that the
    next row will get, never falls; in the file ``next_place`` rows count, what lies beyond is
    garbage. ``change``, the number of the last transaction that wrote, tells one state from the
    next.
    """

    fingerprint: str
    dimensions: int
    generation: int
    next_row: int
    next_place: int
    change: int = 0
    documents: int = 0
    sentences: int = 0
    terms: int = 0
    dead: int = 0


def create(connection: sqlite3.Connection, folder: Path, model: Model, patience_s: float) -> None:
    """Make the tables and the empty segment; does nothing where another process was faster."""
    _use_log(connection, patience_s)
    connection.execute("BEGIN IMMEDIATE")
    if is_blank(connection):
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
        write_meta(connection, Meta(*model, 0, 0, 0))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        segment.create(folder / segment.file_name(0))
    connection.execute("COMMIT")


def _use_log(connection: sqlite3.Connection, patience_s: float) -> None:
    """Let readers read beside a writer (WAL).

    SQLite refuses this at once while another process does the same, whatever the connection's
    time-out; so the waiting is done here.
    """
    last = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > last:
                raise
            time.sleep(0.005)
        else:
            return


def is_blank(connection: sqlite3.Connection) -> bool:
    """Whether the file is a database in which nobody has made anything yet."""
    number = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return number == 0 and _pragma(connection, "application_id") == 0


def identify(connection: sqlite3.Connection, folder: Path) -> None:
    """Make sure that the file is an index that this version can read."""
    if _pragma(connection, "application_id") != APPLICATION:
        raise foreign(folder)
    version = _pragma(connection, "user_version")
    check_version(version, VERSION, str(folder), rebuild(folder))


def read_meta(connection: sqlite3.Connection, folder: Path) -> Meta:
    """Read what the index says of itself."""
    held = dict(connection.execute("SELECT key, value FROM meta"))
    try:
        return Meta(*(held[key] for key in Meta.__slots__))
    except KeyError as error:
        raise damaged(folder, f"{FILE} has lost {error}") from None


def read_own_meta(connection: sqlite3.Connection, folder: Path, model: Model) -> Meta:
    """Read what the index says of itself; it must have been made by the model in use."""
    meta = read_meta(connection, folder)
    check_model((meta.fingerprint, meta.dimensions), model, str(folder), rebuild(folder))
    return meta


def write_meta(connection: sqlite3.Connection, meta: Meta) -> None:
    """Write what the index says of itself."""
    connection.executemany(
        "REPLACE INTO meta VALUES (?, ?)", [(key, getattr(meta, key)) for key in Meta.__slots__]
    )


def damaged(folder: Path, what: str) -> IndexDamaged:
    """Make the error for an index whose parts do not agree."""
    return IndexDamaged(f"the index {folder} is damaged: {what}", rebuild(folder))


def foreign(folder: Path) -> NotAnIndex:
    """Make the error for a file of another program under our name."""
    return NotAnIndex(
        f"{folder / FILE} is not a Milepost index", "choose another folder with --db FOLDER"
    )


def rebuild(folder: Path) -> str:
    """Spell the command that makes an index anew."""
    return f"milepost index PATH… --db {folder} --rebuild"


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
