"""A preloaded allocator is an error before OpenVINO ends the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")


@pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD is of Linux")
def test_a_preloaded_allocator_is_one_line(tmp_path: Path) -> None:
    """The loader passes over a library that is not there, so none need be installed."""
    found = [file for folder in FOLDERS for file in Path(folder).glob("libjemalloc.so.*")]
    library = found[0] if found else tmp_path / "libjemalloc.so.2"
    text = tmp_path / "a.txt"
    text.write_text("Bees build cells of wax.", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "milepost", "search", "what do bees build", str(text)],
        env={**os.environ, "LD_PRELOAD": str(library), "MILEPOST_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        encoding="utf-8",
    )
    said = [line for line in ran.stderr.splitlines() if line.startswith("milepost:")]
    assert ran.returncode == 2, ran.stderr
    assert said == [f"milepost: OpenVINO crashes with LD_PRELOAD={library}; try: unset LD_PRELOAD"]
