"""Model cards: what a run and an export write into README.md."""

import json
from pathlib import Path

from milepost_train.config import read_config
from milepost_train.model import release
from milepost_train.model.card import card, record_of
from milepost_train.run import train
from support.tiny_models import tiny_folder
from support.tiny_runs import CHECK, write_run


def test_a_run_and_its_export(tmp_path: Path) -> None:
    """Data, steps and figures are those of the run; the export adds how the model reads."""
    done = train(read_config(write_run(tmp_path, CHECK)))
    of_run = (tmp_path / "run" / "README.md").read_text("utf-8")
    before, after = done.checks[0]["task"], done.found["task"]
    assert f"| task | {before:.1%} | {after:.1%} |" in of_run
    assert "## How it reads" not in of_run
    release(done.checkpoint, tmp_path / "animals", window=64, left=16, right=4)
    of_model = (tmp_path / "animals" / "README.md").read_text("utf-8")
    assert "## How it reads" in of_model
    for line in of_run.partition("## How it was trained")[2].splitlines():
        assert line in of_model
    assert "base_model" not in of_model  # a folder says nothing to others


def test_what_the_record_cannot_say(tmp_path: Path) -> None:
    """A record of another program is none; a torn last line of the log is passed over."""
    run = tmp_path / "run"
    done = train(read_config(write_run(tmp_path, CHECK)))
    whole = record_of(done.checkpoint)
    assert whole is not None
    with (run / "log.jsonl").open("a") as file:
        file.write('{"check": {"task": 0.5}}\n7\n{"step": 12, "che')
    assert record_of(done.checkpoint) == whole
    assert record_of(run) is None
    said = json.loads((run / "run.json").read_text("utf-8"))
    for record in ({**said, "settings": None}, {"settings": {"init": "x"}}):
        (run / "run.json").write_text(json.dumps(record))
        assert record_of(done.checkpoint) is None


def test_only_a_base_of_the_hub_is_named(tmp_path: Path) -> None:
    train(read_config(write_run(tmp_path, CHECK)))
    record = record_of(tmp_path / "run" / "checkpoint")
    assert record is not None
    assert str(tmp_path.name) not in card("m", None, record)
    assert "base_model: owner/name\n" in card("m", None, {**record, "base_model": "owner/name"})


def test_a_checkpoint_of_another_origin_says_nothing_of_training(tmp_path: Path) -> None:
    release(tiny_folder(tmp_path / "hf", "bert"), tmp_path / "out", window=64, left=16)
    written = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "trained" not in written.partition("## For you")[0]
