"""The twins' script leaves a record from which the same files can be made again."""

from __future__ import annotations

import gzip
import hashlib
import json
import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra: pip install 'milepost[train]'")

from milepost.train.config import read_config  # noqa: E402

BENCH = Path(__file__).resolve().parents[2] / "bench"
if not BENCH.is_dir():
    pytest.skip("needs the checkout", allow_module_level=True)

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings")


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def given(tmp_path):
    """Shared data of forty documents a task, and a folder of weights."""
    names = [f"d{n}" for n in range(40)]
    for task in TASKS:
        folder = tmp_path / "shared" / "tasks" / task
        write(folder / "documents.jsonl.gz", [{"id": name, "text": name} for name in names])
        asked = [
            {"document": name, "question": name, "spans": [[0, 2]], "split": "train"}
            for name in names
        ]
        write(folder / "questions.jsonl.gz", asked)
    write(tmp_path / "shared" / "pairs" / "headings.jsonl.gz", [{"query": "q", "passage": "p"}])
    (tmp_path / "init").mkdir()
    (tmp_path / "init" / "model.safetensors").write_bytes(b"weights")
    return tmp_path


def run(monkeypatch, given, out):
    monkeypatch.syspath_prepend(str(BENCH))
    options = ["--shared", given / "shared", "--init", given / "init", "--out", out]
    monkeypatch.setattr(sys, "argv", ["twins.py", *map(str, options), "--steps", "7"])
    runpy.run_path(str(BENCH / "twins.py"), run_name="__main__")
    return json.loads((out / "run.json").read_text(encoding="utf-8"))


def test_the_record_has_settings_seeds_and_hashes_of_all_data(given, monkeypatch):
    """Every shared file by its sha256, the weights to start from, commit and machine."""
    record = run(monkeypatch, given, given / "out")
    files = sorted((given / "shared").rglob("*.gz"))
    assert len(files) == 11
    assert {name: each["sha256"] for name, each in record["data"].items()} == {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }
    assert list(record["init"]) == ["model.safetensors"]
    assert record["settings"]["steps"] == 7
    assert record["seeds"] == {"both runs": 3}
    assert {"versions", "commit", "machine", "started"} <= set(record)
    for twin in ("0", "1"):
        config = (given / "out" / f"{twin}.toml").read_text(encoding="utf-8")
        assert config in record["config"]
        assert read_config(given / "out" / f"{twin}.toml").seed == 3


def test_the_same_data_gives_the_same_bytes(given, monkeypatch):
    """Halves carry no time of day, so that the trainings' own records can be compared."""
    made = []
    for name in ("one", "two"):
        run(monkeypatch, given, given / name)
        made.append([p.read_bytes() for p in sorted((given / name).rglob("*.gz"))])
        monkeypatch.setattr("time.time", lambda: 1e9)
    assert len(made[0]) == 20
    assert made[0] == made[1]
