"""``milepost lab ponet`` from the command line."""

import json
from functools import partial

import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="needs the train extra")

from milepost.console.options import Settings
from milepost.errors import InputError
from milepost_lab.ponet import study
from milepost_lab.ponet.command import command as mixers

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def few_held_out(monkeypatch):
    monkeypatch.setattr(study, "PonetRecipe", partial(study.PonetRecipe, held_out=16, batch=4))
    monkeypatch.setattr(study, "_SIZE", 2000)


def run(*args):
    return CliRunner().invoke(
        mixers, [str(arg) for arg in args], obj=Settings(), standalone_mode=False
    )


def test_two_tables_for_people():
    result = run("--texts", "listops", "--steps", 1, "--longest", 64, "--lengths", "64,128")
    assert result.exception is None
    assert "ponet, cut at random" in result.output
    assert "grows as" in result.output
    assert "ponet@hierarchical" in result.output


def test_controls_can_be_left_out_and_are_in_the_json_otherwise():
    small = ("--texts", "topics", "--steps", 1, "--longest", 64, "--lengths", "", "--json")
    rows = [json.loads(run(*small, *more).stdout)["learned"] for more in ((), ("--no-controls",))]
    with_controls, without = ([row["mixer"] for row in each] for each in rows)
    assert with_controls == [*without, "ponet@random", "ponet@nonsense", "ponet@hierarchical"]


def test_json_holds_costs_alone_where_nothing_is_learned():
    found = json.loads(run("--texts", "none", "--lengths", "64", "--json").stdout)
    assert found["learned"] == []
    assert {each["mixer"] for each in found["costs"]} >= {"plain", "ponet"}


def test_lengths_that_are_none_are_named_before_anything_is_trained():
    assert isinstance(run("--lengths", "many").exception, InputError)
