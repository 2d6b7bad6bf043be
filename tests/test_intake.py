"""What an index does where the file system keeps it out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from milepost.intake import file_signature

LOCKED = """
import pathlib, sys
import milepost
from milepost.testing import fake_encoder
notes = pathlib.Path(sys.argv[1])
with milepost.open(model=fake_encoder()) as index:
    index.add(notes)
    (notes / "inner").chmod(int(sys.argv[2], 8))
    try:
        report = index.add([notes, notes / "inner" / "deep.txt"])
        print(len(report.unchanged), len(report.removed), *report.failed.values(), sep="\\n")
    finally:
        (notes / "inner").chmod(0o755)
"""


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
@pytest.mark.parametrize("mode", ["000", "600"])
def test_a_locked_folder_below_is_named_and_not_pruned(tmp_path: Path, mode: str) -> None:
    notes = tmp_path / "notes"
    (notes / "inner").mkdir(parents=True)
    for number in range(3):
        (notes / f"{number}.txt").write_text("Bees build cells.", encoding="utf-8")
    (notes / "inner" / "deep.txt").write_text("Deep down.", encoding="utf-8")
    command = [sys.executable, "-c", LOCKED, str(notes), mode]
    if os.geteuid() == 0:  # root passes every door, unless it lays that power down
        if shutil.which("setpriv") is None:
            pytest.skip("root needs setpriv to be refused anything")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    run = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert run.returncode == 0, run.stderr
    unchanged, removed, *reasons = run.stdout.splitlines()
    assert (unchanged, removed) == ("3", "0")
    assert f"{notes / 'inner'} cannot be listed" in reasons[0]
    assert "deep.txt cannot be reached: Permission denied" in reasons[1]


def test_a_sidecar_is_part_of_the_signature(tmp_path: Path) -> None:
    path, beside = tmp_path / "note.txt", tmp_path / "note.txt.meta.yaml"
    path.write_text("Text.", encoding="utf-8")
    status = path.stat()
    alone = file_signature(path)
    assert alone == (status.st_size, status.st_mtime_ns)
    beside.write_text("a: 1", encoding="utf-8")
    seen = {alone, file_signature(path)}
    os.utime(beside, ns=(1, 1))
    seen.add(file_signature(path))
    far = 2**62 + 2**61
    for each in (path, beside):
        os.utime(each, ns=(far, far))
    found = file_signature(path)
    assert found is not None
    assert 0 <= found[1] < 2**63
    assert len({*seen, found}) == 4
