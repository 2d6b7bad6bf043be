"""Several processes train as one does: the launcher of torch starts them, on the CPU."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the train extra: pip install 'milepost[train]'")
pytest.importorskip("accelerate", reason="needs the train extra")

from safetensors.torch import load_file  # noqa: E402

from support.tiny_runs import CHECK, write_run  # noqa: E402

STAGES = """
[[stage]]
kind = "merged"
steps = 1
warm_up = 0
documents = 1
questions = 2
tokens = 160
hard = 2
window = 64
left = 16
chunk = 2

[[stage]]
steps = 6
warm_up = 0
rate = 1e-3
[[stage.part]]
kind = "marked"
distil = 0
documents = 1
questions = 1
hard = 1
windows = [64]
[[stage.part]]
kind = "pairs"
pairs = 5
"""


def started(config: Path, out: Path, count: int, *options: str) -> subprocess.Popen[str]:
    """``milepost train`` in so many processes."""
    with_ours = {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *(f"--nproc-per-node={count}", "-m", "milepost", "train", str(config)),
            *("--out", str(out), "--device", "cpu", *options),
        ],
        env={**os.environ, **with_ours},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def launched(config: Path, out: Path, count: int, *options: str) -> tuple[int, str, str]:
    """Its exit code and what it wrote."""
    process = started(config, out, count, *options)
    written, said = process.communicate(timeout=300)
    return process.returncode, written, said


def lines(folder: Path) -> list[dict[str, Any]]:
    """The log of a run, the figures of the checks among those of the steps."""
    read = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{**line.pop("check", {}), **line} for line in read]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model, data and configuration, for all runs; some steps have fewer windows than processes."""
    folder = tmp_path_factory.mktemp("home")
    write_run(folder, CHECK, stages=STAGES, log_every=1, save_every=3)
    return folder


def test_three_processes_train_as_one(home: Path) -> None:
    """The same losses, checks and weights but for rounding; one of them writes and reports."""
    for count in (1, 3):
        code, written, said = launched(home / "run.toml", home / f"of-{count}", count)
        assert code == 0, said
        assert written.count("milepost export") == 1
        assert said.count("step 0: evidence found") == 1
    one, three = lines(home / "of-1"), lines(home / "of-3")
    assert len(one) == len(three) == 8
    for first, second in zip(one, three, strict=True):
        assert second == pytest.approx({**first, "seconds": second["seconds"]}, rel=2e-4, abs=2e-5)
    alone, shared = (
        load_file(home / f"of-{count}" / "checkpoint" / "model.safetensors") for count in (1, 3)
    )
    begun = load_file(home / "init" / "model.safetensors")
    assert any(not torch.equal(alone[name], begun[name]) for name in begun)
    for name, weight in alone.items():
        assert torch.allclose(weight.float(), shared[name].float(), atol=2e-3), name


def test_killed_they_resume_together(home: Path) -> None:
    """To the bytes of a run in one go; and not with another number of them."""
    code, _, said = launched(home / "run.toml", home / "whole", 2)
    assert code == 0, said
    killed = home / "killed"
    process = started(home / "run.toml", killed, 2)
    deadline = time.monotonic() + 120
    while not (killed / "state.pt").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    code, _, said = launched(home / "run.toml", killed, 1, "--resume")
    assert code != 0
    assert "processes" in said
    code, _, said = launched(home / "run.toml", killed, 2, "--resume")
    assert code == 0, said
    names = ("model.safetensors", "config.json")
    for name in names:
        once, twice = (folder / "checkpoint" / name for folder in (home / "whole", killed))
        assert once.read_bytes() == twice.read_bytes(), name
