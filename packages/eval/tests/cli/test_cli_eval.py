"""``milepost eval``: questions of one's own, tables, comparisons, bad input."""

import json
import re
from pathlib import Path

import pytest

from milepost_eval.records import read
from support.cli_process import command, started
from support.files import write_lines

BEES = "Bees build cells of wax. The queen lays the eggs. " + "Workers feed the young. " * 8
SHIPS = (
    "A ship needs deep water. Tugs pull ships to the quay. " + "Canvas was woven from hemp. " * 8
)


@pytest.fixture
def questions(tmp_path):
    lines = [
        {"id": "bees", "text": BEES},
        {"id": "ships", "text": SHIPS},
        {"document": "bees", "question": "Who lays the eggs?", "spans": [[25, 49]]},
        {"document": "ships", "question": "What do tugs do?", "spans": [[25, 53]], "id": "tugs"},
        {
            "document": "bees",
            "question": "What is built and what is laid?",
            "spans": [[0, 24], [25, 49]],
            "type": "scattered",
        },
    ]
    return write_lines(tmp_path / "questions.jsonl", lines)


def test_a_table_of_systems_by_task(cli, questions):
    result = cli(
        "eval", "run", "--tasks", questions, "--budgets", "60", "--metric", "recall@60", "-q"
    )
    assert result.exit_code == 0, result.stderr
    assert "recall@60, setting document" in result.stdout
    for name in ("landmark", "landmark-only", "bm25", "bm25:400", "bm25-scales"):
        row = next(line for line in result.stdout.splitlines() if line.startswith(f"{name} "))
        assert row.count("[") == row.count("]") == 2


def test_json_lines_are_records(cli, questions, tmp_path):
    result = cli(
        "eval", "run", "--tasks", questions, "--systems", "bm25,landmark", "--setting", "both",
        "--budgets", "24", "--json", "-q",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    out = tmp_path / "results.jsonl"
    out.write_text(result.stdout)
    records = read(out)
    assert [(r.system, r.setting) for r in records] == [
        ("bm25", "document"), ("landmark", "document"),
        ("bm25", "collection"), ("landmark", "collection"),
    ]  # fmt: skip
    words = records[0]
    assert (words.questions, words.documents, words.split) == (3, 2, "dev")
    by_name = dict(
        zip(words.per_question.names, words.per_question.figures["recall@24"], strict=True)
    )
    assert by_name["tugs"] == pytest.approx(24 / 28, abs=1e-6)
    assert "scattered" in words.per_question.kinds
    assert words.machine
    shown = cli("eval", "show", out, "--metric", "mrr@10")
    assert shown.stdout.count("mrr@10, setting") == 2


def test_two_results_are_compared_with_intervals(cli, questions, tmp_path):
    files = []
    for name in ("bm25", "bm25:100"):
        files.append(tmp_path / f"{len(files)}.jsonl")
        asked = cli("eval", "run", "--tasks", questions, "--systems", name, "--json", "-q")
        files[-1].write_text(asked.stdout)
    pytest.importorskip("scipy", reason="Wilcoxon's test needs the eval extra")
    result = cli("eval", "compare", *files, "--metric", "precision@800")
    assert result.exit_code == 0, result.stderr
    assert "bm25 / bm25:100" in result.stdout
    assert "mean of 1 task," in result.stdout
    same = cli("eval", "compare", files[0], files[0])
    row = next(line for line in same.stdout.splitlines() if line.startswith("questions"))
    assert "+0.0 [+0.0, +0.0]" in row


def test_a_plot_is_written(cli, questions, tmp_path):
    pytest.importorskip("matplotlib", reason="the plot needs milepost-eval")
    out = tmp_path / "out.svg"
    result = cli("eval", "run", "--tasks", questions, "--systems", "bm25,bm25:100", "--plot", out)
    assert result.exit_code == 0, result.stderr
    assert "bm25" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--systems", "landmrk"], "unknown system 'landmrk'.*'landmark'"),
        (["--metric", "recal@1600"], "unknown metric 'recal@1600'.*'recall@1600'"),
        (["--budgets", "many"], "--budgets many"),
        (["--budgets", "²"], "--budgets ²"),
        (["--metric", "ndcg@10"], "ndcg@10.*--setting collection"),
        (["--systems", ","], "empty"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(refusal, questions, arguments, message):
    assert re.search(message, refusal("eval", "run", "--tasks", questions, *arguments, "-q"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--tasks", "written"],
        ["compare", "a.jsonl", "b.jsonl", "--json"],
        ["show", "a.jsonl", "--systems", "bm25"],
        ["list", "--tasks", "written"],
    ],
)
def test_a_subcommand_takes_only_the_options_it_uses(refusal, arguments):
    """An option without effect would suggest a table that was not measured."""
    assert re.search(r"no such option.* try: milepost eval", refusal("eval", *arguments))


@pytest.fixture
def many(tmp_path):
    """Names of systems that take long to measure."""
    rows = [f'"words {size}" = {{ kind = "bm25", unit = "{size}" }}' for size in range(1, 400)]
    (tmp_path / "many.toml").write_text("\n".join(["[systems]", *rows]))
    return f"landmark,{tmp_path / 'many.toml'}"


def test_a_killed_run_leaves_whole_lines_and_its_vectors(cli, questions, many, tmp_path):
    asked = ["eval", "run", "--tasks", questions, "--cache", tmp_path / "kept", "--json"]
    with started(command(*asked, "--systems", many)) as running:
        first = running.stdout.readline()
        running.kill()
    again = cli(*asked, "--systems", "landmark", "-q")
    assert json.loads(again.stdout)["cached"]
    assert json.loads(again.stdout)["metrics"] == json.loads(first)["metrics"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_leaves_the_figures_on_the_screen(cli, questions):
    pytest.importorskip("matplotlib", reason="the plot needs milepost-eval")
    asked = ["eval", "run", "--tasks", questions, "--systems", "bm25"]
    result = cli(*asked, "--plot", "/dev/full")
    assert result.exit_code == 2
    assert "recall@1600" in result.stdout
    assert re.fullmatch(r"milepost: /dev/full cannot be written: .*No space.*\n", result.stderr)


def test_measuring_shows_how_far_it_is(questions):
    pytest.importorskip("termios", reason="needs the terminals of Unix")
    from support.terminal import run_on_terminal

    asked = ("eval", "run", "--tasks", questions, "--systems", "bm25,bm25-scales", "--json")
    code, shown = run_on_terminal(*asked, columns=24)
    assert code == 0
    assert "\r\x1b[Kquestions  0/3  bm25" in shown
    assert shown.count("\r\x1b[K{") == 2
    assert max(map(len, re.findall(r"\r\x1b\[K(questions[^\r]*)", shown))) < 24
    assert "\x1b" not in run_on_terminal(*asked, "-q")[1]
