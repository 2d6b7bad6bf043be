"""Lines of the log in an experiment tracker: TensorBoard's own reader reads them back."""

from pathlib import Path

import pytest
from accelerate.tracking import TensorBoardTracker

from milepost.errors import MilepostError, MissingExtra
from milepost_train.config import read_config
from milepost_train.run import train
from milepost_train.run_folder import RunFolder
from support.tiny_runs import CHECK, write_run


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
