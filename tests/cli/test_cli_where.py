"""``--where``: documents by their properties, on every command that asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

WAX = "Bees build cells of wax. The queen lays the eggs.\n"


@pytest.fixture
def described(tmp_path: Path) -> Path:
    folder = tmp_path / "described"
    folder.mkdir()
    head = "---\nauthor: Ann Lee\ndate: 2020-03\n---\n\n"
    (folder / "old.md").write_text(head + WAX, encoding="utf-8")
    (folder / "new.txt").write_text(WAX, encoding="utf-8")
    sidecar = {"author": "Bo Chen", "date": "2024-01-01", "project": "hive"}
    (folder / "new.txt.meta.json").write_text(json.dumps(sidecar), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("date >= 2021", "new.txt"),
        ('kind = "md" and author contains "lee"', "old.md"),
        ('project = "HIVE"', "new.txt"),
    ],
)
def test_search_and_check_and_ask(cli, model, described, tmp_path, where, name):
    result = cli("search", "wax cells", described, "--where", where, "--json", *model)
    assert result.exit_code == 0, result.stderr
    found = {Path(each["document"]).name for each in json.loads(result.stdout)["passages"]}
    assert found == {name}
    for command in (["check", described, WAX.strip(), "--no-cache"], ["check", described, "x wax"]):
        result = cli(*command, "--where", where, "--json", "--min-score", 0, *model)
        record = json.loads(result.stdout)
        held = {Path(each["document"]).name for each in record["places"] + record["passages"]}
        assert held == {name}
    result = cli("ask", "wax cells", described, "--where", where, "--json", *model)
    assert {Path(each["document"]).name for each in json.loads(result.stdout)["passages"]} == {name}


def test_no_document_matches(cli, model, described):
    asked = "search", "wax", described, "--where", "year>=2030"
    result = cli(*asked, *model)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nothing found: no document matches year >= 2030" in result.stderr
    record = json.loads(cli(*asked, "--json", *model).stdout)
    assert record["notes"] == ["no document matches year >= 2030"]
    result = cli("check", described, "wax", "--where", "year >= 2030", "--no-cache", *model)
    assert result.exit_code == 1
    assert "no document matches year >= 2030" in result.stderr
    result = cli("check", described, "wax", "--where", "year >= 2030", *model)
    assert result.exit_code == 1
    assert "no document matches year >= 2030" in result.stderr
    result = cli("ask", "wax", described, "--where", "year >= 2030", *model)
    assert result.exit_code == 1
    assert "nothing found (no document matches year >= 2030)" in result.stderr


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_bad_filter_is_refused_before_reading(cli, model, described, command):
    result = cli(command, "wax", described / "gone", "--where", "kind = pdf", *model)
    assert result.exit_code == 2
    assert result.stderr.strip() == (
        'milepost: filter, column 8: pdf needs quotation marks; try: "pdf"'
    )


def test_info_lists_properties(cli, model, described, tmp_path):
    db = tmp_path / "described.milepost"
    assert cli("index", described, "--db", db, *model).exit_code == 0
    listed = json.loads(cli("info", "--db", db, "--json", *model).stdout)["index"]["documents"]
    held = {Path(each["name"]).name: each["properties"] for each in listed}
    assert held == {
        "new.txt": {"author": "Bo Chen", "date": "2024-01-01", "project": "hive"},
        "old.md": {"author": "Ann Lee", "date": "2020-03"},
    }
