"""Curves, trackers and the journal of a run."""

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from accelerate.tracking import TensorBoardTracker
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import InputError, MilepostError, MissingExtra
from milepost_train.config import read_config
from milepost_train.curves import draw
from milepost_train.generated import Journal
from milepost_train.run import train
from milepost_train.run_folder import RunFolder
from support.tiny_runs import CHECK, write_run


def lines(count: int) -> list[dict[str, Any]]:
    made = []
    for number in range(1, count + 1):
        line: dict[str, Any] = {"step": 50 * number, "stage": 1, "rate": 1e-4 / number}
        line |= {"loss": 3.0 / number, "floor": 5.0, "spread": 0.4}
        line |= {"check": {"written": number / count, "trials": 0.5}} if number % 3 == 0 else {}
        made.append(line)
    return made


@pytest.mark.parametrize("count", [0, 9])
def test_logs_of_any_length(count: int, tmp_path: Path) -> None:
    """An alarm, a loss that ran away and half a last line stop nothing; the same log, the same."""
    log = lines(count)
    for line in log[5:]:
        line |= {"loss": float("nan"), "spread": float("inf"), "alarm": "collapse"}
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, log)) + '\n{"step": 650, "sta')
    first = draw(tmp_path).read_bytes()
    assert first.startswith(b"\x89PNG")
    assert draw(tmp_path).read_bytes() == first


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="cannot be drawn: No such file"):
        draw(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match="packages/train"):
        draw(tmp_path)


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs tensorboard: pip install tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    config = read_config(write_run(tmp_path, CHECK, log_with=["tensorboard"], project="animals"))
    train(config)
    read = EventAccumulator(str(tmp_path / "run" / "animals"))
    read.Reload()
    for line in RunFolder(tmp_path / "run", resume=True).lines():
        figures = {"check/task": line["check"]["task"]} if "check" in line else {}
        figures |= {name: line[name] for name in ("loss", "rate") if name in line}
        assert figures
        for name, value in figures.items():
            found = {each.step: each.value for each in read.Scalars(name)}
            assert found[line["step"]] == pytest.approx(value, rel=1e-6), name


def test_a_tracker_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accelerate.tracking.get_available_trackers", list)
    config = read_config(write_run(tmp_path, log_with=["comet_ml"]))
    with pytest.raises(MissingExtra, match="comet_ml, which is not installed") as refused:
        train(config)
    assert refused.value.hint == "pip install -U accelerate comet-ml"
    assert not (tmp_path / "run").exists()


def test_a_tracker_that_fails_ends_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One warning, and the training goes on; one that does not open is an error."""
    pytest.importorskip("tensorboard", reason="needs tensorboard: pip install tensorboard")

    def fails(*given: object, **named: object) -> None:
        raise ConnectionError("the server is gone")

    config = read_config(write_run(tmp_path, log_with=["tensorboard"]))
    said: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(TensorBoardTracker, "log", fails)
        done = train(config, on_progress=lambda event: said.append(event.warning))
    assert done.steps == 11
    assert [words for words in said if words] == [
        "nothing more is sent to the trackers: the server is gone"
    ]
    monkeypatch.setattr(TensorBoardTracker, "store_init_configuration", fails)
    other = read_config(tmp_path / "run.toml", out=tmp_path / "other")
    with pytest.raises(MilepostError, match="a tracker cannot be opened: the server is gone"):
        train(other)


PIECES = {"a": [{"n": 1}, {"n": 2}], "b": [], "c": [{"n": 3, "text": "Größe\n"}]}


def write(path, pieces, **settings):
    with Journal(path, settings) as journal:
        for name, rows in pieces.items():
            if name not in journal.done:
                journal.write(name, rows, {"rows": len(rows)})
        return journal.counts


@settings(max_examples=40)
@given(lost=st.integers(0, 300))
def test_a_run_killed_anywhere_ends_like_one_that_was_not(tmp_path_factory, lost):
    """However much of its record the disk holds, going on gives the bytes of one run in one go."""
    folder = tmp_path_factory.mktemp("killed")
    whole, torn = folder / "whole.jsonl", folder / "torn.jsonl"
    write(whole, PIECES)
    write(torn, PIECES)
    record = folder / ".torn.jsonl.run" / "pieces.jsonl"
    record.write_bytes(record.read_bytes()[: max(0, record.stat().st_size - lost)])
    assert write(torn, PIECES) == {"rows": 3}
    assert torn.read_bytes() == whole.read_bytes()
    assert record.read_bytes() == (folder / ".whole.jsonl.run" / "pieces.jsonl").read_bytes()


def test_what_was_finished_is_there_when_a_run_fails(tmp_path):
    with pytest.raises(TypeError):
        write(tmp_path / "out.jsonl", {"a": PIECES["a"], "b": None})
    assert (tmp_path / "out.jsonl").read_text() == '{"n": 1}\n{"n": 2}\n'


@pytest.mark.parametrize("pieces", [{}, {"a": None}, {"a": []}], ids=["none", "failed", "no rows"])
def test_a_run_that_wrote_nothing_binds_no_other(pieces, tmp_path):
    with suppress(TypeError):
        write(tmp_path / "out.jsonl", pieces, top=20)
    assert write(tmp_path / "out.jsonl", PIECES, top=0) == {"rows": 3}


def test_a_file_of_somebody_else_is_not_touched(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("precious\n")
    with pytest.raises(InputError, match="exists, but"):
        write(path, PIECES)
    assert path.read_text() == "precious\n"


def test_a_place_that_cannot_be_written(tmp_path):
    """A file in the place of a folder and a gzipped name are refused before any work."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="Not a directory"):
        Journal(tmp_path / "file" / "out.jsonl", {})
    with pytest.raises(InputError, match="cannot be gzipped"):
        Journal(tmp_path / "out.jsonl.gz", {})
