"""A data folder of Zotero: its tables, with the names and types that Zotero 5 to 7 gives them."""

import sqlite3
from contextlib import closing
from pathlib import Path

TABLES = """
CREATE TABLE groups (groupID INTEGER PRIMARY KEY, libraryID INT NOT NULL UNIQUE, name TEXT NOT NULL,
  description TEXT NOT NULL, version INT NOT NULL);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL,
  dateAdded TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, libraryID INT NOT NULL, key TEXT NOT NULL,
  version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0, UNIQUE (libraryID, key));
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT,
  contentType TEXT, charsetID INT, path TEXT, syncState INT DEFAULT 0, storageModTime INT,
  storageHash TEXT);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT,
  UNIQUE (lastName, firstName, fieldMode));
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE itemCreators (itemID INT NOT NULL, creatorID INT NOT NULL,
  creatorTypeID INT NOT NULL DEFAULT 1, orderIndex INT NOT NULL DEFAULT 0,
  PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex), UNIQUE (itemID, orderIndex));
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY,
  dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
INSERT INTO groups VALUES (77, 2, 'Bees', '', 0);
INSERT INTO fields VALUES (1, 'title', NULL), (6, 'date', NULL), (26, 'url', NULL),
  (111, 'caseName', NULL), (95, 'dateDecided', NULL);
INSERT INTO creatorTypes VALUES (1, 'contributor'), (8, 'author'), (10, 'editor');
"""

DARWIN, SOCIETY = ("Darwin", "Charles"), ("Royal Society", "")


class ZoteroLibrary:
    """Writes a data folder; its database stays closed between calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "storage").mkdir(parents=True)
        (folder / "translators").mkdir()
        (folder / "translators" / "x.js").write_text("var x;\n", encoding="utf-8")
        (folder / "zotero.sqlite.bak").write_bytes(b"SQLite format 3\0")
        with closing(self._open()) as database:
            database.executescript(TABLES)
        self._last = 0

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / "zotero.sqlite")

    def run(self, *statements: tuple[object, ...]) -> None:
        """Run statements, each with its values, and commit."""
        with closing(self._open()) as database, database:
            for statement, *values in statements:
                database.execute(str(statement), values)

    def _add(self, table: str, **row: object) -> None:
        """Add a row, where there is none like it."""
        marks = ", ".join("?" * len(row))
        columns = ", ".join(row)
        self.run((f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", *row.values()))

    def _new(self, kind: int, library: int, key: str) -> int:
        self._last += 1
        number = self._last
        key = f"{key}{number:04}"
        self._add("items", itemID=number, itemTypeID=kind, libraryID=library, key=key)
        return number

    def item(
        self,
        fields: dict[int, str],
        people: list[tuple[int, tuple[str, str]]] = [],  # noqa: B006 - not changed
        library: int = 1,
    ) -> int:
        """Add a work, its fields by number and its creators by type; returns its number."""
        number = self._new(2, library, "ITEM")
        value_of = "INSERT INTO itemData SELECT ?, ?, valueID FROM itemDataValues WHERE value = ?"
        for field, value in fields.items():
            self._add("itemDataValues", value=value)
            self.run((value_of, number, field, value))
        made_by = "INSERT INTO itemCreators SELECT ?, creatorID, ?, ? FROM creators "
        for at, (kind, (family, given)) in enumerate(people):
            self._add("creators", firstName=given, lastName=family, fieldMode=int(not given))
            self.run((f"{made_by} WHERE lastName = ?", number, kind, at, family))
        return number

    def attach(
        self, parent: int | None, path: str, kind: str, data: bytes | None = None, library: int = 1
    ) -> int:
        """Add an attachment, and where data is given its file; returns its number."""
        number = self._new(3, library, "FILE")
        about = {"itemID": number, "parentItemID": parent, "contentType": kind, "path": path}
        mode = 0 if path.startswith("storage:") else 2
        self._add("itemAttachments", linkMode=mode, **about)
        if data is not None:
            folder = self.folder / "storage" / f"FILE{number:04}"
            place = folder / path.removeprefix("storage:")
            place.parent.mkdir()
            place.write_bytes(data)
            (place.parent / ".zotero-ft-cache").write_text("cached", encoding="utf-8")
        return number
