"""A file system that is soon full."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 2 MiB; skips where mounting is not allowed."""
    if sys.platform != "linux" or shutil.which("mount") is None:
        pytest.skip("needs mount on Linux; the limit on file size is tested everywhere else")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place],
        capture_output=True,
        encoding="utf-8",
    )
    if mounted.returncode:
        pytest.skip(f"may not mount a small file system: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


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
