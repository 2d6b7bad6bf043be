"""What ``Index.add`` would do, beside what it does."""

import os
import random
from pathlib import Path

import pytest

import milepost
from milepost.cli.dry_run import Planned, plan
from milepost.store import DocumentInfo
from milepost.testing import fake_encoder
from support.files import write_files
from support.pdf_writer import pdf_of

WORDS = "Bees build cells of wax.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "a.txt": WORDS,
        "sub/b.md": f"# Bees\n\n{WORDS}",
        "three.pdf": pdf_of(*[[WORDS.strip()]] * 3),
        ".gitignore": "*.log\n",
        "x.log": WORDS,
        "empty.txt": "",
        "binary.foo": random.Random(3).randbytes(5000),
        "false.pdf": WORDS,
        "cut.pdf": b"%PDF-1.7 and no more",
        "z.zip": b"PK",
        "photo.png": b"\x89PNG",
        "~$plan.docx": b"x",
    }
    made = write_files(tmp_path / "folder", files)
    (made / "node_modules").mkdir()
    (made / "broken").symlink_to("nowhere")
    return made


def by_name(planned: list[Planned]) -> dict[str, Planned]:
    assert len({each.path for each in planned}) == len(planned), "each once"
    return {Path(each.path).name: each for each in planned}


def test_every_name_of_a_folder_has_its_reason(folder: Path) -> None:
    found = by_name(plan([], [folder]))
    names = {path.name for path in folder.rglob("*")}
    assert set(found) == names - {"sub"}, "nothing is left out in silence"
    added = {name for name, each in found.items() if each.action == "add"}
    assert added == {"a.txt", "b.md", "three.pdf"}
    assert found["a.txt"].size_bytes == len(WORDS)
    said = {name: (each.action, each.reason) for name, each in found.items() if each.reason}
    assert said == {
        ".gitignore": ("skip", "hidden"),
        "x.log": ("skip", f"ignored by {folder / '.gitignore'}"),
        "node_modules": ("skip", "a folder of installed or cached files"),
        "z.zip": ("skip", "no text: .zip"),
        "photo.png": ("skip", "a picture (--ocr auto reads it)"),
        "~$plan.docx": ("skip", "a lock of another program"),
        "broken": ("skip", "neither a file nor a folder"),
        "empty.txt": ("fail", "is empty (0 bytes)"),
        "binary.foo": ("fail", "is a binary file, not text"),
        "false.pdf": ("fail", "is not a pdf file, in spite of its suffix"),
        "cut.pdf": ("fail", "is damaged or truncated"),
    }


def test_the_plan_is_what_add_then_does(folder: Path) -> None:
    with milepost.open(model=fake_encoder()) as index:
        for change in (lambda: None, lambda: disturb(folder)):
            change()
            planned = plan(index.documents(), [folder, folder / "nowhere"])
            before = {info.name for info in index.documents()}
            report = index.add([folder, folder / "nowhere"])
            wanted = {
                "add": report.added,
                "change": report.changed,
                "unchanged": report.unchanged,
                "remove": report.removed,
                "fail": tuple(report.failed),
            }
            for action, names in wanted.items():
                assert {each.path for each in planned if each.action == action} == set(names)
            assert not before & {each.path for each in planned if each.action == "add"}
    reasons = {Path(each.path).name: each.reason for each in planned if each.reason}
    assert reasons["a.txt"] == "size or time has changed"
    assert reasons["b.md"] == "the file is gone"
    assert reasons["three.pdf"].startswith("ignored by")


def disturb(folder: Path) -> None:
    (folder / "a.txt").write_text(WORDS * 2, encoding="utf-8")
    (folder / "sub" / "b.md").unlink()
    (folder / ".gitignore").write_text("*.log\nthree.pdf\n", encoding="utf-8")
    (folder / "new.txt").write_text(WORDS, encoding="utf-8")


def test_a_rebuild_reads_everything_and_forgets_what_is_gone(tmp_path: Path, folder: Path) -> None:
    stamp = (folder / "a.txt").stat()
    now = stamp.st_size, stamp.st_mtime_ns
    places = (folder / "a.txt", now), (folder / "gone.txt", (1, 1)), (tmp_path / "else.txt", (1, 1))
    here, gone, elsewhere = (
        DocumentInfo(str(path), str(path), "", signature, 1, 1, 0) for path, signature in places
    )
    assert by_name(plan([here, gone], [folder]))["a.txt"].action == "unchanged"
    rebuilt = by_name(plan([here, gone, elsewhere], [folder], rebuild=True))
    assert rebuilt["a.txt"].action == "add"
    assert rebuilt["gone.txt"].action == "remove"
    assert "else.txt" not in rebuilt


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_and_a_locked_file_do_not_hold_it_up(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "a.txt").chmod(0)
    found = by_name(plan([], [folder, folder / "pipe"]))
    assert found["pipe"].action == "fail"
    if os.geteuid():
        locked = found["a.txt"]
        assert (locked.action, locked.reason) == ("fail", "cannot be read: Permission denied")
