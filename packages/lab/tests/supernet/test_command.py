"""``milepost lab supernet`` and ``milepost lab p2at`` from the command line."""

import json

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.console.options import Settings  # noqa: E402
from milepost.errors import InputError  # noqa: E402
from milepost_lab.command import STUDIES  # noqa: E402
from milepost_lab.p2at import study as segmentation  # noqa: E402
from milepost_lab.p2at.command import command as shapes  # noqa: E402
from milepost_lab.supernet import learner, mixture, tasks  # noqa: E402
from milepost_lab.supernet.command import command as search  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(tasks, "SIZES", dict.fromkeys(tasks.SIZES, 64))
    monkeypatch.setattr(learner, "BATCH", 4)
    monkeypatch.setattr(mixture, "SLICE", 8)
    monkeypatch.setattr(segmentation, "TRAIN", 8)
    monkeypatch.setattr(segmentation, "TEST", 8)


def run(command, *args):
    return CliRunner().invoke(
        command, [str(arg) for arg in args], obj=Settings(quiet=True), standalone_mode=False
    )


def test_the_lab_knows_both():
    assert {"supernet", "p2at"} <= STUDIES.keys()


def test_a_search_prints_placements_and_methods():
    args = ["--seeds", 1, "--steps", 1, "--budget", 12, "--supernets", "2", "--assign", "cost"]
    args += ["--task", "planted"]
    result = run(search, *args)
    assert result.exception is None
    lines = result.output.splitlines()
    assert len([line for line in lines if "±" in line]) == 10
    assert any(line.startswith("2 nets, cost ") for line in lines)
    assert any(line.startswith("best of 12 by lot") for line in lines)
    again = json.loads(run(search, *args, "--json").output)
    assert again["methods"][0]["name"] == "2 nets, cost"
    assert len(again["rows"]) == 10


def test_a_search_prints_joins_and_what_each_gives():
    args = ["--seeds", 1, "--steps", 1, "--budget", 1, "--supernets", "1"]
    args += ["--joins", "mean", "--joins", "max"]
    result = run(search, *args)
    assert result.exception is None
    lines = result.output.splitlines()
    assert len([line for line in lines if "±" in line]) == 24
    assert any(line.startswith("2 1 2 max mean ") for line in lines)
    assert any(line.startswith("halving 2: max ") for line in lines)
    made = json.loads(run(search, *args, "--json").output)
    assert made["rows"][1]["joins"] == ["mean", "max"]
    assert [part["name"] for part in made["parts"]][5:7] == ["3 1 1", "halving 1: mean"]
    assert made["methods"][0]["picks"][0].keys() == {"placement", "joins"}


def test_numbers_that_are_none_are_refused():
    assert "'1,x' is not a list of numbers" in str(run(search, "--supernets", "1,x").exception)


def test_shapes_print_a_line_an_arm():
    result = run(shapes, "--arm", "mean", "--arm", "corrected", "--steps", 1, "--seeds", 1)
    assert result.exception is None
    lines = result.output.splitlines()
    assert [line.split()[0] for line in lines] == ["arm", "mean", "corrected", "corrected@random"]
    rows = json.loads(run(shapes, "--arm", "mean", "--steps", 1, "--seeds", 1, "--json").output)[
        "rows"
    ]
    assert [row["arm"] for row in rows] == ["mean", "corrected@random"]
    alone = run(
        shapes, "--arm", "mean", "--steps", 1, "--seeds", 1, "--no-controls", "--json"
    ).output
    assert [row["arm"] for row in json.loads(alone)["rows"]] == ["mean"]
    assert set(rows[0]["overlap"]) == {"ground", "disc", "square", "bright bar", "dark bar"}


def test_an_unknown_arm_is_answered_with_the_nearest():
    result = run(shapes, "--arm", "ful")
    assert isinstance(result.exception, InputError)
    assert "try: 'full'" in str(result.exception)
