"""The bench of hostile files, kills and full disks: it runs, goes on, and its checks can fail."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("milepost_eval", reason="the bench writes down its machine with milepost-eval")

BENCH = Path(__file__).resolve().parents[2] / "bench"


def stress(folder: Path, *arguments: object) -> tuple[dict, list[dict]]:
    """Run the bench without the shared files; its counts and the lines of its log."""
    if not (BENCH / "stress.py").is_file() or sys.platform != "linux":
        pytest.skip("needs the checkout, and Linux")
    log, counts = folder / "log.jsonl", folder / "counts.json"
    command = [sys.executable, BENCH / "stress.py", "--log", log, "--json", counts]
    done = subprocess.run(
        [*map(str, command), "--originals", str(folder / "none"), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    lines = log.read_text(encoding="utf-8").splitlines()
    wrong = [line for line in lines if '"faults": []' not in line]
    assert done.returncode == 0, "\n".join([*wrong, done.stderr[-2000:]])
    return json.loads(counts.read_text(encoding="utf-8")), [json.loads(line) for line in lines]


def test_some_files_and_kills_and_how_they_go_on(tmp_path: Path) -> None:
    counts, first = stress(tmp_path, "--files", 16, "--kills", 2, "--seed", 3)
    assert counts["files"]["cases"] == 16
    assert counts["files"]["outcomes"].keys() >= {"read", "refused in one line"}
    assert counts["kills"]["kinds"] == {"indexing": 2}
    with (tmp_path / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"seed": 3, "part": "fi')
    counts, second = stress(tmp_path, "--files", 18, "--seed", 3)
    assert (counts["files"]["cases"], counts["kills"]["cases"]) == (18, 2)
    assert second[: len(first)] == first
    assert len(second) == len(first) + 2
