"""A landmark every 32 tokens on the command line: train, export, index, search and the rest."""

import json
from pathlib import Path
from typing import Any

import pytest

from milepost.cli.program import program
from milepost_train.model.reading import Reading
from support.tiny_runs import write_run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("grid")


@pytest.fixture(scope="module")
def trained(home: Path) -> Path:
    """A checkpoint whose ``landmark.json`` says that it was trained so."""
    write_run(home)  # a checkpoint and a task
    Reading("[CLS]", "[SEP]", own_sentence=True, granularity=32, window=128).write(home / "init")
    return home / "init"


@pytest.fixture(scope="module")
def grid(home: Path, trained: Path) -> Path:
    """Its model folder; nothing but the checkpoint says how it is read."""
    from click.testing import CliRunner

    args = ["export", str(trained), "--out", str(home / "model"), "--window", "128", "--left", "32"]
    done = CliRunner().invoke(program, args, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "landmark [SEP] every 32 tokens" in done.output
    return home / "model"


def test_a_run_is_exported_indexed_and_searched(cli: Any, home: Path, grid: Path) -> None:
    """The interval stands in the manifest, and all commands take the folder."""
    assert json.loads((grid / "milepost.json").read_text())["granularity"] == 32
    book = home / "book.txt"
    book.write_text("The cat sat on the mat. " * 30 + "A bird sat in the house 7. ", "utf-8")
    db = home / "db"
    assert cli("index", book, "--db", db, "--model", grid).exit_code == 0
    found = cli("search", "who sat in the house 7", "--db", db, "--model", grid, "--json", "-k", 1)
    assert found.exit_code == 0
    (passage,) = json.loads(found.stdout)["passages"]
    assert "house 7" in passage["text"]
    measured = cli(
        *("eval", "run", "--tasks", home / "task", "--systems", "landmark", "--split", "dev"),
        *("--model", grid, "--json"),
    )
    assert measured.exit_code == 0, measured.output


def test_what_the_commands_say_of_it(cli: Any, home: Path, grid: Path) -> None:
    doctor = cli("doctor", "--model", grid, "--json")
    findings = {each["subject"]: each for each in json.loads(doctor.stdout)["findings"]}
    assert "a landmark every 32 tokens" in findings["model"]["detail"]
    assert findings["engine"]["state"] == "ok"
    assert "a landmark every 32 tokens" in cli("info", "--model", grid).stdout
