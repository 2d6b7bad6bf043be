"""The folder: how its database is found, opened, made and erased.

The database file is opened by SQLite alone. Closing any other handle of it would drop the locks
that SQLite holds on it for this whole process.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path

from milepost.errors import NewerSchema, NotAnIndex, OldSchema
from milepost.store.check import Model
from milepost.store.sqlite import schema, segment
from milepost.store.sqlite.faults import kind, translated


def database(folder: Path) -> Path:
    """Path of the folder's database."""
    path = folder / schema.FILE
    if not path.is_file():
        taken = folder.is_file() or (folder.is_dir() and _is_taken(folder))
        hint = "name the folder of an index" if taken else f"milepost index PATH… --db {folder}"
        raise NotAnIndex(f"{folder} is not a Milepost index", hint)
    return path


def _is_taken(folder: Path) -> bool:
    """Whether a folder holds more than files that were uploaded to an index that was in it."""
    return any(each.name != "uploads" for each in folder.iterdir())


def connect(path: Path, query: str, patience_s: float) -> sqlite3.Connection:
    """Open a database file by URI; transactions are begun and ended by hand."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        timeout=patience_s,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.create_function("fits", 2, _fits, deterministic=True)
    return connection


def _fits(text: str | None, pattern: str) -> bool:
    """Whether a text fits a pattern; for those that SQLite reads in another way."""
    return text is not None and fnmatchcase(text, pattern)


def log_size(path: Path) -> int:
    """Bytes of the log that SQLite has not yet folded into the file, or 0."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except FileNotFoundError:
        return 0


def prepare(folder: Path, model: Model, patience_s: float) -> None:
    """Make an index in a folder that is missing, empty, or holds an index already."""
    path = folder / schema.FILE
    with translated(folder):
        if folder.exists() and not folder.is_dir():
            raise NotAnIndex(f"{folder} is a file", "choose a folder with --db FOLDER")
        folder.mkdir(parents=True, exist_ok=True)
        # In this order: another process may make the index between the two.
        if _is_taken(folder) and not path.exists():
            raise NotAnIndex(
                f"{folder} holds other files and no index",
                "choose an empty or new folder with --db FOLDER",
            )
        if path.exists():
            # A process killed while it made the index leaves a database without tables.
            connection = connect(path, "mode=ro", patience_s)
            try:
                if not schema.is_blank(connection):
                    return
            except sqlite3.OperationalError:
                return  # the reader says what is wrong with it
            finally:
                connection.close()
        with closing(connect(path, "mode=rwc", patience_s)) as connection:
            schema.create(connection, folder, model, patience_s)


def erase(folder: Path, *, patience_s: float) -> None:
    """Remove the files of an index, of any model, schema or state, and no others.

    Beside other files a blank database stays.
    """
    path = database(folder)
    with translated(folder):
        connection = connect(path, "mode=rw", patience_s)
        try:
            connection.execute("BEGIN IMMEDIATE")
            if not schema.is_blank(connection):
                schema.identify(connection, folder)
        except (NewerSchema, OldSchema):
            pass  # erased all the same: that is what was asked for
        except sqlite3.DatabaseError as error:
            if kind(error) != sqlite3.SQLITE_CORRUPT:
                raise
        finally:
            connection.close()
        # The database last: whatever a kill leaves is then still known as an index.
        for old in segment.files(folder):
            old.unlink(missing_ok=True)
        for suffix in ("-journal", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        if all(each == path for each in folder.iterdir()):
            path.unlink(missing_ok=True)
        else:  # beside other files, such as uploads, no index could be made again
            blank = path.with_name(path.name + "-blank")
            blank.touch()
            blank.replace(path)
