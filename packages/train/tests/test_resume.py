"""A run that is stopped anywhere goes on to the checkpoint and the log of a run in one go."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from milepost.errors import InputError, MilepostError, ModelError
from milepost_train.config import read_config
from milepost_train.loop import Event
from milepost_train.model import release
from milepost_train.model.card import record_of
from milepost_train.record import SCHEMA
from milepost_train.run import Trained, train
from milepost_train.run_folder import RunFolder, RunInterrupted
from support.tiny_runs import CHECK, write_run

ALL = 11  # steps of the tiny run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    write_run(folder, CHECK)
    return folder


@pytest.fixture(scope="module")
def whole(home: Path) -> dict[str, Any]:
    train(read_config(home / "run.toml", out=home / "whole"))
    return left_by(home / "whole")


@pytest.fixture(scope="module")
def every(home: Path) -> Trained:
    """A run that keeps the weights of every check; beside it a file of one that keeps the best."""
    text = (home / "run.toml").read_text(encoding="utf-8")
    for name, keep in (("every", "true"), ("best", '"best"')):
        changed = text.replace("every = 20", f"every = 4\nkeep = {keep}")
        (home / f"{name}.toml").write_text(changed, encoding="utf-8")
    return train(read_config(home / "every.toml", out=home / "every"))


def left_by(folder: Path) -> dict[str, Any]:
    """The bytes of the checkpoint, and the log without its clock."""
    files = {file.name: file.read_bytes() for file in (folder / "checkpoint").iterdir()}
    lines = [{**line, "seconds": 0} for line in RunFolder(folder, resume=True).lines()]
    return {"checkpoint": files, "log": lines}


def kept_by(folder: Path) -> dict[str, bytes]:
    found = sorted(folder.glob("checkpoint*"))
    return {path.name: (path / "model.safetensors").read_bytes() for path in found}


class Killed(BaseException):
    """As sudden as a kill: nothing is saved on the way out."""


def at(step: int, do: Callable[[], object]) -> Callable[[Event], None]:
    def tell(event: Event) -> None:
        if event.doing.startswith("stage") and event.done == step:
            do()

    return tell


def kill() -> None:
    raise Killed


@pytest.mark.parametrize("step", [3, 11])
def test_killed_after_a_step(home: Path, whole: dict[str, Any], tmp_path: Path, step: int) -> None:
    config = read_config(home / "run.toml", out=tmp_path / "run")
    with pytest.raises(Killed):
        train(config, on_progress=at(step, kill))
    train(config, resume=True)
    assert left_by(tmp_path / "run") == whole


def test_stopped_after_every_step(home: Path, whole: dict[str, Any], tmp_path: Path) -> None:
    """A stop saves the step at hand, so that a run of eleven goes loses nothing."""
    config = read_config(home / "run.toml", out=tmp_path / "run")
    for number in range(ALL):
        with pytest.raises(KeyboardInterrupt):
            train(config, resume=number > 0, stopped=lambda: True)
    assert train(config, resume=True, stopped=lambda: True).steps == ALL
    assert left_by(tmp_path / "run") == whole


def test_the_weights_of_every_check_are_kept(
    home: Path, whole: dict[str, Any], every: Trained, tmp_path: Path
) -> None:
    """Each in a folder of its own that can be opened and trained on; the same after a kill."""
    kept = kept_by(every.checkpoint.parent)
    assert list(kept) == ["checkpoint", *(f"checkpoint-{n}" for n in (11, 4, 6, 8))]
    assert kept["checkpoint"] == kept["checkpoint-11"]
    assert kept["checkpoint"] == whole["checkpoint"]["model.safetensors"]
    assert len(set(kept.values())) == 4
    config = read_config(home / "every.toml", out=tmp_path / "run")
    with pytest.raises(Killed):
        train(config, on_progress=at(9, kill))
    assert list(kept_by(tmp_path / "run")) == [f"checkpoint{n}" for n in ("", "-4", "-6", "-8")]
    train(config, resume=True)
    assert kept_by(tmp_path / "run") == kept
    record = record_of(tmp_path / "run" / "checkpoint-6")
    assert record is not None
    assert record["last"]["step"] == 6
    start = str(tmp_path / "run" / "checkpoint-4")
    again = read_config(home / "run.toml", out=tmp_path / "again", init=start)
    assert train(again).steps == ALL


def test_a_finished_run_has_nothing_left_to_do(
    home: Path, whole: dict[str, Any], tmp_path: Path
) -> None:
    shutil.copytree(home / "whole", tmp_path / "run")
    told: list[Event] = []
    done = train(
        read_config(home / "run.toml", out=tmp_path / "run"), resume=True, on_progress=told.append
    )
    assert done.found == whole["log"][-1]["check"]
    assert not [event for event in told if event.doing.startswith("stage")]
    assert left_by(tmp_path / "run") == whole


def test_of_two_that_find_an_empty_folder_one_begins(tmp_path: Path) -> None:
    """The second is refused while the first is at it; a lock alone is no run, nor other files."""
    first, second = (RunFolder(tmp_path / "run", resume=False) for _ in range(2))
    with first.alone():
        with pytest.raises(InputError, match=f"trained by process {os.getpid()};"), second.alone():
            pytest.fail("both begin")
        with pytest.raises(InputError, match="has no run to resume"):
            RunFolder(tmp_path / "run", resume=True)
    with RunFolder(tmp_path / "run", resume=False).alone():
        assert (tmp_path / "run" / "lock").read_text() == str(os.getpid())


def test_other_settings_or_data_are_named(home: Path, tmp_path: Path) -> None:
    for name in ("init", "task"):
        shutil.copytree(home / name, tmp_path / name)
    for name in ("run.toml", "pairs.jsonl"):
        shutil.copy(home / name, tmp_path / name)
    file = tmp_path / "run.toml"
    with pytest.raises(KeyboardInterrupt):
        train(read_config(file), stopped=lambda: True)
    files = [path for path in (tmp_path / "run").iterdir() if path.name not in ("lock", ".lock")]
    before = {path.name: path.stat().st_mtime_ns for path in files}
    with pytest.raises(InputError, match=r"holds a run already.*--resume"):
        train(read_config(file))
    kept = file.read_text()
    file.write_text(kept.replace("steps = 6", "steps = 7").replace("seed = 3", "seed = 4"))
    with pytest.raises(InputError) as caught:
        train(read_config(file), resume=True)
    assert "the setting stages.1.steps was 6 and is 7" in str(caught.value)
    assert "the seed of the run was 3 and is 4" in str(caught.value)
    file.write_text(kept)
    with (tmp_path / "pairs.jsonl").open("a") as pairs:
        pairs.write('{"query": "a cat", "passage": "A cat."}\n')
    with pytest.raises(InputError, match=r"the data file pairs.jsonl has changed"):
        train(read_config(file), resume=True)
    after = {path.name: path.stat().st_mtime_ns for path in files}
    assert after == before
    with pytest.raises(InputError, match=r"has no run to resume.*without --resume"):
        train(read_config(file, out=tmp_path / "none"), resume=True)
    with pytest.raises(InputError, match=r"task holds other files already"):
        train(read_config(file, out=tmp_path / "task"))


def test_a_run_of_another_schema_is_refused(tmp_path: Path) -> None:
    """With its version, ours and what to do; nothing else of the run is read."""
    (tmp_path / "config.toml").write_text("")
    folder = RunFolder(tmp_path, resume=True)
    for text, said in (
        (
            '{"settings": {"opening": "[CLS]"}}',
            rf"schema 1, .* schema {SCHEMA}.*milepost train CONFIG --out",
        ),
        ('{"schema": 2}', rf"schema 2, .* schema {SCHEMA}.*milepost train CONFIG --out"),
        (f'{{"schema": {SCHEMA + 1}}}', rf"schema {SCHEMA + 1}, .*pip install . in a clone"),
        ("[]", "run.json is damaged"),
    ):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(InputError, match=said):
            folder.facts()


def test_a_damaged_state_is_named(home: Path, tmp_path: Path) -> None:
    config = read_config(home / "run.toml", out=tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        train(config, stopped=lambda: True)
    os.truncate(tmp_path / "run" / "state.pt", 1000)
    with pytest.raises(InputError, match=r"state.pt is damaged"):
        train(config, resume=True)


@contextmanager
def limit(kind: int) -> Iterator[None]:
    """A limit of this process, taken back at the end."""
    before = resource.getrlimit(kind)
    try:
        yield
    finally:
        resource.setrlimit(kind, before)


def lowered(kind: int, value: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


@pytest.mark.parametrize(("kilobytes", "file"), [(300, "state.pt"), (50, "checkpoint")])
def test_a_full_disk(
    home: Path, whole: dict[str, Any], tmp_path: Path, kilobytes: int, file: str
) -> None:
    """The system refuses a larger file: one line, and the last state is whole."""
    config = read_config(home / "run.toml", out=tmp_path / "run")
    with limit(resource.RLIMIT_FSIZE), pytest.raises(RunInterrupted) as caught:
        train(config, on_progress=at(5, lowered(resource.RLIMIT_FSIZE, kilobytes << 10)))
    assert f"{file} cannot be written: File too large" in caught.value.problem
    assert not list((tmp_path / "run").glob("*.part")), "what filled the disk is gone"
    train(config, resume=True)
    assert left_by(tmp_path / "run") == whole


STAGES_OF_MEMORY = """
[[stage]]
kind = "pairs"
pairs = 2
steps = 2
[[stage]]
kind = "marked"
distil = 0
steps = 1
"""
PROCESS = """
import os, resource, sys
from pathlib import Path
import torch._dynamo  # which the optimiser loads
from milepost_train import loop
from test_resume import at, lowered, read_config, train

def lower():
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    lowered(resource.RLIMIT_AS, pages * resource.getpagesize() + (8 << 20))()

loop.draw = lambda folder: []
hungry, home, out = map(Path, sys.argv[1:])
if not os.fork():  # imports take as long as all the rest
    try:
        train(read_config(hungry), on_progress=at(2, lower))
    except Exception as error:
        print(type(error).__name__, error, flush=True)
    os._exit(0)
os.wait()
train(read_config(home / "run.toml", out=out))
"""


def test_a_process_without_memory_and_killed(
    home: Path, whole: dict[str, Any], tmp_path: Path
) -> None:
    """One line where the system gives no more; no other beside it; after SIGKILL another goes on.

    In a process of its own: this one may hold free memory that no limit counts.
    """
    hungry = write_run(tmp_path / "hungry", stages=STAGES_OF_MEMORY, sentences=40)
    out = tmp_path / "run"
    around = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, "-c", PROCESS, str(hungry), str(home), str(out)]
    with subprocess.Popen(command, env=around, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        until = time.monotonic() + 120
        while not (out / "state.pt").exists() and time.monotonic() < until:
            assert process.poll() is None, "it ended before anything was saved"
            time.sleep(0.002)
        process.send_signal(signal.SIGSTOP)  # it must not end before it was asked beside
        config = read_config(home / "run.toml", out=out)
        with pytest.raises(InputError, match=f"run is being trained by process {process.pid};"):
            train(config, resume=True)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    train(config, resume=True)
    assert left_by(out) == whole

    assert said.startswith("RunInterrupted")
    assert "little memory in step 3" in said
    done: list[int] = []
    train(
        read_config(hungry),
        resume=True,
        on_progress=lambda event: event.line and done.append(event.done),
    )
    assert done == [3], "it goes on from the last state"


def test_a_loss_that_is_no_number(tmp_path: Path) -> None:
    """No step is taken with it, so the last state has sound weights; they are not exported."""
    file = write_run(tmp_path, CHECK, rate=None, stages=(
        '[[stage]]\nkind = "pairs"\npairs = 4\nsteps = 50\nrate = 1e30\nclip = 1e30\nwarm_up = 0\n'
    ))  # fmt: skip
    with pytest.raises(MilepostError, match=r"step \d+: the loss is .*lower rate"):
        train(read_config(file))
    with pytest.raises(ModelError, match=r"failed: step \d+: the loss is"):
        release(tmp_path / "run" / "checkpoint", tmp_path / "model")


def test_a_start_that_fails_leaves_a_folder_for_the_corrected_one(tmp_path: Path) -> None:
    """Settings are written only when the data and the check could be read."""
    file = write_run(tmp_path, CHECK)
    questions = tmp_path / "task" / "questions.jsonl"
    kept = questions.read_text()
    questions.write_text(kept.replace('"dev"', '"train"'))
    with pytest.raises(InputError):
        train(read_config(file))
    questions.write_text(kept)
    assert train(read_config(file)).steps == ALL


def test_the_best_check_is_kept_through_a_kill(home: Path, every: Trained, tmp_path: Path) -> None:
    """The checkpoint is that of the check that found most, and the record says so."""
    means = {step: sum(found.values()) for step, found in every.checks.items()}
    top = max(means, key=lambda step: means[step])
    best = read_config(home / "best.toml", out=tmp_path / "best")
    with pytest.raises(Killed):
        train(best, on_progress=at(7, kill))
    assert train(best, resume=True).checks == every.checks
    record = record_of(tmp_path / "best" / "checkpoint")
    assert record is not None
    assert record["last"]["step"] == top
    if top:
        kept = kept_by(every.checkpoint.parent)[f"checkpoint-{top}"]
        assert kept_by(tmp_path / "best")["checkpoint"] == kept
