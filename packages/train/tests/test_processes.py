"""Several processes train as one does, on the CPU."""

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from milepost.errors import InputError, MilepostError
from milepost_train.batches import queries_of
from milepost_train.config import read_config
from milepost_train.processes import Processes, joined
from milepost_train.run import train
from support.cli_process import python, started
from support.tiny_runs import CHECK, MERGED, write_run

pytestmark = pytest.mark.xdist_group("processes")


STAGES = (
    MERGED
    + """warm_up = 0

[[stage]]
steps = {steps}
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
chunk = 2
"""
)


PAIRS = """
import os, sys
import accelerate, torch._dynamo  # what takes as long as all the rest
from milepost.cli import main
from milepost_train import loop, run

loop.draw = lambda folder: []
os.environ |= {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": sys.argv[1]}
for line in sys.stdin:
    sys.argv = ["milepost", "train", *line.split()]
    for rank in ("0", "1"):
        if not os.fork():
            os.environ |= {"RANK": rank, "LOCAL_RANK": rank}
            main()
    print(*(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)), flush=True)
"""
"""Runs of two processes, each with the arguments of a line; prints their exit codes."""


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model, data and configuration; a step of ``marked`` has one or two windows, fewer than three.

    A line of the data is wrong. There are enough steps to kill a run in between.
    """
    folder = tmp_path_factory.mktemp("home")
    write_run(folder, CHECK, stages=STAGES.format(steps=12), log_every=1, save_every=3)
    config = folder / "run.toml"
    config.write_text(config.read_text().replace("every = 20", "every = 100"))
    with (folder / "pairs.jsonl").open("a") as file:
        file.write('{"query": "without a passage"}\n')
    return folder


@pytest.fixture(scope="module")
def of_two(home: Path) -> tuple[Path, int, str, str]:
    """A run of two processes of torchrun in one go: its folder, exit code and what it said."""
    launcher = "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"
    out = home / "of-2"
    order = "-m", "milepost", "train", home / "run.toml", "--out", out, "--device", "cpu"
    done = python(*launcher, *order)
    return out, done.returncode, done.stdout, done.stderr


def test_two_processes_train_as_one(home: Path, of_two: tuple[Path, int, str, str]) -> None:
    """The losses and weights are the same but for rounding; one of them writes and reports."""
    folder, code, written, said = of_two
    assert code == 0, said  # in spite of the wrong line: a launcher takes 1 for a failed run
    assert "pairs.jsonl" in said
    assert "SIGTERM" not in said
    assert written.count("milepost export") == 1
    assert said.count("step 0: evidence found") == 1
    train(read_config(home / "run.toml", out=home / "of-1", device="cpu"))
    one, two = lines(home / "of-1"), lines(folder)
    assert len(one) == len(two) == 14
    for first, second in zip(one[1:8], two[1:8], strict=True):
        assert second["loss"] == pytest.approx(first["loss"], rel=1e-3)
        assert second["gradient"] == pytest.approx(first["gradient"], rel=2e-2)
    alone, shared, begun = (
        load_file(home / name / "model.safetensors")
        for name in ("of-1/checkpoint", "of-2/checkpoint", "init")
    )
    moved, apart = (
        sum(float((weights[name].float() - alone[name].float()).square().sum()) for name in alone)
        for weights in (begun, shared)
    )
    assert apart < 0.01 * moved


def test_killed_they_resume_together(
    home: Path, of_two: tuple[Path, int, str, str], tmp_path: Path
) -> None:
    """To the bytes of a run in one go; and not with another number of them.

    The second process ends by itself where the first is gone.
    """
    config, whole, killed = home / "run.toml", of_two[0], tmp_path / "killed"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with started([sys.executable, "-c", PAIRS, port]) as pairs:
        assert pairs.stdin
        assert pairs.stdout
        arguments = f"{config} --out {killed} --device cpu --quiet"
        print(arguments, file=pairs.stdin, flush=True)
        deadline = time.monotonic() + 200
        while not (killed / "state.pt").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(int((killed / "lock").read_text()), signal.SIGKILL)
        codes = sorted(map(int, pairs.stdout.readline().split()))
        assert codes[0] == -signal.SIGKILL
        assert codes[1] != 0
        assert (killed / "state.pt").exists()
        assert len(lines(killed)) < len(lines(whole))
        with pytest.raises(InputError, match="the setting processes"):
            train(read_config(config, out=killed, device="cpu"), resume=True)
        print(arguments, "--resume", file=pairs.stdin, flush=True)
        assert pairs.stdout.readline() == "0 0\n"
    assert [{**line, "seconds": 0} for line in lines(killed)] == [
        {**line, "seconds": 0} for line in lines(whole)
    ]
    for name in ("model.safetensors", "config.json"):
        once, twice = (folder / "checkpoint" / name for folder in (whole, killed))
        assert once.read_bytes() == twice.read_bytes(), name


def test_different_batches_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def gather(found: list[Any], own: Any) -> None:
        found[:] = own, own + 1

    monkeypatch.setattr("torch.distributed.all_gather_object", gather)
    batch = queries_of([np.array([7], np.int32)], 2, 3)
    with pytest.raises(MilepostError, match="different batches"):
        Processes(torch.device("cpu"), 0, 2).encode(lambda each: each.ids, batch, 4)


def test_more_processes_than_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    with joined(torch.device("cpu")) as alone:
        assert (alone.first, alone.count, alone.each(3)) == (True, 1, [3])
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(InputError, match="no GPU for process 2"), joined(torch.device("cuda")):
        pass
