"""Files for tests."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files into a folder and folders below it, which are made; the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSON lines, the same bytes each time: packed where the name ends in .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path
