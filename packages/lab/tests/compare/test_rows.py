"""Rows are named as they are read."""

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.compare.rows import CORE, CompareRow, read_row, rows_of  # noqa: E402


@pytest.mark.parametrize("name", ["mean", "attention:temperature=0.5", "lmk@random"])
def test_a_name_is_read_and_written_alike(name):
    assert read_row(name).name == name


def test_settings_have_the_type_of_their_default():
    row = read_row("attention:temperature=2")
    assert row == CompareRow("attention", (("temperature", 2.0),))
    assert isinstance(row.settings[0][1], float)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("men", "try: 'mean'"),
        ("attention:heat=2", "try: "),
        ("attention:temperature=hot", "its default, 1.0"),
        ("attention:temperature", "NAME:setting=value"),
        ("attention:temperature=0", "at least 0.001"),
        ("mean@randm", "try: 'random'"),
    ],
)
def test_what_cannot_be_is_named(name, said):
    with pytest.raises(InputError, match=said):
        read_row(name)


def test_all_operators_and_controls_each_once():
    names = [row.name for row in rows_of("all")]
    assert names[: len(pooling.names())] == list(pooling.names())
    assert names.count("mean@random") == 1
    assert [row.name for row in rows_of("mean, mean,lmk", controls=False)] == ["mean", "lmk"]
    with pytest.raises(InputError, match="no pooling is named"):
        rows_of(",")


def test_the_usual_rows_are_common_ones_and_those_of_others(monkeypatch):
    from milepost_lab.pooling import registry

    monkeypatch.setattr(registry, "_REGISTERED", {})
    assert [row.name for row in rows_of(None, controls=False)] == list(CORE)
    pooling.register("mine", lambda width, heads=4: None)
    assert [row.name for row in rows_of(None, controls=False)] == [*CORE, "mine"]
    row = read_row("mine:heads=2")
    assert (row.name, row.settings) == ("mine:heads=2", (("heads", 2),))
