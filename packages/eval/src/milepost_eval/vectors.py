"""Vectors on disk by content and fingerprint, so that a second run does not compute them."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.encoder import Encoder, Progress
from milepost.encoder.engine import ModelFolder
from milepost.encoder.engine.openvino import open_engine
from milepost.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.encoder.engine.base import Engine
    from milepost.encoder.engine.tokenizer import Tokenizer


class Vectors:
    """A file of vectors: key → ``(n, d)`` float16.

    Results are rounded to float16 whether they were in the file or not, so that the first and the
    second run give the same figures. Safe to kill: a row is complete or absent.

    Args:
        path: the file; None keeps nothing.

    Attributes:
        kept: how often vectors were found in the file.

    Raises:
        InputError: the file cannot be written, or is not such a file.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.kept = 0
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # No write-ahead log: two processes that switch a new file to it at once do not wait
            # for each other, whatever the time-out; one of them fails.
            with closing(self._connect()) as file, file:
                file.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, width INTEGER, "
                    "rows BLOB, tokens INTEGER) WITHOUT ROWID"
                )
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"{path} cannot hold vectors: {error}", "another --cache FOLDER"
            ) from error

    def get(
        self,
        fingerprint: str,
        texts: Sequence[str],
        make: Callable[[], tuple[NDArray[np.float32], int]],
    ) -> tuple[NDArray[np.float32], int]:
        """Vectors of the texts as this model and way of reading make them.

        Args:
            fingerprint: the model and whatever else the vectors depend on.
            texts: what is read.
            make: gives the vectors ``(n, d)`` and the tokens read, if they are not in the file yet.

        Returns:
            The vectors, ``(n, d)`` float32, and the tokens the model read for them.
        """
        import numpy as np

        digest = hashlib.sha256(fingerprint.encode())
        for text in texts:
            part = text.encode("utf-8", "surrogatepass")
            digest.update(len(part).to_bytes(8, "little") + part)
        key = digest.hexdigest()
        if self._path is not None:
            try:
                with closing(self._connect()) as file:
                    row = file.execute(
                        "SELECT width, rows, tokens FROM vectors WHERE key = ?", (key,)
                    ).fetchone()
                if row is not None:
                    known = np.frombuffer(row[1], np.float16).reshape(-1, row[0])
                    self.kept += 1
                    return known.astype(np.float32), int(row[2])
            except (sqlite3.Error, ValueError, TypeError) as error:
                raise InputError(
                    f"{self._path} is damaged: {error}", "delete it, or another --cache FOLDER"
                ) from error
        made, tokens = make()
        rounded = made.astype(np.float16)
        if self._path is not None:
            try:
                with closing(self._connect()) as file, file:
                    file.execute(
                        "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)",
                        (key, made.shape[1], rounded.tobytes(), tokens),
                    )
            except sqlite3.Error as error:
                raise InputError(
                    f"{self._path} cannot be written: {error}",
                    "free some space, or another --cache FOLDER",
                ) from error
        return rounded.astype(np.float32), tokens

    def _connect(self) -> sqlite3.Connection:
        file = sqlite3.connect(self._path or ":memory:", timeout=60)
        # A killed process loses nothing; what a power cut takes can be made again.
        file.execute("PRAGMA synchronous = OFF")
        return file


class CachedEncoder(Encoder):
    """An ``Encoder`` that takes known vectors from ``vectors``.

    Sentences and tokens are computed each time, which is fast; only the network is not run again.

    Args:
        folder: the model folder.
        engine: runs the graph.
        vectors: where vectors are kept.
        tokenizer: another one than the folder's.
    """

    def __init__(
        self,
        folder: ModelFolder,
        engine: Engine,
        vectors: Vectors,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        super().__init__(folder, engine, tokenizer, open_engine)
        self._vectors = vectors
        manifest = self.manifest
        # Everything that the vectors depend on beside the tokens.
        self._reading = (
            f"{manifest.fingerprint} {engine.description.partition(', ')[2].partition(',')[0]} "
            f"{manifest.window} {manifest.left} {manifest.right} {manifest.longest}"
        )

    def _run(
        self, ids: Sequence[Sequence[int]], vectors: NDArray[np.float32], progress: Progress | None
    ) -> int:
        def read() -> tuple[NDArray[np.float32], int]:
            tokens = super(CachedEncoder, self)._run(ids, vectors, progress)
            return vectors, tokens

        if not ids:
            return 0
        rows = [" ".join(map(str, sentence)) for sentence in ids]
        known, tokens = self._vectors.get(self._reading, rows, read)
        vectors[:] = known
        return tokens
