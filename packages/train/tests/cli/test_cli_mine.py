"""``milepost mine``: hard negatives from the command line."""

import json

import pytest
from click.testing import CliRunner

from milepost.cli.console.options import Settings
from milepost_train.cli.mine import mine

BEES = (
    "The queen lays the eggs of the hive. Workers feed the young with pollen. "
    "Drones leave the hive in early summer. The old queen leaves it with a swarm. "
)
SHIPS = "Tugs pull large ships to the quay. A queen of the seas was launched here. "


@pytest.fixture
def task(tmp_path):
    lines = [
        {"id": "bees", "text": BEES},
        {"id": "ships", "text": SHIPS},
        {"document": "bees", "question": "Who lays the eggs?", "spans": [[0, 36]],
         "split": "train"},
    ]  # fmt: skip
    path = tmp_path / "task.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def run(*args, quiet=False):
    return CliRunner().invoke(
        mine, [str(arg) for arg in args], obj=Settings(quiet=quiet), standalone_mode=False
    )


def test_negatives_and_counts(task, tmp_path, model):
    out = tmp_path / "out.jsonl"
    result = run(task, "--out", out, *model)
    assert result.exception is None
    assert result.return_value == 0
    (row,) = map(json.loads, out.read_text().splitlines())
    assert {each["document"] for each in row["negatives"]} == {"bees", "ships"}
    assert "1  questions" in result.output
    assert "candidate: is next to the evidence" in result.output
    kept = out.read_bytes()
    assert run(task, "--out", out, *model).output == result.output
    assert out.read_bytes() == kept


def test_bad_lines_are_named_and_end_in_1(task, tmp_path, model):
    with task.open("a") as file:
        file.write(
            '{"document": "beez", "question": "Who?", "spans": [[0, 1]], "split": "train"}\n'
        )
    result = run(task, "--out", tmp_path / "out.jsonl", "--collection", 0, *model)
    assert result.return_value == 1
    assert "line 4: no document 'beez'; try: 'bees'" in result.stderr
    assert "1  lines or files that cannot be used" in result.output
