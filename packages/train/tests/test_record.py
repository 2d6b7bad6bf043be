"""A run's record: what it holds, that it survives JSON, and differences in words."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from milepost.errors import UnreadableFile
from milepost_train.record import AROUND, describe, differences

SETTINGS = {
    "rate": 0.1,
    "out": Path("runs/a"),
    "stage": ({"kind": "marked", "steps": 10}, {"kind": "pairs", "steps": 20, "sizes": (1, 2)}),
    "lora": None,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A task of two files, a file of pairs, and weights."""
    for name, text in {
        "task/documents.jsonl": "{}\n",
        "task/questions.jsonl": "{}\n{}\n",
        "task/.hidden": "no",
        "pairs.jsonl": "",
        "init/model.safetensors": "weights",
        "init/1_Pooling/config.json": "{}",
        "init/onnx.onnx": "not read",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def record(folder: Path, **changes: Any) -> dict[str, Any]:
    given = {
        "config": "rate = 0.1\n",
        "settings": SETTINGS,
        "seeds": {"run": 1},
        "data": [folder / "task", folder / "pairs.jsonl"],
        "init": folder / "init",
        "device": "cpu",
    }
    found: dict[str, Any] = json.loads(json.dumps(describe(**(given | changes))))
    return found


def test_a_record_says_what_a_run_was_made_from(folder: Path) -> None:
    found = record(folder)
    assert {Path(name).name: facts["bytes"] for name, facts in found["data"].items()} == {
        "documents.jsonl": 3,
        "questions.jsonl": 6,
        "pairs.jsonl": 0,
    }
    assert found["init"] == {
        "1_Pooling/config.json": {"sha256": hashlib.sha256(b"{}").hexdigest(), "bytes": 2},
        "model.safetensors": {"sha256": hashlib.sha256(b"weights").hexdigest(), "bytes": 7},
    }
    assert found["settings"]["stage"][1]["sizes"] == [1, 2]
    assert found["versions"]["numpy"] == numpy.__version__
    assert found["versions"].keys() >= {"milepost", "python", "tokenizers"}
    assert found["machine"]["device"] == "cpu"


def test_settings_that_are_gone_differ_only_from_what_is_done_now(folder: Path) -> None:
    """So that a run of an earlier version can be resumed."""
    old = [{**SETTINGS, "rank_by": value} for value in ("teacher", "words")]
    said = [differences(record(folder, settings=each), record(folder)) for each in old]
    assert said == [[], ["the setting rank_by was 'words' and is not set"]]


def test_changed_files_are_named(folder: Path) -> None:
    before = record(folder)
    (folder / "pairs.jsonl").write_text("x")
    (folder / "init" / "model.safetensors").write_text("Weights")
    (folder / "task" / "documents.jsonl").rename(folder / "task" / "documents.jsonl.gz")
    task = folder / "task"
    assert differences(before, record(folder)) == [
        f"the data file {task / 'documents.jsonl'} is gone",
        f"the data file {folder / 'pairs.jsonl'} has changed",
        f"the data file {task / 'documents.jsonl.gz'} is new",
        "model.safetensors of the weights to start from has changed",
    ]


def test_surroundings_are_compared_where_they_are_asked_for(folder: Path) -> None:
    before = record(folder)
    before["versions"]["numpy"] = "0.1"
    before["machine"]["device"] = "cuda"
    before["commit"] = "0123abc"
    now = record(folder) | {"commit": ""}
    assert differences(before, now) == []
    assert differences(before, now, AROUND) == [
        f"the version of numpy was '0.1' and is '{numpy.__version__}'",
        "Milepost's commit was '0123abc' and is ''",
        "the machine's device was 'cuda' and is 'cpu'",
    ]


def test_a_file_that_is_not_there(folder: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"gone\.jsonl cannot be read: No such file"):
        record(folder, data=[folder / "gone.jsonl"])
