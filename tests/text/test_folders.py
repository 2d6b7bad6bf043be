"""Which files of a folder are read."""

from pathlib import Path

import pytest

from milepost.errors import UnreadableFile
from milepost.text.folders import files


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("words", encoding="utf-8")


def names(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in files([root])]


def test_sorted_without_junk(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a/z.md", "a/y.pdf", ".hidden", ".git/config", "node_modules/x.md")
    make(tmp_path, "pic.png", "c/__pycache__/m.txt", "my-env/pyvenv.cfg", "my-env/lib/t.txt")
    assert names(tmp_path) == ["a/y.pdf", "a/z.md", "b.txt"]


def test_ignore_files_hold_below_them(tmp_path: Path) -> None:
    make(tmp_path, "keep.txt", "drop.log", "build/x.txt", "sub/a.log", "sub/b.txt", "other/b.txt")
    (tmp_path / ".gitignore").write_text("*.log\n/build/\n", encoding="utf-8")
    (tmp_path / "sub" / ".milepostignore").write_text("!a.log\nb.txt\n", encoding="utf-8")
    assert names(tmp_path) == ["keep.txt", "other/b.txt", "sub/a.log"]


def test_an_index_is_not_indexed(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "idx/milepost.sqlite", "idx/notes.txt")
    assert names(tmp_path) == ["a.txt"]


def test_a_named_file_is_always_taken_once(tmp_path: Path) -> None:
    make(tmp_path, ".hidden", "pic.png", "a.txt")
    given = [tmp_path / ".hidden", tmp_path / "pic.png", tmp_path / "a.txt", tmp_path]
    assert [path.name for path in files(given)] == [".hidden", "pic.png", "a.txt"]


def test_link_loops_end(tmp_path: Path) -> None:
    make(tmp_path, "a/x.txt")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    assert names(tmp_path) == ["a/x.txt"]


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="nowhere"):
        list(files([tmp_path / "nowhere"]))


@pytest.mark.parametrize("broken", ["!", "\\", "drop\\"])
def test_a_broken_line_of_an_ignore_file_is_passed_over(tmp_path: Path, broken: str) -> None:
    """A line that is no pattern hides neither the folder nor the other lines, as with git."""
    make(tmp_path, "keep.txt", "drop.log")
    (tmp_path / ".gitignore").write_text(f"{broken}\n*.log\n", encoding="utf-8")
    assert names(tmp_path) == ["keep.txt"]


def test_a_path_that_cannot_be_asked(tmp_path: Path) -> None:
    """A path too long for the system, and one with a zero byte, are named like missing ones."""
    with pytest.raises(UnreadableFile, match="cannot be reached: File name too long"):
        list(files([tmp_path / ("x" * 5000)]))
    with pytest.raises(UnreadableFile, match="does not exist"):
        list(files([tmp_path / "a\0b"]))
