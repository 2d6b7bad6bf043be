"""Finished pieces of a study."""

from milepost.lab.pieces import Pieces


def test_a_piece_is_made_once_and_again_where_anything_it_depends_on_changed(tmp_path):
    made = []

    def make():
        made.append(len(made))
        return {"figure": len(made)}

    pieces = Pieces(tmp_path, "data")
    assert pieces.kept("a", (1,), make) == pieces.kept("a", (1,), make) == {"figure": 1}
    assert pieces.kept("a", (2,), make) == {"figure": 2}
    assert Pieces(tmp_path, "other").kept("a", (2,), make) == {"figure": 3}
    (tmp_path / "a.json").write_text('{"key":')  # cut off
    assert Pieces(tmp_path, "other").kept("a", (2,), make) == {"figure": 4}
    assert len(made) == 4


def test_without_a_folder_nothing_is_kept():
    numbers = iter(range(3))
    pieces = Pieces(None, "data")
    assert [pieces.kept("a", 0, lambda: next(numbers)) for _ in range(2)] == [0, 1]
