"""``milepost lab fusion``: bilinear fusions from the command line."""

import json

import pytest

pytest.importorskip("torch", reason="needs the train extra")

from click.testing import CliRunner

from milepost.cli.lab import lab
from milepost.cli.lab_fusion import fusion
from milepost.cli.options import Settings
from milepost.errors import InputError

pytestmark = pytest.mark.torch
SHORT = ("--steps", "5", "--seeds", "2", "--fusion", "mlb")


def run(*args):
    return CliRunner().invoke(
        fusion, [str(arg) for arg in args], obj=Settings(), standalone_mode=False
    )


def test_it_hangs_in_the_lab():
    result = CliRunner().invoke(lab, ["fusion", "--help"])
    assert "product-K" in result.output


def test_a_table_and_a_sentence_for_each_task():
    result = run("--task", "product-1", "--task", "sum-3", *SHORT)
    assert result.exception is None
    assert result.return_value == 0
    for name in ("product-1", "sum-3"):
        assert f"{name}: rows told right" in result.output
        assert f"{name}: no bilinear fusion" in result.output
    assert result.output.count("\nmlb ") == 2
    assert "A plain product (hadamard) is " in result.output


def test_json_holds_every_seed_and_interval():
    given = ("--task", "product-1", "--parameters", "300", "--json", *SHORT)
    result = run(*given)
    (task,) = json.loads(result.output)["tasks"]
    assert [row["name"] for row in task["rows"]] == ["concat-mlp", "hadamard", "mlb"]
    for row in task["rows"]:
        assert len(row["figures"]) == 2
        assert row["parameters"] <= 300
    gain = task["rows"][2]["gains"]["hadamard"]
    assert gain["low"] <= gain["mean"] <= gain["high"]
    assert run(*given).output == result.output


def test_a_folder_is_ranked_again(tmp_path, model):
    filler = "The hive stands in the garden. It was made of straw. Children pass it. "
    documents, questions = [], []
    for name, split in (("a", "train"), ("b", "dev")):
        documents.append({"id": name, "text": f"{filler}The queen lays the eggs. {filler}"})
        start = len(filler)
        row = {"document": name, "spans": [[start, start + 24]], "split": split}
        asked = ("Who lays the eggs?", "What does the queen do?", "queen eggs")
        questions += [{"id": f"{name}{n}", "question": q, **row} for n, q in enumerate(2 * asked)]
    for name, rows in (("documents", documents), ("questions", questions)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    result = run(
        tmp_path, "--task", "product-1", "--cache", tmp_path / "cache", "--candidates", 4,
        "--json", *model, *SHORT,
    )  # fmt: skip
    assert result.exception is None
    _, task = json.loads(result.output)["tasks"]
    assert task["task"] == "evidence"
    assert task["tested"] == 6
    assert task["without"] == 1


def test_an_unknown_fusion_is_answered_with_the_nearest():
    result = run("--task", "product-1", *SHORT, "--fusion", "mlp")
    assert isinstance(result.exception, InputError)
    assert "did you mean 'mlb'" in str(result.exception)
