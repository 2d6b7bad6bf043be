"""A file system that is soon full."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted_disk(place: Path, mebibytes: int) -> Iterator[Path]:
    """Mount a file system at a new folder; skips where mounting is not allowed."""
    if sys.platform != "linux" or shutil.which("mount") is None:
        pytest.skip("needs mount on Linux; the limit on file size is tested everywhere else")
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", place],
        capture_output=True,
        encoding="utf-8",
    )
    if mounted.returncode:
        pytest.skip(f"may not mount a small file system: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    with mounted_disk(tmp_path / "disk", 2) as place:
        yield place


def fill(disk: Path) -> Path:
    """Fill a disk to the last byte with one file, which is returned."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError:
                continue
    return filler
