"""A file that is replaced only by a whole one, even after a kill or on a full disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path, draft: Path) -> Iterator[IO[bytes]]:
    """Open a draft for writing; at the end it is on the disk and takes the file's place.

    Args:
        path: the file, whose old content stays until then.
        draft: another name in the same folder; removed if anything is raised.
    """
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)  # it may be what fills the disk
        raise
