"""Where and when something was measured: machine, commit, date."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def machine() -> str:
    """Processor, usable cores and system in one line."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}, {cores} {'core' if cores == 1 else 'cores'}, {platform.system()}"


@lru_cache(maxsize=1)
def commit() -> str:
    """The checkout's commit, with a ``+`` where files differ from it; "" for an installed package.

    Untracked files do not count.
    """
    folder = Path(__file__).resolve().parent
    try:
        named = _git(folder, "rev-parse", "--short", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return named + ("+" if changed else "")


def today() -> str:
    """The date in UTC, ISO 8601."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, encoding="utf-8", check=True
    ).stdout.strip()
