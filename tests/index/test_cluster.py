"""A real cluster on this machine, and the class that its workers run."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

if find_spec("ray") is None:
    pytest.skip("needs the extra ray", allow_module_level=True)

import milepost
from milepost.cli.program import program
from milepost.index.workers import IndexFiles
from milepost.index.workers.worker import COLUMNS
from support.cli_process import command, environment
from support.files import write_files
from support.postgres import fresh_schema
from support.ray_process import RayDriver, finished

LIGHT = "landmark-light"
SENTENCES = 60


@pytest.fixture(scope="module")
def driver() -> Iterator[RayDriver]:
    with RayDriver() as driver:
        yield driver


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    files: dict[str, str | bytes] = {"poison.pdf": b"%PDF-1.4 and nothing else"}
    for number in range(40):
        said = (f"Document {number} says that bee {n} makes wax." for n in range(SENTENCES))
        files[f"{number:02}.txt"] = " ".join(said)
    return sorted(write_files(tmp_path / "files", files).iterdir())


def check(place: str, files: list[Path]) -> None:
    with milepost.open(place, model=LIGHT, create=False) as index:
        infos = index.documents()
        texts = [path for path in files if path.suffix == ".txt"]
        assert sorted(info.name for info in infos) == [str(path) for path in texts]
        assert {info.sentences for info in infos} == {SENTENCES}
        with index.snapshot() as state:
            assert state.statistics().sentences == SENTENCES * len(texts)
            assert len(state.vectors(infos)) == SENTENCES * len(texts)


def test_two_workers_index_everything_once(
    driver: RayDriver, files: list[Path], tmp_path: Path
) -> None:
    seen: list[int] = []
    place = str(tmp_path / "db")
    report = driver.index(files, place, LIGHT, lambda name, done, of: seen.append(done))
    # A batch that Ray sends again, because its worker did not answer, finds its files stored.
    assert len(report["added"]) + len(report["unchanged"]) == 40
    assert list(report["failed"]) == [str(files[-1])]
    assert seen[-41:] == list(range(1, 42))
    check(place, files)


def workers() -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                title = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"ray::" in title and b"IndexFiles" in title:
                found.append(int(entry.name))
    return found


DRIVER = """
import sys
from pathlib import Path
from milepost.index.workers.cluster import connect, index_paths
from milepost.errors import InputError
files = sorted(map(str, Path(sys.argv[1]).iterdir()))
try:
    connect("auto")
except InputError:  # Ray does not wait long for a cluster on a busy machine
    connect("auto")
index_paths(files, sys.argv[2], model="landmark-light",
            progress=lambda name, done, of: print(done, flush=True))
"""


def killed_midway(files: list[Path], address: str) -> bool:
    """Kill a driver that has indexed some files; False if it ended by itself before that."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(files[0].parent), address],
        env={**environment(), "RAY_ADDRESS": "auto"},  # the Ray of the other driver
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        for line in process.stdout:  # a batch that Ray repeats may count several at once
            if line.strip().isdigit() and int(line) >= 4:  # Ray prints lines of its own, too
                os.killpg(process.pid, signal.SIGKILL)
                return int(line) < 40
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_what_is_killed_loses_and_doubles_nothing(driver: RayDriver, files: list[Path]) -> None:
    """A driver that is killed, and two workers of the one that does the rest."""
    killed: list[int] = []

    def kill(_: str, done: int, of: int) -> None:
        if done in (2, 14):
            killed.extend(workers()[:1])
            os.kill(killed[-1], signal.SIGKILL)

    with fresh_schema() as address:
        # Beside workers that were just killed, Ray may end a driver that has only begun.
        assert killed_midway(files, address) or killed_midway(files, address)
        time.sleep(1.0)
        report = driver.index(files, address, LIGHT, kill)
        assert len(killed) >= 2
        assert report["unchanged"]
        assert len(report["added"]) + len(report["unchanged"]) == 40
        check(address, files)


def test_the_command(driver: RayDriver, notes: Path, tmp_path: Path) -> None:
    """By a cluster that ``RAY_ADDRESS`` names: what is new, gone and broken."""
    given = "index", notes, "--db", tmp_path / "db", "--model", LIGHT
    (notes / "bees.txt").write_text("Bees make wax. " * 50, encoding="utf-8")
    with milepost.open(tmp_path / "db", model=LIGHT) as index:
        assert len(index.add(notes).added) == 3
    (notes / "bees.txt").unlink()
    write_files(notes, {"poison.pdf": b"%PDF-1.4 and nothing else", "wax.txt": "Wax melts."})
    result = finished(command(*given, "--workers", "ray", "--json"), RAY_ADDRESS="auto")
    assert result.returncode == 0
    assert "poison.pdf" in result.stderr
    report = json.loads(result.stdout)
    assert report["removed"] == [str(notes / "bees.txt")]
    assert report["added"] == [str(notes / "wax.txt")]
    assert list(report["failed"]) == [str(notes / "poison.pdf")]
    with milepost.open(tmp_path / "db", model=LIGHT) as index, index.snapshot() as state:
        assert state.statistics().dead == 0
    for wrong in (("--workers", "dask"), ("--workers", "ray", "--watch")):
        assert CliRunner().invoke(program, [*map(str, given), *wrong]).exit_code == 2


def test_a_batch_is_indexed_and_again_is_unchanged(tmp_path: Path) -> None:
    texts = {"a.txt": "Bees make wax. They fly.", "b.txt": "Ships sail the sea."}
    folder = write_files(tmp_path / "files", texts | {"c.pdf": b"%PDF-1.4 and nothing else"})
    batch = [str(path) for path in sorted(folder.iterdir())]
    worker = IndexFiles(str(tmp_path / "db"), LIGHT)
    first = worker({"path": batch})
    assert tuple(first) == COLUMNS
    assert first["outcome"] == ["added", "added", "failed"]
    assert first["sentences"] == [2, 1, 0]
    assert "c.pdf" in first["reason"][2]
    Path(batch[0]).write_text("Bees make honey.", encoding="utf-8")
    assert worker({"path": batch})["outcome"] == ["changed", "unchanged", "failed"]
    gone = worker({"path": [str(tmp_path / "gone.txt")]})
    worker.close()
    assert gone["outcome"] == ["failed"]
    assert "gone.txt" in gone["reason"][0]
    with milepost.open(tmp_path / "db", model=LIGHT) as index:
        assert [info.name for info in index.documents()] == [batch[1], batch[0]]
        assert index.search("honey")[0].text == "Bees make honey."


REFUSED = """
from ray.util.client import worker
from milepost.errors import InputError
from milepost.index.workers.cluster import connect
# Ray tries for 5, 10 and 15 seconds; here it does not wait so long.
worker.INITIAL_TIMEOUT_SEC = worker.MAX_TIMEOUT_SEC = 0.1
for address in (None, "ray://127.0.0.1:9"):
    try:
        connect(address)
    except InputError as error:
        print(error)
"""


def test_ray_that_cannot_start_and_a_cluster_that_is_not_there(tmp_path: Path) -> None:
    """The longest path of a socket is 107 bytes: Ray's own reason is repeated."""
    result = finished([sys.executable, "-c", REFUSED], TMPDIR=str(tmp_path / ("long" * 30)))
    assert re.search(r"^Ray cannot start on this machine: .*107 bytes", result.stdout, re.M)
    assert re.search(r"^the cluster ray://127.0.0.1:9 cannot be reached", result.stdout, re.M)
