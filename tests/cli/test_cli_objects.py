"""Object storage on the command line, with a real server."""

import json
from pathlib import Path

import pytest

from support.pdf_writer import PdfPage, write_pdf
from support.s3 import KEYS, S3, moto, s3

__all__ = ["moto", "s3"]

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
    assert (first["source"], first["text"].strip()) == (
        s3.url("reports/bees.txt"),
        "Bees make wax in eight glands.",
    )
    inside = "--in", s3.url("reports/old")
    result = cli("search", "wax", "--db", db, "--json", *inside, *LIGHT)
    found = {each["document"] for each in json.loads(result.stdout)["passages"]}
    assert found <= {s3.url("reports/old/gold.txt")}


def test_a_search_of_an_address_is_kept(cli, s3: S3, monkeypatch, tmp_path: Path) -> None:
    page = PdfPage()
    page.text(72, 700, "Bees make wax in eight glands.")
    s3.put("bees.pdf", write_pdf([page]))
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
    assert "1 documents" in cli("info", "--db", db, *LIGHT).stdout


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
def test_what_does_not_work_with_addresses_says_so(cli, args: tuple[str, ...], said: str) -> None:
    result = cli(*args)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output
    assert "s3cret" not in result.output
    assert len(result.stderr.strip().splitlines()[-1:]) == 1
