"""An index on a server, from the command line."""

import json
from pathlib import Path

import pytest

pytest.importorskip("psycopg_pool", reason="needs the extra postgres")

from support.postgres import fresh_schema


def test_the_command_line_takes_an_address(cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "bees.txt").write_text("Bees make wax in eight glands.", encoding="utf-8")
    light = "--model", "landmark-light"
    with fresh_schema() as address:
        result = cli("index", notes, "--db", address, *light)
        assert (result.exit_code, "1 documents" in result.stdout) == (0, True)
        assert "schema=" not in result.output
        result = cli("search", "Where is wax made?", "--db", address, "--json", *light)
        assert "eight glands" in json.loads(result.stdout)["passages"][0]["text"]
        (notes / "bees.txt").write_text("Bees make honey of nectar.", encoding="utf-8")
        result = cli("index", notes, "--db", address, "--json", *light)
        assert len(json.loads(result.stdout)["changed"]) == 1
        result = cli("info", "--db", address, *light)
        assert "1 documents" in result.stdout
        result = cli("search", "honey", "--db", address)  # by the model that made it
        assert "nectar" in result.stdout
        result = cli("search", "honey", "--db", address, "--model", "landmark-minilm")
        assert (result.exit_code, "another model" in result.stderr) == (2, True)
        result = cli("index", notes, "--db", address, "--rebuild", *light)
        assert "1 added" in result.stdout


def test_a_password_is_written_into_no_configuration(cli, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    address = "postgresql://anna:s3cret@db.example/notes"
    result = cli("mcp", "install", "vscode", "--db", address, "-y")
    assert result.exit_code == 2
    assert "PGPASSWORD" in result.stderr
    assert "s3cret" not in result.output
    assert not list(tmp_path.rglob("*.json"))
