"""``milepost lab xpool`` from the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="needs the train extra")

from milepost.console.options import Settings
from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.xpool.command import command as rerank
from support.landmark_collections import write_task

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("small_controls")]


def run(*args, quiet=False):
    return CliRunner().invoke(
        rerank, [str(arg) for arg in args], obj=Settings(quiet=quiet), standalone_mode=False
    )


def test_a_table_for_people_and_a_pooling_for_use(tmp_path, model):
    task, out = write_task(tmp_path / "small"), tmp_path / "new" / "xpool.npz"
    result = run(task, "--steps", 2, "--out", out, *model)
    assert result.exception is None
    assert result.return_value == 0
    assert "mean of landmarks" in result.output
    assert "xpool for another question" in result.output
    assert "\nxpool@hierarchical " in result.output
    assert "landmarks of untrained baselines" in result.output
    assert "4 dev questions over 4 documents of small; " in result.output
    pool = pooling.load(out)
    width = len(pool.weights["input_scale"])
    vector = pool(np.ones((3, width), "f4"), [3], queries=np.ones((1, width), "f4"))
    assert vector.shape == (1, width)


def test_json_holds_what_the_table_is_made_of(tmp_path, model):
    task = write_task(tmp_path / "small")
    given = ("--steps", 2, "--seeds", 2, "--no-controls", "--json", *model)
    found = json.loads(run(task, *given).stdout)
    assert found["ceiling"] == 1
    rows = {row["name"]: row for row in found["rows"]}
    assert len(rows["xpool"]["mrr of seeds"]) == 2
    assert rows["best landmark"]["recall@1 of tasks"].keys() == {"small"}


def test_every_control_has_the_rows_of_the_experiment(tmp_path, model):
    """With the columns of the model's, and told apart from them."""
    task = write_task(tmp_path / "small")
    # More heads than a control has numbers: it gets as many as it can have.
    given = (task, "--steps", 2, "--heads", 128, *model)
    rows = {row["name"]: row for row in json.loads(run(*given, "--json").stdout)["rows"]}
    controls = {name: row for name, row in rows.items() if row.get("control")}
    assert controls.keys() == {
        f"{name}@{control}"
        for name in ("mean of landmarks", "best landmark", "xpool")
        for control in ("random", "nonsense", "hierarchical")
    }
    for name, row in controls.items():
        own = rows[name.partition("@")[0]]
        assert row.keys() - own.keys() <= {"control", "ceiling"}
        assert row["recall@5"][0] >= row["recall@1"][0]
    assert controls["mean of landmarks@random"]["ceiling"] == 1
    figures = [controls[f"best landmark@{name}"]["mrr"] for name in ("random", "nonsense")]
    assert figures[0] != rows["best landmark"]["mrr"]
    bare = run(*given, "--no-controls").output
    assert "@random" not in bare


def test_a_task_without_training_questions_is_named(tmp_path, model):
    task = write_task(tmp_path / "small", splits=("dev",))
    result = run(task, *model)
    assert isinstance(result.exception, InputError)
    assert "no train question" in str(result.exception)
