"""A landmark every 32 tokens on the command line: export, index, search and the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")
pytest.importorskip("transformers", reason="needs the train extra")

from support.foreign_folders import encoder  # noqa: E402
from support.tiny_runs import write_run  # noqa: E402


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a task."""
    folder = tmp_path_factory.mktemp("grid")
    write_run(folder)
    return folder


@pytest.fixture(scope="module")
def trained(home: Path) -> Path:
    """A plain encoder, whose landmarks stand where the export says."""
    return encoder(home / "checkpoint")


@pytest.fixture(scope="module")
def grid(home: Path, trained: Path) -> Path:
    """Its model folder with a landmark every 32 tokens."""
    from click.testing import CliRunner

    from milepost.cli.program import program

    args = ["export", str(trained), "--out", str(home / "model"), "--window", "128", "--left", "32"]
    args += ["--granularity", "32"]
    done = CliRunner().invoke(program, args, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "landmark [SEP] every 32 tokens" in done.output
    return home / "model"


def test_it_is_exported_indexed_and_searched(cli: Any, home: Path, grid: Path) -> None:
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


def test_an_index_knows_which_it_was(cli: Any, home: Path, trained: Path, grid: Path) -> None:
    """The same weights at another interval are another model, which the index refuses."""
    other, db = home / "other", home / "theirs"
    sizes = ("--window", 128, "--left", 32)
    done = cli("export", trained, "--out", other, *sizes, "--granularity", 16, "--json")
    said = json.loads(done.stdout)
    assert (said["granularity"], said["notes"]) == (16, [])
    note = home / "note.txt"
    note.write_text("The cat sat on the mat.", "utf-8")
    assert cli("index", note, "--db", db, "--model", grid).exit_code == 0
    refused = cli("search", "who sat", "--db", db, "--model", other)
    assert refused.exit_code == 2
    assert "--rebuild" in refused.stderr


def test_what_the_commands_say_of_it(cli: Any, home: Path, grid: Path) -> None:
    """Doctor and info name the interval."""
    doctor = cli("doctor", "--model", grid, "--json")
    findings = {each["subject"]: each for each in json.loads(doctor.stdout)["findings"]}
    assert "a landmark every 32 tokens" in findings["model"]["detail"]
    assert findings["engine"]["state"] == "ok"
    assert "a landmark every 32 tokens" in cli("info", "--model", grid).stdout


def test_intervals_that_are_refused(cli: Any, home: Path, trained: Path) -> None:
    """One line says what does not fit, and nothing is written."""
    out = home / "none"
    wide = cli("export", trained, "--out", out, "--window", 64, "--left", 8, "--granularity", 63)
    assert wide.exit_code == 2
    assert "a window of 64 tokens cannot have a landmark every 63 tokens" in wide.stderr
    assert "1 to 62" in wide.stderr
    for value in ("0", "words"):
        refused = cli("export", trained, "--out", out, "--granularity", value)
        assert refused.exit_code == 2
    assert not out.exists()


def test_studies_of_sentences_refuse_it(cli: Any, home: Path, grid: Path) -> None:
    """Windows and halo around sentences mean nothing for segments of tokens."""
    asked = ("--tasks", home / "task", "--split", "dev", "--model", grid)
    refused = cli("lab", "landmark", "halo", *asked)
    assert refused.exit_code == 2
    assert "a landmark every 32 tokens" in refused.stderr
    assert "another --model" in refused.stderr
