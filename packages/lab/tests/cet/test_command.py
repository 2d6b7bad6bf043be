"""``milepost lab cet`` from the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("small_controls")]
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost.console.options import Settings  # noqa: E402
from milepost.errors import InputError  # noqa: E402
from milepost_lab.cet.command import command as audit  # noqa: E402

TEXT = "The queen lays the eggs. Workers feed the young. All eggs are from the queen. Wax is made. "


def run(*args):
    return CliRunner().invoke(
        audit, [str(arg) for arg in args], obj=Settings(), standalone_mode=False
    )


@pytest.fixture
def task(tmp_path):
    """A document and a question with two sentences of evidence."""
    last = TEXT.index("All eggs")
    lines = [
        {"id": "bees", "text": TEXT},
        {
            "document": "bees",
            "question": "Who lays the eggs?",
            "spans": [[0, 24], [last, last + 9]],
        },
    ]
    path = tmp_path / "task.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_task_as_a_table_and_as_json(task, tmp_path, model):
    """The same figures, for people and for programs."""
    given = (task, "--rankers", "words,landmarks", "--cache", tmp_path / "kept", *model)
    result = run(*given)
    assert result.exception is None
    assert "1 questions about 1 documents, 1 sentences of their evidence hidden" in result.output
    (found,) = json.loads(run(*given, "--json").output)["audits"]
    assert found["hidden"] == 1
    controls = ("random", "nonsense", "hierarchical")
    readers = {"words", "landmarks", *(f"landmarks@{name}" for name in controls)}
    assert {row["ranker"] for row in found["rows"]} == readers
    assert f"{found['rows'][0]['share']:.3f}" in result.output
    for name in controls:
        told = found["areas"][f"mined@{name}"]
        assert f"less than another sentence ({name}): mined {told:.3f}, coupled " in result.output
    bare = run(*given, "--no-controls").output
    assert "@" not in bare
    assert "less than another sentence: mined " in bare
    lines = bare.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("rank by words"))
    assert sum(each["answers"] for each in found["selected"]) == 2
    for line, each in zip(lines[-len(found["selected"]) :], found["selected"], strict=True):
        assert line.split()[1:] == [
            str(each["answers"]), f"{each['marked']:.3f}", f"{each['fitted']:.3f}"
        ]  # fmt: skip
    assert len(lines) > at + 1


def test_generated_worlds_need_no_data():
    """Four arms in two worlds."""
    result = run("--generated", "--seeds", 1)
    assert result.exception is None
    assert len(result.output.splitlines()) == 9
    assert "published" in result.output


def test_a_wrong_ranker_is_answered_with_the_nearest(task, model):
    """Before anything is read."""
    result = run(task, "--rankers", "landmark", *model)
    assert isinstance(result.exception, InputError)
    assert "try: 'landmarks'" in str(result.exception)
