"""``milepost lab rerank`` from the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="needs the train extra")

from landmark_collections import write_task
from milepost import pooling
from milepost.cli.lab_rerank import rerank
from milepost.cli.options import Settings
from milepost.errors import InputError

pytestmark = pytest.mark.torch


def run(*args, quiet=False):
    return CliRunner().invoke(
        rerank, [str(arg) for arg in args], obj=Settings(quiet=quiet), standalone_mode=False
    )


def test_a_table_for_people_and_a_pooling_for_use(tmp_path, model):
    task, out = write_task(tmp_path / "small"), tmp_path / "xpool.npz"
    result = run(task, "--steps", 2, "--out", out, *model)
    assert result.exception is None
    assert result.return_value == 0
    assert "mean of landmarks" in result.output
    assert "xpool for another question" in result.output
    assert "4 dev questions over 4 documents of small; " in result.output
    pool = pooling.load(out)
    width = len(pool.weights["input_scale"])
    vector = pool(np.ones((3, width), "f4"), [3], queries=np.ones((1, width), "f4"))
    assert vector.shape == (1, width)


def test_json_holds_what_the_table_is_made_of(tmp_path, model):
    task = write_task(tmp_path / "small")
    found = json.loads(run(task, "--steps", 2, "--seeds", 2, "--json", *model).stdout)
    assert found["ceiling"] == 1
    rows = {row["name"]: row for row in found["rows"]}
    assert len(rows["xpool"]["mrr of seeds"]) == 2
    assert rows["best landmark"]["recall@1 of tasks"].keys() == {"small"}


def test_a_task_without_training_questions_is_named(tmp_path, model):
    task = write_task(tmp_path / "small", splits=("dev",))
    result = run(task, *model)
    assert isinstance(result.exception, InputError)
    assert "no train question" in str(result.exception)
