"""``milepost search PATH``: the index of the cache, used again, followed and made anew."""

import json
import os
from pathlib import Path

from milepost.engine.folder import cache_folder
from support.small_index import write_schema


def found(result) -> list[dict]:
    return json.loads(result.stdout)["passages"]


def test_the_second_run_does_not_open_the_files(cli, model, notes):
    file = notes / "bees.txt"
    cli("search", "bees", file, *model)
    before = file.stat()
    file.write_bytes(b"x" * before.st_size)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    result = cli("search", "What do bees build?", file, "--json", *model)
    assert json.loads(result.stdout)["report"]["unchanged"] == [str(file)]
    assert "cells of wax" in found(result)[0]["text"]


def test_the_cache_follows_changes(cli, model, notes):
    cli("search", "bees", notes, *model)
    (notes / "gold.txt").unlink()
    (notes / "bees.txt").write_text("Wasps build nests of paper.\n", encoding="utf-8")
    (notes / "new.txt").write_text("Ants keep fungus gardens.\n", encoding="utf-8")
    report = json.loads(cli("search", "paper", notes, "--json", *model).stdout)["report"]
    names = {
        kind: [Path(name).name for name in report[kind]]
        for kind in report
        if report[kind] and isinstance(report[kind], list)
    }
    assert names == {
        "added": ["new.txt"],
        "unchanged": ["ships.md"],
        "changed": ["bees.txt"],
        "removed": ["gold.txt"],
    }


def test_a_file_that_is_gone_is_not_searched_from_the_cache(cli, model, notes):
    paths = [notes / "bees.txt", notes / "gold.txt"]
    cli("search", "gold", *paths, *model)
    (notes / "gold.txt").unlink()
    result = cli("search", "What melts at 1064 degrees?", *paths, "--json", *model)
    assert {Path(passage["document"]).name for passage in found(result)} == {"bees.txt"}


def test_no_cache_keeps_nothing(cli, model, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "own"))
    assert cli("search", "bees", notes, "--no-cache", *model).exit_code == 0
    assert not (cache_folder() / "indexes").exists()
    assert cli("search", "bees", notes, *model).exit_code == 0
    assert len(list((cache_folder() / "indexes").iterdir())) == 1


def test_a_cache_that_cannot_be_used_is_done_without(cli, model, notes, tmp_path, monkeypatch):
    (tmp_path / "own").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "own"))
    result = cli("search", "bees", notes / "bees.txt", *model)
    assert result.exit_code == 0
    assert result.stderr.startswith("milepost: the cache is not used")
    assert cli("search", "bees", notes / "bees.txt", "-q", *model).stderr == ""


def test_a_damaged_cache_is_made_anew(cli, model, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "own"))
    cli("search", "bees", notes / "bees.txt", *model)
    (file,) = (cache_folder() / "indexes").glob("*/milepost.sqlite")
    data = bytearray(file.read_bytes())
    data[100:3000] = b"\xff" * 2900
    file.write_bytes(data)
    result = cli("search", "What do bees build?", notes / "bees.txt", "--json", *model)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["report"]["added"] == [str(notes / "bees.txt")]


def test_a_cache_of_an_older_schema_is_made_anew(cli, model, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "own"))
    asked = "search", "What do bees build?", notes / "bees.txt", *model
    before = cli(*asked).stdout
    (folder,) = (cache_folder() / "indexes").iterdir()
    write_schema(folder, 2)
    result = cli(*asked, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout)["report"]["added"] == [str(notes / "bees.txt")]
    assert cli(*asked).stdout == before
    assert json.loads(cli(*asked, "--json").stdout)["report"]["unchanged"]
