"""Questions about mixed real files: their evidence is in the files, once, and makes a task."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from milepost_eval.tasks import load
from milepost_eval.types import Split

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "tools" / "question_task.py"
if not TOOL.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(TOOL))


@pytest.fixture(scope="module")
def questions(tool: dict[str, Any]) -> list[dict[str, str]]:
    path = tool["HOME"] / "files" / "questions.jsonl"
    rows = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(row) for row in rows]


def test_a_span_runs_from_the_first_words_to_the_next_last_ones(tool: dict[str, Any]) -> None:
    span = tool["span"]
    text = "It ends. Bees build cells. It ends. It ends."
    assert span(text, "Bees", "ends.") == (9, 35)
    assert span(text, "Bees build", "Bees build") == (9, 19)
    assert span(text, "Wasps", "ends.") is None
    assert span(text, "Bees", "Wasps") is None


@pytest.fixture(scope="module")
def task_file(
    tool: dict[str, Any], shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """What the script writes; it reads all files, which takes some seconds."""
    out = tmp_path_factory.mktemp("files") / "made" / "files.jsonl"
    said = ["--set", "files", "--out", str(out), "--data", str(shared_data)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(TOOL), *said])
        tool["main"]()
    return out


@pytest.mark.shared
def test_the_evidence_is_found_exactly_once(
    tool: dict[str, Any], questions: list[dict[str, str]], task_file: Path
) -> None:
    rows = map(json.loads, task_file.read_text(encoding="utf-8").splitlines())
    texts = {row["id"]: row["text"] for row in rows if "text" in row}
    for row in questions:
        text = texts[row["document"]]
        assert text.count(row["from"]) == 1, row["id"]
        start, end = tool["span"](text, row["from"], row["to"])
        assert 10 <= end - start <= 700, row["id"]


@pytest.mark.shared
@pytest.mark.parametrize(("split", "number"), [("dev", 100), ("test", 98)])
def test_the_task_is_one_that_eval_reads(
    tool: dict[str, Any],
    questions: list[dict[str, str]],
    task_file: Path,
    split: Split,
    number: int,
) -> None:
    wanted = {row["id"]: row for row in questions}
    task = load(str(task_file), split)
    texts = {document.name: document.text for document in task.documents}
    assert len(task.questions) == number
    assert len(texts) > 25
    assert not set(tool["REPEATED"]) & set(texts)
    for question in task.questions:
        (span,) = question.spans
        evidence = texts[question.document][slice(*span)]
        assert evidence.startswith(wanted[question.name]["from"])
        assert evidence.endswith(wanted[question.name]["to"])
