"""Answers of language models on disk, so that none is asked for twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from milepost.chat import Completion, Endpoint, Message
from milepost.errors import InputError

_OTHER = "another --cache FOLDER"

_FORMAT = 1
"""Of the file (SQLite's ``user_version``): another one when what is in it changes, or a key."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """What is sent beside the messages; None leaves it to the endpoint.

    Attributes:
        temperature: 0 gives the likeliest answer each time.
        max_tokens: of the answer.
    """

    temperature: float | None = 0.0
    max_tokens: int | None = 128


class KeptAnswers:
    """A file of answers; one is complete or absent, and stays when the machine fails.

    Several processes may use the file at once. It holds answers, the name of their model and a
    digest of what was asked; neither keys nor addresses.

    Args:
        path: the file.

    Raises:
        InputError: the file cannot be written, is of another format, or is not such a file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connect()) as file, file:
                self._prepare(file)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{path} cannot hold answers: {error}", _OTHER) from error

    def get(self, key: str) -> Completion | None:
        """The answer of a key, None where it is not there.

        Raises:
            InputError: the file is damaged.
        """
        try:
            with closing(self._connect()) as file:
                row = file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            text, reason = json.loads(row[0])
            return Completion(text, reason)
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise InputError(
                f"{self._path} is damaged: {error}", f"delete it, or {_OTHER}"
            ) from error

    def put(self, key: str, model: str, answer: Completion) -> None:
        """Keep an answer.

        Raises:
            InputError: the file cannot be written.
        """
        # JSON, because an answer may hold half a pair of surrogates, which SQLite refuses.
        line = json.dumps([answer.text, answer.reason])
        try:
            with closing(self._connect()) as file, file:
                file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, model, line))
        except sqlite3.Error as error:
            raise InputError(
                f"{self._path} cannot be written: {error}", f"free some space, or {_OTHER}"
            ) from error

    def _prepare(self, file: sqlite3.Connection) -> None:
        """Give a new file its format; refuse a file of another one."""
        file.execute("BEGIN IMMEDIATE")  # two processes may meet a new file at once
        (found,) = file.execute("PRAGMA user_version").fetchone()
        if found == _FORMAT:
            return
        if found or file.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise InputError(
                f"{self._path} is a cache of format {found}; this version of Milepost has format "
                f"{_FORMAT}",
                f"{_OTHER}, or delete it to have all answers asked for again",
            )
        file.execute(
            "CREATE TABLE answers (key TEXT PRIMARY KEY, model TEXT, answer TEXT) WITHOUT ROWID"
        )
        file.execute(f"PRAGMA user_version = {_FORMAT}")

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=60)


def key_of(endpoint: Endpoint, messages: Sequence[Message], sampling: Sampling) -> str:
    """A digest of everything that an answer depends on.

    The address is the one that may be shown, without its query: neither that nor the API key
    changes the answer, and either may be secret.
    """
    asked = [
        endpoint.url,
        endpoint.model,
        list(messages),
        sampling.temperature,
        sampling.max_tokens,
    ]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
