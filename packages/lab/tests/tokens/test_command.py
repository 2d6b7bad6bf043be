"""``milepost lab tokens`` from the command line."""

import gzip
import json
import re

import pytest
from click import MissingParameter
from click.testing import CliRunner

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.console.options import Settings  # noqa: E402
from milepost_lab.command import lab  # noqa: E402
from milepost_lab.tokens.command import command as tokens  # noqa: E402

pytestmark = pytest.mark.torch


def run(*args):
    done = CliRunner().invoke(
        tokens, [str(arg) for arg in args], obj=Settings(quiet=True), standalone_mode=False
    )
    if done.exception:
        raise done.exception
    return done.stdout


@pytest.fixture
def task(tmp_path):
    return written(tmp_path, 30)


def written(folder, repeats):
    """A task in two languages, training and development."""
    documents, questions = [], []
    for split in ("train", "dev"):
        for language in ("de", "en"):
            name = f"{split}-{language}"
            text = (
                "Bees build cells of wax. The queen lays the eggs. Ships sail the sea. " * repeats
            )
            documents.append({"id": name, "text": text, "meta": {"language": language}})
            questions += [
                {"id": f"{name}-{n}", "document": name, "question": "Who lays eggs?",
                 "spans": [[25, 48]], "split": split}
                for n in range(4)
            ]  # fmt: skip
    for stem, rows in (("documents", documents), ("questions", questions)):
        with gzip.open(folder / f"{stem}.jsonl.gz", "wt") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
    return folder


def test_words_and_bytes_are_compared_as_json_and_as_a_table():
    found = json.loads(
        run("words", "--steps", 2, "--size", 5000, "--arms", "words,bytes", "--seeds", 1, "--json")
    )
    assert found["experiment"] == "words"
    controls = ["words@random", "words@nonsense", "words@hierarchical"]
    assert [row["arm"] for row in found["rows"]] == ["words", "bytes", *controls]
    assert {"machine", "commit", "date"} <= found.keys()
    table = run(
        "words", "--steps", 1, "--size", 5000, "--arms", "words", "--seed", 3, "--seeds", 1,
        "--no-controls",
    )  # fmt: skip
    assert "@" not in table
    assert "bits a byte" in table
    assert "No guess can be right more than 80% of the time" in table


def test_subwords_are_compared_with_words_over_windows_and_trainings(tmp_path):
    arguments = (
        "words", "--steps", 1, "--size", 5000, "--seeds", 2, "--arms", "words,subwords",
        "--vocabulary", 300, "--no-controls", "--out", tmp_path,
    )  # fmt: skip
    table = run(*arguments)
    assert table.count("words - subwords") == 4
    assert "over trainings" in table
    found = json.loads(run(*arguments, "--json"))
    (gains,) = found["gains"].values()
    assert {"detectable", "low", "high"} <= gains["right words, over windows"][
        "words - subwords"
    ].keys()


def test_the_pool_is_a_matrix():
    table = run("pool", "--steps", 1, "--size", 5000, "--languages", 1)
    rows = [line.split("  ")[0] for line in table.splitlines()]
    assert rows[:6] == [
        "pre-trained on", "language 0", "random", "nonsense", "hierarchical", "permuted",
    ]  # fmt: skip
    assert "windows of 128 bytes with gaps of 8" in table


def test_the_pool_s_json_says_how_its_encoders_were_made():
    found = json.loads(run("pool", "--steps", 1, "--size", 5000, "--languages", 1, "--json"))
    assert found["protocol"]["task"] == "rebuild"  # what tells an own encoder from a random one
    assert found["protocol"]["recipe"]["gap"] == 8
    assert len(found["rows"]) == 5


def test_transfer_prints_what_a_character_weighs(task):
    table = run(
        "transfer", "--task", task, "--steps", 1, "--size", 5000, "--sources", "de",
        "--targets", "de,en",
    )  # fmt: skip
    rows = [line.split("  ")[0] for line in table.splitlines()]
    assert rows[1:8] == [
        "n-grams", "random, raw", "de, raw", "de", "de@random", "de@nonsense", "de@hierarchical",
    ]  # fmt: skip
    assert "bytes a character" in table
    shown = {line.split("  ")[0]: line.split() for line in table.splitlines()}
    assert shown["characters"][1:] == shown["characters"][-1:] * 2
    assert shown["documents"][1:] == ["1", "1"]
    assert f"{shown['characters'][1]} characters (documents: de from 1)" in table
    assert "4 questions" in table


def test_typos_have_rows_of_untrained_baselines(tmp_path):
    task, light = written(tmp_path, 4), "landmark-light"
    for controls in ("--controls", "--no-controls"):
        table = run("typos", "--task", task, "--steps", 1, "--model", light, controls)
        rows = [line.split("  ")[0] for line in table.splitlines()]
        assert rows[1:3] == ["WordPool", "n-grams"]
        below = ["WordPool@random", "WordPool@nonsense", "WordPool@hierarchical"]
        assert rows[4:-1] == (below if controls == "--controls" else [])


@pytest.mark.parametrize("study", ["typos", "transfer"])
def test_a_task_must_be_given(study):
    with pytest.raises(MissingParameter):
        run(study)


def test_the_group_lists_the_studies():
    done = CliRunner().invoke(lab, ["tokens", "--help"])
    assert done.exit_code == 0
    assert re.findall(r"^  (\w+)  ", done.stdout, re.MULTILINE) == [
        "words", "typos", "pool", "transfer",
    ]  # fmt: skip
