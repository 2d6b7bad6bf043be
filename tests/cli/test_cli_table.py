"""``milepost table``."""

import csv
import json
from pathlib import Path

import pytest


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.txt"
    path.write_text("At how many degrees does gold melt?\nWho lays the eggs?\n", encoding="utf-8")
    return path


def cells(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))


def test_a_table_of_files(cli, notes, questions, tmp_path):
    out = tmp_path / "t.csv"
    result = cli("table", questions, notes, "-o", out)
    assert result.exit_code == 0
    assert result.stdout == ""
    rows = cells(out)
    assert [Path(row["document"]).name for row in rows[::2]] == ["bees.txt", "gold.txt", "ships.md"]
    found = [(Path(row["document"]).name, row["text"][:27]) for row in rows if row["text"]]
    assert ("gold.txt", "Gold melts at 1064 degrees.") in found
    assert f"6 rows, {len(found)} with a passage" in result.stderr
    gold = next(row for row in rows if row["text"].startswith("Gold"))
    assert float(gold["score"]) >= 0.2
    assert (gold["start"], gold["place"]) == ("0", "")
    assert cli("table", questions, notes, "-o", out).exit_code == 2
    again = cli("table", questions, notes, "-o", out, "--overwrite", "-q")
    assert (again.exit_code, again.stdout, again.stderr) == (0, "", "")


def test_a_table_of_an_index(cli, model, db, questions, tmp_path):
    out = tmp_path / "t.jsonl"
    some = ["--db", db, "-o", out, "--overwrite", *model]
    record = json.loads(cli("table", questions, "--in", "gold.txt", "--json", *some).stdout)
    assert (record["rows"], record["path"]) == (2, str(out))
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {Path(line["document"]).name for line in lines} == {"gold.txt"}
    assert record["answered"] == sum(line["text"] is not None for line in lines)
    assert cli("table", questions, "--per", "collection", *some).exit_code == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [Path(line["document"]).name for line in lines] == ["gold.txt", "bees.txt"]


def test_nothing_found_and_wrong_use(cli, refusal, model, notes, questions, tmp_path):
    out = tmp_path / "t.csv"
    result = cli("table", questions, notes / "ships.md", "-o", out, "--min-score", "1", *model)
    assert result.exit_code == 1
    assert [row["text"] for row in cells(out)] == ["", ""]
    for args, said in {
        (questions, notes, "-o", tmp_path / "t.doc"): "in which form",
        (tmp_path / "none.txt", notes, "-o", tmp_path / "x.csv"): "none.txt cannot be read",
        (questions, notes, "--db", tmp_path, "-o", tmp_path / "x.csv"): "not both",
        (questions, "-o", tmp_path / "x.csv"): "nothing to search",
    }.items():
        assert said in refusal("table", *args, *model)
    failed = cli("table", questions, tmp_path / "none", "-o", tmp_path / "x.csv", *model)
    assert failed.exit_code == 2
