"""``milepost lab bilinear``: bilinear fusions from the command line."""

import json

import pytest

pytest.importorskip("torch", reason="needs the train extra")

from click.testing import CliRunner

from milepost.console.options import Settings
from milepost.errors import InputError
from milepost_lab.bilinear.command import command as fusion
from milepost_lab.command import lab

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("small_controls")]
SHORT = ("--steps", "5", "--seeds", "2", "--fusion", "mlb")


def run(*args):
    return CliRunner().invoke(
        fusion, [str(arg) for arg in args], obj=Settings(), standalone_mode=False
    )


def test_it_hangs_in_the_lab():
    result = CliRunner().invoke(lab, ["bilinear", "--help"])
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


def test_a_folder_of_other_settings_is_refused(tmp_path):
    """What is there stays; other tasks, fusions and seeds may join it."""
    given = ("--task", "product-1", "--fusion", "mlb", "--json", "--out", tmp_path)
    first = (*given, "--steps", 5, "--seeds", 1)
    assert run(*first).exception is None
    kept = {file: file.read_bytes() for file in tmp_path.iterdir()}
    for more, said in (
        (("--steps", 6), f"{tmp_path} holds runs with --steps 5, not --steps 6"),
        (("--parameters", 900), f"{tmp_path} holds runs with --parameters 1000, not"),
    ):
        refused = run(*first, *more).exception
        assert isinstance(refused, InputError)
        assert str(refused).startswith(said)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == kept
    assert run(*first, "--seeds", 2, "--fusion", "mfb").exception is None
    assert run("--task", "sum-1", *first[2:], "--steps", 6).exception is None
    names = {file: file.read_bytes() for file in kept if file.name != "study.json"}
    assert names == {file: kept[file] for file in names}


@pytest.fixture
def folder(tmp_path):
    """A document to learn from and one to be tested on, six questions each."""
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
    return tmp_path


def ranked(folder, model, *args):
    return run(folder, "--task", "product-1", "--cache", folder / "cache", *args, *model, *SHORT)


def test_a_folder_is_ranked_again(folder, model):
    result = ranked(folder, model, "--candidates", 4, "--no-controls", "--json")
    assert result.exception is None
    _, task = json.loads(result.stdout)["tasks"]
    assert task["task"] == "evidence"
    assert task["tested"] == 6
    assert task["without"] == 1


def test_the_same_with_encoders_that_know_nothing(folder, model):
    """All seven sentences are candidates, so that evidence is among them whoever reads."""
    result = ranked(folder, model, "--candidates", 7, "--json")
    assert result.exception is None
    tasks = json.loads(result.stdout)["tasks"]
    names = [task["task"] for task in tasks]
    controls = [f"evidence@{name}" for name in ("random", "nonsense", "hierarchical")]
    assert names == ["product-1", "evidence", *controls]
    for task in tasks[2:]:
        assert (task["trained"], task["tested"]) == (6, 6)
        assert [row["name"] for row in task["rows"]] == ["concat-mlp", "hadamard", "mlb"]
    assert min(task["without"] for task in tasks[2:]) < 1


def test_a_control_that_finds_too_little_to_learn_from_is_left_out_and_named(folder, model):
    """Of two candidates none is evidence: the others' tables are printed all the same."""
    result = ranked(folder, model, "--candidates", 2)
    assert result.exception is None
    assert "evidence: questions whose first sentence" in result.output
    left_out = result.output.count("evidence is rarely among the nearest sentences")
    assert left_out >= 1
    assert result.output.count("evidence@") == 3 + (3 - left_out)  # those left have a verdict, too


def test_an_unknown_fusion_is_answered_with_the_nearest():
    result = run("--task", "product-1", *SHORT, "--fusion", "mlp")
    assert isinstance(result.exception, InputError)
    assert "try: 'mlb'" in str(result.exception)
