"""A file of rows that a killed run leaves whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost_train.journal import Journal

PIECES = {"a": [{"n": 1}, {"n": 2}], "b": [], "c": [{"n": 3, "text": "Größe\n"}]}


def write(path, pieces, **settings):
    with Journal(path, settings) as journal:
        for name, rows in pieces.items():
            if name not in journal.done:
                journal.write(name, rows, {"rows": len(rows)})
        return journal.counts


@settings(max_examples=40)
@given(lost=st.integers(0, 300))
def test_a_run_killed_anywhere_ends_like_one_that_was_not(tmp_path_factory, lost):
    """However much of its record the disk holds, going on gives the bytes of one run in one go."""
    folder = tmp_path_factory.mktemp("killed")
    whole, torn = folder / "whole.jsonl", folder / "torn.jsonl"
    write(whole, PIECES)
    write(torn, PIECES)
    record = folder / ".torn.jsonl.run" / "pieces.jsonl"
    record.write_bytes(record.read_bytes()[: max(0, record.stat().st_size - lost)])
    assert write(torn, PIECES) == {"rows": 3}
    assert torn.read_bytes() == whole.read_bytes()
    assert record.read_bytes() == (folder / ".whole.jsonl.run" / "pieces.jsonl").read_bytes()


def test_what_was_finished_is_there_when_a_run_fails(tmp_path):
    with pytest.raises(TypeError):
        write(tmp_path / "out.jsonl", {"a": PIECES["a"], "b": None})
    assert (tmp_path / "out.jsonl").read_text() == '{"n": 1}\n{"n": 2}\n'


def test_other_settings_are_an_error_that_names_them(tmp_path):
    write(tmp_path / "out.jsonl", PIECES, below=0.95)
    with pytest.raises(InputError, match=r"made with below 0\.95, not 0\.9"):
        write(tmp_path / "out.jsonl", PIECES, below=0.9)


def test_a_file_of_somebody_else_is_not_touched(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("precious\n")
    with pytest.raises(InputError, match="exists, but"):
        write(path, PIECES)
    assert path.read_text() == "precious\n"


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda path, run: (run / "settings.json").write_text("{\n"), "damaged"),
        (lambda path, run: (run / "pieces.jsonl").write_text("3\n"), "damaged"),
    ],
)
def test_harm_is_named(tmp_path, harm, said):
    path = tmp_path / "out.jsonl"
    write(path, PIECES)
    harm(path, tmp_path / ".out.jsonl.run")
    with pytest.raises(InputError, match=said):
        write(path, PIECES)


def test_a_place_that_cannot_be_written(tmp_path):
    """A file in the place of a folder and a gzipped name are refused before any work."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="Not a directory"):
        Journal(tmp_path / "file" / "out.jsonl", {})
    with pytest.raises(InputError, match="cannot be gzipped"):
        Journal(tmp_path / "out.jsonl.gz", {})
