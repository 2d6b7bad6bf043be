"""Object storage and PostgreSQL on the command line, with real servers."""

import json
from pathlib import Path

import pytest

from support.files import write_files
from support.pdf_writer import pdf_of
from support.postgres import fresh_schema
from support.s3 import KEYS, S3

LIGHT = "--model", "landmark-light"


def test_a_prefix_is_indexed_searched_and_brought_up_to_date(cli, s3: S3, tmp_path: Path) -> None:
    s3.put("reports/bees.txt", "Bees make wax in eight glands.")
    s3.put("reports/old/gold.txt", "Gold melts at 1064 degrees.")
    db = tmp_path / "db"
    result = cli("index", s3.url("reports/"), "--db", db, *LIGHT)
    assert (result.exit_code, "2 added" in result.stdout) == (0, True), result.output
    assert "2 unchanged" in cli("index", s3.url("reports"), "--db", db, *LIGHT).stdout
    result = cli("search", "Where is wax made?", "--db", db, "--json", *LIGHT)
    (first, *_) = json.loads(result.stdout)["passages"]
    assert first["source"] == s3.url("reports/bees.txt")
    assert first["text"].strip() == "Bees make wax in eight glands."
    inside = "--in", s3.url("reports/old")
    result = cli("search", "wax", "--db", db, "--json", *inside, *LIGHT)
    found = {each["document"] for each in json.loads(result.stdout)["passages"]}
    assert found <= {s3.url("reports/old/gold.txt")}


def test_a_search_of_an_address_is_kept(cli, s3: S3, monkeypatch, tmp_path: Path) -> None:
    s3.put("bees.pdf", pdf_of(["Bees make wax in eight glands."]))
    first = cli("search", "Where is wax made?", s3.url(), *LIGHT)
    assert (first.exit_code, "eight glands" in first.stdout) == (0, True), first.output
    assert s3.url("bees.pdf") in first.stdout
    assert s3.read() == ["bees.pdf"]
    monkeypatch.chdir(tmp_path)
    assert "eight glands" in cli("search", "Where is wax made?", s3.url(), *LIGHT).stdout
    assert s3.read() == []
    result = cli("search", "Where is wax made?", s3.url(), "--json", *LIGHT)
    (passage,) = json.loads(result.stdout)["passages"]
    assert passage["boxes"][0]["page"] == 1


def test_the_cache_says_which_objects_it_holds(cli, s3: S3) -> None:
    s3.put("year/bees.txt", "Bees make wax in eight glands.")
    s3.put("year/old/gold.txt", "Gold melts at 1064 degrees.")
    cli("search", "wax", s3.url("year"), *LIGHT)
    assert f"index of 2 documents in {s3.url('year')}\n" in cli("cache").stdout


def test_a_bucket_that_is_not_there_makes_no_index(cli, s3: S3, tmp_path: Path) -> None:
    db = tmp_path / "db"
    result = cli("index", f"s3://{s3.bucket}-nope/x", "--db", db, *LIGHT)
    assert (result.exit_code, db.exists()) == (2, False)
    assert f"s3://{s3.bucket}-nope does not exist" in result.stderr
    assert not any(secret in result.output for secret in KEYS.values())
    result = cli("index", s3.url("nothing/here"), "--db", db, *LIGHT)
    assert (result.exit_code, db.exists()) == (2, False)
    assert "no index was made" in result.stderr


def test_nothing_is_erased_for_storage_that_cannot_be_asked(cli, s3: S3, tmp_path: Path) -> None:
    s3.put("bees.txt", "Bees make wax in eight glands.")
    db = tmp_path / "db"
    cli("index", s3.url(), "--db", db, *LIGHT)
    result = cli("index", f"s3://{s3.bucket}-nope", "--rebuild", "--db", db, *LIGHT)
    assert result.exit_code == 2
    assert "1 document" in cli("info", "--db", db, *LIGHT).stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("index", "s3://bucket/x", "--watch"), "object storage cannot be watched"),
        (("index", "s3://bucket/x", "--dry-run"), "only files and folders"),
        (("index", "s3://bucket/x", "--workers", "ray"), "for files and folders"),
        (("mcp", "run", "s3://bucket/x"), "--db FOLDER"),
        (("serve", "s3://bucket/x"), "--db FOLDER"),
        (("index", "s3://k:s3cret@bucket/x"), "s3://… has no bucket"),
    ],
)
def test_what_does_not_work_with_addresses_says_so(refusal, args: tuple[str, ...], said: str):
    line = refusal(*args)
    assert said in line
    assert "s3cret" not in line


def test_the_command_line_takes_an_address(cli, refusal, tmp_path: Path) -> None:
    notes = write_files(tmp_path / "notes", {"bees.txt": "Bees make wax in eight glands."})
    with fresh_schema() as address:
        result = cli("index", notes, "--db", address, *LIGHT)
        assert (result.exit_code, "1 document" in result.stdout) == (0, True)
        assert "schema=" not in result.output
        result = cli("search", "Where is wax made?", "--db", address, "--json", *LIGHT)
        assert "eight glands" in json.loads(result.stdout)["passages"][0]["text"]
        (notes / "bees.txt").write_text("Bees make honey of nectar.", encoding="utf-8")
        result = cli("index", notes, "--db", address, "--json", *LIGHT)
        assert len(json.loads(result.stdout)["changed"]) == 1
        result = cli("info", "--db", address, *LIGHT)
        assert "1 document" in result.stdout
        result = cli("search", "honey", "--db", address)  # by the model that made it
        assert "nectar" in result.stdout
        said = refusal("search", "honey", "--db", address, "--model", "landmark-minilm")
        assert "another model" in said
        result = cli("index", notes, "--db", address, "--rebuild", *LIGHT)
        assert "1 added" in result.stdout


def test_a_password_is_written_into_no_configuration(refusal, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    address = "postgresql://anna:s3cret@db.example/notes"
    said = refusal("mcp", "install", "vscode", "--db", address, "-y")
    assert "PGPASSWORD" in said
    assert "s3cret" not in said
    assert not list(tmp_path.rglob("*.json"))
