"""A landmark every 32 tokens on the command line: export, index, search and the rest."""

import json
from pathlib import Path
from typing import Any

from milepost_train.model.landmark_encoder import Reading
from support.tiny_runs import write_run


def test_a_grid_goes_through_all_commands(cli: Any, tmp_path: Path) -> None:
    """Nothing but the checkpoint says how it is read; the interval stands in the manifest."""
    write_run(tmp_path)  # a checkpoint and a task
    init, grid = tmp_path / "init", tmp_path / "model"
    Reading("[CLS]", "[SEP]", own_sentence=True, granularity=32, window=128).write(init)
    done = cli("export", init, "--out", grid, "--window", "128", "--left", "32")
    assert done.exit_code == 0, done.output
    assert "landmark [SEP] every 32 tokens" in done.output
    assert json.loads((grid / "milepost.json").read_text())["granularity"] == 32
    book, db = tmp_path / "book.txt", tmp_path / "db"
    book.write_text("The cat sat on the mat. " * 30 + "A bird sat in the house 7. ", "utf-8")
    assert cli("index", book, "--db", db, "--model", grid).exit_code == 0
    found = cli("search", "who sat in the house 7", "--db", db, "--model", grid, "--json", "-k", 1)
    assert found.exit_code == 0
    (passage,) = json.loads(found.stdout)["passages"]
    assert "house 7" in passage["text"]
    measured = cli(
        *("eval", "run", "--tasks", tmp_path / "task", "--systems", "landmark", "--split", "dev"),
        *("--model", grid, "--json"),
    )
    assert measured.exit_code == 0, measured.output
    doctor = cli("doctor", "--model", grid, "--json")
    findings = {each["subject"]: each for each in json.loads(doctor.stdout)["findings"]}
    assert "a landmark every 32 tokens" in findings["model"]["detail"]
    assert findings["engine"]["state"] == "ok"
    assert "a landmark every 32 tokens" in cli("info", "--model", grid).stdout
