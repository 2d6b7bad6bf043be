"""Finished pieces of a study."""

import json
import re

import pytest

from milepost.errors import InputError
from milepost_lab.pieces import Pieces

STEPS = {"steps": "--steps 5"}


def counted(made):
    def make():
        made.append(len(made))
        return {"figure": len(made)}

    return make


def test_a_piece_is_made_once_and_again_where_it_cannot_be_read(tmp_path):
    made = []
    pieces = Pieces(tmp_path, "data", STEPS)
    first = pieces.kept("a", (1,), counted(made))
    assert first == pieces.kept("a", (1,), counted(made)) == {"figure": 1}
    assert pieces.kept("b", (2,), counted(made)) == {"figure": 2}
    (tmp_path / "a.json").write_text('{"key":')  # cut off
    assert pieces.kept("a", (1,), counted(made)) == {"figure": 3}
    assert json.loads((tmp_path / "study.json").read_text()) == {"all": STEPS}


def test_other_settings_are_refused_and_nothing_is_written(tmp_path):
    Pieces(tmp_path, "5", STEPS).kept("a", 0, lambda: 1)
    kept = {file: file.read_bytes() for file in tmp_path.iterdir()}
    said = f"{tmp_path} holds runs with --steps 5, not --steps 9; try: --steps 5, or another --out"
    for name in ("a", "b"):  # a new piece would be of another study, too
        with pytest.raises(InputError, match=re.escape(said)):
            Pieces(tmp_path, "9", {"steps": "--steps 9"}).kept(name, 0, lambda: 2)
    with pytest.raises(InputError, match=r"a\.json was made with other settings or data"):
        Pieces(tmp_path, "other data", STEPS).kept("a", 0, lambda: 2)
    with pytest.raises(InputError, match=r"a\.json was made with other settings or data"):
        Pieces(tmp_path, "5", STEPS).kept("a", "depends on more", lambda: 2)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == kept


def test_parts_of_a_study_have_settings_of_their_own(tmp_path):
    more = {"steps": "--steps 9"}
    Pieces(tmp_path, "5", STEPS, "digits").kept("digits-0", 0, lambda: 1)
    Pieces(tmp_path, "9", more, "sums").kept("sums-0", 0, lambda: 1)
    found = json.loads((tmp_path / "study.json").read_text())
    assert found == {"digits": STEPS, "sums": more}
    with pytest.raises(InputError, match="--steps 5, not --steps 9"):
        Pieces(tmp_path, "9", more, "digits").kept("digits-1", 0, lambda: 1)


def test_a_folder_without_settings_gets_them_once_a_piece_agrees(tmp_path):
    """Folders that are older than the file: a wrong run must not name the settings of the right."""
    Pieces(tmp_path, "5", STEPS).kept("a", 0, lambda: 1)
    noted = tmp_path / "study.json"
    noted.unlink()
    wrong = Pieces(tmp_path, "9", {"steps": "--steps 9"})
    with pytest.raises(InputError, match="was made with other settings or data"):
        wrong.kept("a", 0, lambda: 2)
    wrong.kept("b", 0, lambda: 2)
    assert not noted.exists()
    assert Pieces(tmp_path, "5", STEPS).kept("a", 0, lambda: 2) == 1
    assert json.loads(noted.read_text()) == {"all": STEPS}


def test_without_a_folder_nothing_is_kept():
    numbers = iter(range(3))
    pieces = Pieces(None, "data", STEPS)
    assert [pieces.kept("a", 0, lambda: next(numbers)) for _ in range(2)] == [0, 1]
