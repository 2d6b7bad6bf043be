"""``milepost train``: from a configuration to a checkpoint, and everything that stops it."""

import os
import shlex
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from milepost.cli.console.options import Settings
from milepost_train.cli.train import Stop
from support.cli_process import python
from support.tiny_runs import CHECK, write_run

ONE = '[[stage]]\nkind = "pairs"\npairs = 4\nrate = 1e-6\nsteps = {}\n'


def test_from_a_configuration_to_a_model_folder(cli: Any, tmp_path: Path) -> None:
    file = write_run(tmp_path, CHECK, stages=ONE.format(4))
    done = cli("train", file)
    assert done.exit_code == 0
    where, found, export = done.stdout.splitlines()
    assert where.startswith(f"{tmp_path}/run/checkpoint  (4 steps, 0:")
    assert found.startswith("  evidence found by landmarks in 60 characters, %: task ")
    lines = done.stderr.splitlines()
    assert f"milepost: {tmp_path}/pairs.jsonl: 12 pairs" in lines
    assert any(line.startswith("milepost: step 4: loss ") for line in lines)
    assert (tmp_path / "run" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "run" / "config.toml").read_text() == file.read_text()
    exported = cli(*shlex.split(export)[1:])
    assert exported.exit_code == 0, exported.stderr
    (tmp_path / "text.txt").write_text("The cat sat on the mat. A dog sat on the tree.")
    model = tmp_path / "run" / "model"
    assert cli("search", "who sat?", tmp_path / "text.txt", "--model", model).exit_code == 0


def test_options_stand_for_what_the_file_says(cli: Any, tmp_path: Path) -> None:
    file = write_run(tmp_path / "data", init=None, out=None, stages=ONE.format(1))
    done = cli(
        *("train", file, "--init", tmp_path / "data" / "init", "--out", "there"),
        *("--device", "cpu", "--quiet"),
    )
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert Path("there/checkpoint/model.safetensors").is_file()


def test_without_a_configuration(refusal: Any) -> None:
    said = "missing argument 'CONFIG', a file such as examples/train/small.toml"
    assert said in refusal("train", "--init", "owner/name")


WITHOUT_TORCH = (
    "import sys; sys.modules['torch'] = None; import milepost.cli.program as it; it.main()"
)


def test_mistakes_are_named_before_torch_is_loaded(tmp_path: Path) -> None:
    """As if it were not installed."""
    config = tmp_path / "run.toml"
    good = f'init = "a"\nout = "b"\n[data]\ntasks = ["t"]\n{ONE.format(1)}'
    wrong = ("unknown key 'sede'", "unknown key 'check.budgte'")
    for text, said in (
        (f"sede = 3\n{good}[check]\nbudgte = 3\n", wrong),
        (good, ["this needs torch"]),
    ):
        config.write_text(text)
        done = python("-c", WITHOUT_TORCH, "train", config)
        assert done.returncode == 2
        lines = done.stderr.splitlines()
        assert all(words in line for words, line in zip(said, lines, strict=True))


def test_data_that_is_not_there(refusal: Any, tmp_path: Path) -> None:
    file = write_run(tmp_path, init="nowhere")
    text = file.read_text()
    file.write_text(text.replace('["task"]', '["tsk"]'))
    assert f"{file} names {tmp_path}/tsk, which does not exist" in refusal("train", file)
    file.write_text(text)
    (tmp_path / "task" / "questions.jsonl").unlink()
    assert "which is not a task: it has no questions.jsonl" in refusal("train", file)


def test_wrong_lines_end_in_1(cli: Any, tmp_path: Path) -> None:
    file = write_run(tmp_path, stages=ONE.format(1))
    with (tmp_path / "pairs.jsonl").open("a") as pairs:
        pairs.write('{"query": "a cat"}\n')
    done = cli("train", file, "--quiet")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"milepost: {tmp_path}/pairs.jsonl, line 13: no 'passage'")
    assert done.stdout == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_step_end_and_a_second_does_not(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Stop(Settings(quiet=True)) as stop:
        assert not stop()
        os.kill(os.getpid(), number)
        assert stop()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    with Stop(Settings(quiet=True)), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)  # nobody has asked yet: nothing can be saved
    assert signal.getsignal(number) is before


def test_sigterm_saves_and_says_how_to_go_on(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milepost_train.loop.draw", lambda folder: [])
    file = write_run(tmp_path, stages=ONE.format(40), save_every=1)
    state = tmp_path / "run" / "state.pt"

    def terminate() -> None:
        until = time.monotonic() + 120
        while not state.exists() and time.monotonic() < until:
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda *_: pytest.fail("it ended before the signal"))
    sender = threading.Thread(target=terminate)
    sender.start()
    try:
        done = cli("train", file)
        sender.join()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done.exit_code == 130, done.stderr
    *lines, last = done.stderr.splitlines()
    assert "milepost: stopping after this step; press Ctrl-C again to stop at once" in lines
    start = "milepost: interrupted; to resume: "
    assert last == f"{start}milepost train {file} --resume"
    resumed = cli(*shlex.split(last.removeprefix(start))[1:])
    assert resumed.exit_code == 0
    assert "(40 steps" in resumed.stdout
