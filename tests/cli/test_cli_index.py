"""``milepost index``, ``copy`` and ``remove``."""

import json
import sys
import zlib
from pathlib import Path

import pytest

import milepost
from milepost.encoder.engine.folder import cache_folder
from milepost.store.sqlite.schema import VERSION
from support.files import write_files
from support.small_index import write_schema


def names(db: Path, model: list[str]) -> list[str]:
    with milepost.open(db, model=model[-1] if model else None, create=False) as index:
        return sorted(Path(info.name).name for info in index.documents())


def test_index_says_what_became_of_the_files(cli, model, notes, tmp_path):
    db = tmp_path / "db"
    result = cli("index", notes, "--db", db, *model)
    assert result.exit_code == 0
    assert "3 documents" in result.stdout
    assert "3 added" in result.stdout
    assert "sentences/s" in result.stdout
    again = cli("index", notes, "--db", db, *model)
    assert "3 unchanged" in again.stdout
    assert "sentences/s" not in again.stdout
    assert names(db, model) == ["bees.txt", "gold.txt", "ships.md"]


def test_index_json_is_the_report(cli, model, notes, tmp_path):
    (notes / "broken.pdf").write_bytes(b"no pdf at all")
    record = json.loads(cli("index", notes, "--db", tmp_path / "db", "--json", *model).stdout)
    assert record["version"] == 3
    assert len(record["added"]) == 3
    assert "broken.pdf" in record["failed"][str(notes / "broken.pdf")]
    assert record["sentences"] > 0
    assert record["tokens"] > 0


def test_index_fails_only_if_nothing_could_be_read(cli, model, notes, tmp_path):
    result = cli("index", notes, tmp_path / "none", "--db", tmp_path / "db", *model)
    assert result.exit_code == 0
    assert "none does not exist" in result.stderr
    alone = cli("index", tmp_path / "none", "--db", tmp_path / "db", *model)
    assert (alone.exit_code, "none does not exist" in alone.stderr) == (2, True)


def test_a_mistyped_path_makes_no_index(refusal, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for place in ("--db=new", "--db=empty", "-q"):
        said = refusal("index", "typo", "typpo", place, *model)
        assert said == "milepost: typo does not exist; no index was made; try: check the path\n"
    assert "~nobody-here/x does not exist" in refusal("index", "~nobody-here/x", *model)
    assert sorted(tmp_path.rglob("*")) == before


def test_rebuild_keeps_what_is_not_of_its_paths(cli, model, own_db, notes, tmp_path):
    (own_db / "uploads").mkdir()
    tea = write_files(tmp_path / "other", {"tea.txt": "Tea is grown in Assam.\n"}) / "tea.txt"
    assert cli("index", tea, "--db", own_db, *model).exit_code == 0
    coffee = "Coffee is grown in Yemen."
    assert cli("index", "-", "--db", own_db, *model, input=coffee).exit_code == 0
    tea.unlink()
    (notes / "gold.txt").unlink()
    result = cli("index", notes, "--db", own_db, "--rebuild", "--model", "landmark-minilm")
    assert result.exit_code == 0
    assert "4 documents" in result.stdout
    assert "2 added" in result.stdout
    with milepost.open(own_db) as index:
        for question in ("Where is tea grown?", "Where is coffee grown?"):
            assert "grown" in index.search(question)[0].text
    assert cli("remove", "tea.txt", "--db", own_db).exit_code == 0


def test_an_index_of_an_older_schema_is_made_anew_by_rebuild(cli, refusal, model, own_db, notes):
    write_schema(own_db, 2)
    said = refusal("index", notes, "--db", own_db, *model)
    assert f"schema 2, this one reads {VERSION}" in said
    assert f"milepost index PATH… --db {own_db} --rebuild" in said
    rebuilt = cli("index", notes, "--db", own_db, "--rebuild", *model)
    assert rebuilt.exit_code == 0
    assert "only the PATHs are indexed again, as" in rebuilt.stderr
    assert names(own_db, model) == ["bees.txt", "gold.txt", "ships.md"]


def test_rebuild_of_nothing_erases_nothing(refusal, model, db, tmp_path):
    said = refusal("index", tmp_path / "typo", "--db", db, "--rebuild", *model)
    assert "nothing was erased" in said
    assert len(names(db, model)) == 3


def test_rebuild_makes_an_index_that_was_not_there(cli, model, notes, tmp_path):
    (tmp_path / "served" / "uploads").mkdir(parents=True)
    for db in ("new", "served"):
        assert cli("index", notes, "--db", tmp_path / db, "--rebuild", *model).exit_code == 0


def test_a_folder_of_something_else_is_left_alone(refusal, model, notes, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work", encoding="utf-8")
    for extra in ([], ["--rebuild"]):
        refusal("index", notes, "--db", other, *extra, *model)
        assert [path.name for path in other.iterdir()] == ["thesis.txt"]


def test_stdin_is_indexed_and_replaced(cli, model, tmp_path):
    for text in ("Tin is white.", "Copper is red."):
        result = cli("index", "-", "--db", tmp_path / "db", *model, input=text)
        assert result.exit_code == 0
    with milepost.open(tmp_path / "db", model=model[-1] if model else None) as index:
        assert index.document("stdin").text == "Copper is red."
        assert len(index.documents()) == 1


def test_recognition_that_is_not_installed_is_one_error(
    refusal, model, notes, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    for arguments in (["index", notes, "--db", tmp_path / "db"], ["search", "bees", notes]):
        assert "pip install 'milepost[ocr]'" in refusal(*arguments, "--ocr", "auto", *model)


def test_a_dry_run_lists_and_changes_nothing(cli, model, notes, tmp_path):
    db = tmp_path / "db"
    (notes / "photo.png").write_bytes(b"\x89PNG")
    result = cli("index", notes, "--db", db, "--dry-run", *model)
    assert result.exit_code == 0
    assert result.stderr.startswith("milepost: 3 to add (")
    assert result.stderr.endswith("), 1 skipped; nothing was changed\n")
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["add"] * 3 + ["skip"]
    assert "photo.png  (a picture (--ocr auto reads it))" in result.stdout
    assert not db.exists()
    assert cli("index", notes, "--db", db, *model).exit_code == 0
    before = {path: path.read_bytes() for path in db.rglob("*") if path.is_file()}
    (notes / "gold.txt").unlink()
    record = json.loads(cli("index", notes, "--db", db, "--dry-run", "--json", *model).stdout)
    actions = {Path(each["path"]).name: each["action"] for each in record["files"]}
    assert actions == {
        "bees.txt": "unchanged",
        "ships.md": "unchanged",
        "gold.txt": "remove",
        "photo.png": "skip",
    }
    # A reader leaves the files -shm and -wal of SQLite behind, as every search does.
    assert {path: path.read_bytes() for path in before} == before
    write_schema(db, 1)
    assert cli("index", notes, "--db", db, "--dry-run", *model).exit_code == 2
    rebuilt = cli("index", notes, "-", "--db", db, "--dry-run", "--rebuild", *model)
    assert "3 to add" in rebuilt.stderr
    assert "stdin  (not read yet)" in rebuilt.stdout


def test_a_dry_run_of_nothing_is_an_error(cli, model, tmp_path):
    result = cli("index", tmp_path / "none", "--db", tmp_path / "db", "--dry-run", *model)
    assert result.exit_code == 2
    assert "fail" in result.stdout
    both = cli("index", tmp_path, "--dry-run", "--watch", *model)
    assert "give --dry-run or --watch, not both" in both.stderr


LIGHT = "landmark-light"


def test_a_copy_by_the_command(cli, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with milepost.open(source, model=LIGHT) as index:
        index.add([milepost.Document(name, "One. Two.") for name in ("a", "b")])
    result = cli("copy", "--from", source, "--to", target, "--model", LIGHT)
    assert "2 added, 0 changed, 0 unchanged, 4 sentences copied" in result.stdout
    result = cli("copy", "--from", source, "--to", target, "--model", LIGHT, "--json")
    assert '"unchanged": ["a", "b"]' in result.stdout
    assert cli("copy", "--from", source).exit_code == 2


SECRET = "The quokka's plover was paid in Lisbon. "


@pytest.fixture
def filled(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index with an upload and a folder's files; one of them was searched as well."""
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))
    texts = {"secret.txt": SECRET, "plain.txt": "Bees build cells of wax. " * 30}
    folder, db = write_files(tmp_path / "notes", texts), tmp_path / "db"
    assert cli("index", folder, "--db", db, "--model", LIGHT).exit_code == 0
    write_files(db, {"uploads/upload.txt": SECRET * 2})
    assert cli("index", db / "uploads", "--db", db).exit_code == 0
    assert cli("search", "who was paid", folder / "secret.txt", "--model", LIGHT).exit_code == 0
    return db


def holding(*folders: Path) -> list[str]:
    marks = [b"quokka", *(zlib.compress((SECRET * n).encode())[:30] for n in (1, 2))]
    paths = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return [path.name for path in paths if any(mark in path.read_bytes() for mark in marks)]


def test_it_says_what_was_removed_and_what_remains(cli, filled: Path) -> None:
    done = cli("remove", "secret.txt", "--db", filled, "--json")
    report = json.loads(done.stdout)
    assert report["removed"] == [str(filled.parent / "notes" / "secret.txt")]
    assert report["characters"] == len(SECRET)
    assert (report["sentences"], report["files"]) == (1, [])
    assert report["words"] > 3
    assert "its files, until" in report["remains"]
    assert str(cache_folder()) in report["remains"]
    assert (filled.parent / "notes" / "secret.txt").exists()
    assert "milepost.sqlite" in holding(filled, cache_folder())


def test_now_leaves_no_byte(cli, filled: Path) -> None:
    cli("remove", "secret.txt", "--db", filled)
    done = cli("remove", "upload.txt", filled.parent / "notes" / "secret.txt", "--db", filled)
    assert done.exit_code == 2  # one is gone already: nothing else is removed
    assert (filled / "uploads" / "upload.txt").exists()
    done = cli("remove", "upload.txt", "--now", "--db", filled)
    assert done.exit_code == 0
    assert "nothing of it is left" in done.stdout
    assert holding(filled) == []
    assert holding(cache_folder()) != []  # it was removed without --now
    with milepost.open(filled) as index:
        assert [Path(info.name).name for info in index.documents()] == ["plain.txt"]
        assert index.search("what do bees build?", k=1)
    cli("index", filled.parent / "notes", "--db", filled)
    report = json.loads(cli("remove", "secret.txt", "--now", "--db", filled, "--json").stdout)
    assert report["remains"] == ""
    assert len(report["files"]) == 1
    assert holding(filled, cache_folder()) == []


def test_what_was_removed_earlier_is_erased_without_a_name(cli, filled: Path) -> None:
    """``--now`` alone, and the end of ``Index.remove`` in Python."""
    cli("remove", "secret.txt", "upload.txt", "--db", filled)
    assert holding(filled) != []
    assert cli("remove", "--now", "--db", filled).exit_code == 0
    assert holding(filled) == []
    with milepost.open(filled) as index:
        index.add(milepost.Document("again", SECRET))
        assert index.remove("again", now=True).remains == ""
        assert holding(filled) == []


def test_what_cannot_be_removed_is_said(refusal, filled: Path) -> None:
    for given in (["unknown.txt", "--db", filled], ["--db", filled], ["x", "--db", "nowhere"]):
        refusal("remove", *given)
