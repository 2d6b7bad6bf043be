"""A model folder is written whole or not at all."""

import hashlib
import json
import random
import signal
import sys
import time

import pytest

from milepost.cli.checks import _model
from milepost.encoder.engine.folder import ModelFolder
from milepost.encoder.engine.manifest import Manifest, read_manifest
from milepost.search.features import FEATURES
from milepost.search.trees import FILE, read_trees
from milepost_train.ranking.folder import REPORT, check_out, write_folder
from support.cli_process import started
from support.random_trees import trees

SUMS = "SHA256SUMS"
SEED_OF = {trees(seed).value.tobytes(): seed for seed in (1, 2, 3, 5, 7, 30)}


@pytest.fixture
def model(tmp_path):
    """A folder with a graph, a reranker in it, sums, and a ranking of before."""
    folder = tmp_path / "model"
    (folder / "reranker").mkdir(parents=True)
    Manifest("m", "f00d", 8, fusion={"growth_threshold": 9.0}).write(folder)
    (folder / "graph.bin").write_bytes(b"weights" * 1000)
    (folder / "reranker" / "graph.bin").write_bytes(b"other")
    trees(5).write(folder)
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("graph.bin", FILE)
    ]
    (folder / SUMS).write_text("".join(lines))
    return folder


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def state(folder):
    """What was written: numbers, trees, report; and that the sums hold."""
    manifest = read_manifest(folder)
    finding = _model(ModelFolder(folder, manifest))
    assert finding.state == "ok", finding
    kept = read_trees(folder / FILE, tuple(FEATURES))
    report = folder / REPORT
    seed = json.loads(report.read_text())["seed"] if report.is_file() else None
    return manifest.fusion["growth_threshold"], kept and SEED_OF[kept.value.tobytes()], seed


@pytest.mark.parametrize("in_place", [True, False])
def test_all_that_was_learned_is_there(model, tmp_path, in_place):
    """In place or beside; the other files as they were, links broken where they are written."""
    before = files(model)
    out = model if in_place else tmp_path / "new" / "out"
    check_out(model, out)
    write_folder(model, out, {"growth_threshold": 2.0}, trees(7), {"seed": 3})
    assert state(out) == (2.0, 7, 3)
    same = {"graph.bin", "reranker/graph.bin"}
    after = files(out)
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert set(after) == {*before, REPORT}
    if not in_place:
        assert files(model) == before
        assert (out / "graph.bin").stat().st_ino != (model / "graph.bin").stat().st_ino
    assert sorted(path.name for path in out.parent.iterdir() if path.name[0] == ".") == []


def test_without_trees_those_of_before_go(model):
    """Numbers learned without trees would not go with them; nor may the sums name them."""
    write_folder(model, model, {"growth_threshold": 2.0}, None, {"seed": 3})
    assert state(model) == (2.0, None, 3)
    assert FILE not in (model / SUMS).read_text()


def test_an_earlier_fit_is_replaced(model, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for number in (1, 2):
        check_out(model, out)
        write_folder(model, out, {"growth_threshold": 2.0}, trees(number), {"seed": number})
        assert state(out) == (2.0, number, number)


WRITE = """
import sys, resource
from pathlib import Path
from milepost_train.ranking.folder import write_folder
from support import random_trees
from support.random_trees import trees
model, limit = Path(sys.argv[1]), int(sys.argv[2])
few, many = trees(3), trees(30)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
print("ready", flush=True)
while True:
    write_folder(model, model, {"growth_threshold": 3.0}, few, {"seed": 3})
    write_folder(model, model, {"growth_threshold": 30.0}, many, {"seed": 30})
"""


def writer(model, limit=0):
    """A process that writes one of two states after the other, until it cannot."""
    return started([sys.executable, "-c", WRITE, model, limit])


@pytest.mark.skipif(sys.platform != "linux", reason="folders are exchanged in one step on Linux")
def test_a_kill_at_any_time_leaves_a_whole_folder(model):
    """One state or the other, never parts of both; the next run takes away what was left."""
    dice = random.Random(1)
    for _ in range(3):
        process = writer(model)
        assert process.stdout.readline() == "ready\n"
        time.sleep(dice.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert state(model) in [(9.0, 5, None), (3.0, 3, 3), (30.0, 30, 30)]
    write_folder(model, model, {"growth_threshold": 2.0}, trees(7), {"seed": 3})
    assert [path.name for path in model.parent.iterdir()] == ["model"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of a process")
def test_a_disk_that_takes_no_more_leaves_the_old_folder(model):
    """Files may grow to 2,000 bytes, which the manifest fits and the trees do not."""
    before = files(model)
    process = writer(model, 2000)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "InputError" in said
    assert "cannot be written" in said
    assert files(model) == before
    assert [path.name for path in model.parent.iterdir()] == ["model"]
