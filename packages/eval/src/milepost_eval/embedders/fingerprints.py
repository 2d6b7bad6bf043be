"""A hash of a model folder's content, by which cached vectors are looked up."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

_SUFFIXES = frozenset((".safetensors", ".bin", ".pt", ".npz", ".npy", ".json", ".txt", ".model"))
"""Weights, vocabularies and settings; a README may change without changing a vector."""
_ELSEWHERE = frozenset(("onnx", "openvino"))
"""Folders with the same weights for engines that are not used here."""


def fingerprint(folder: Path) -> str:
    """16 hexadecimal digits over the names and bytes of everything that vectors depend on.

    Hashed once a process, as long as sizes and times of the files stay the same.
    """
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in _SUFFIXES
        and path.is_file()
        and not _ELSEWHERE.intersection(path.relative_to(folder).parts[:-1])
    )
    digest = hashlib.sha256()
    for path in files:
        state = path.stat()
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(_hashed(path, state.st_size, state.st_mtime_ns))
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1024)
def _hashed(path: Path, size: int, modified: int) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
