"""Questions and documents in Parquet and in saved data sets, written by Hugging Face datasets."""

import datetime
import json
from pathlib import Path
from typing import Any

import datasets
import pytest
from click.testing import CliRunner

from milepost.cli.program import program
from milepost.errors import InputError, UnreadableFile
from milepost.testing import fake_encoder
from milepost_eval.tasks import load
from milepost_train.loading import Report, Texts, load_task, task_files
from support.tiny_runs import CHECK, MERGED, write_lines, write_run

TEXT = "One whale sings. Two ships pass by. None of them stops."
DOCUMENTS: list[dict[str, Any]] = [
    {"id": "a", "title": "Whales", "text": TEXT},
    {"id": "b", "title": None, "text": TEXT + " Never."},
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "1", "document": "a", "question": "who sings?", "spans": [[4, 9]], "split": "train"},
    {"id": "2", "document": "b", "question": "who?", "spans": [[10, 40]], "split": "train"},
    {"id": "3", "document": "b", "question": "stops?", "spans": [[45, 54]], "split": "dev"},
]
FORMS = ["lines", "parquet", "saved", "folder", "two parquet", "two saved", "two folders"]


def table(rows: list[dict[str, Any]]) -> Any:
    names = dict.fromkeys(name for row in rows for name in row)
    return datasets.Dataset.from_list([{name: row.get(name) for name in names} for row in rows])


def write(folder: Path, form: str, *parts: tuple[str, list[dict[str, Any]]]) -> Path:
    if not form.startswith("two"):
        parts = (("own", [row for _, rows in parts for row in rows]),)
    for name, rows in parts:
        if form == "lines":
            kept = [{k: v for k, v in row.items() if v is not None} for row in rows]
            write_lines(folder / f"{name}.jsonl", kept)
        elif form.endswith("parquet"):
            table(rows).to_parquet(str(folder / f"{name}.parquet"))
        elif form.endswith("saved"):
            table(rows).save_to_disk(str(folder / name))
        else:
            half = len(rows) // 2
            (folder / name).mkdir()
            (folder / name / "README.md").write_text("A card.\n", encoding="utf-8")
            for n, some in enumerate((rows[:half], rows[half:])):
                table(some).to_parquet(str(folder / name / f"train-{n}.parquet"))
    if form.startswith("two"):
        return folder
    return folder / {"lines": "own.jsonl", "parquet": "own.parquet"}.get(form, "own")


@pytest.mark.parametrize("form", FORMS)
def test_the_same_questions_in_every_form(tmp_path: Path, form: str) -> None:
    path = write(tmp_path, form, ("documents", DOCUMENTS), ("questions", QUESTIONS))
    texts, report = Texts(fake_encoder().tokenizer), Report()
    questions = load_task(path, texts, report)
    assert [(q.name, q.words, texts.all[q.text].name, q.evidence) for q in questions] == [
        ("1", "who sings?", "a", (0,)),
        ("2", "who?", "b", (0, 1, 2)),
    ]
    assert {q.task for q in questions} == {tmp_path.name if form.startswith("two") else "own"}
    assert report.bad == []
    assert report.counts[path]["questions of another split"] == 1
    asked = load(str(path), "dev")
    assert [(q.name, q.document, q.spans) for q in asked.questions] == [("3", "b", ((45, 54),))]


def test_cells_of_other_types_are_shown(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": datetime.date(2026, 11, 23)}]
    table(rows).to_parquet(str(tmp_path / "own.parquet"))
    with pytest.raises(InputError, match="line 1: 'text' is \"2026-11-23\", not a string"):
        load(str(tmp_path / "own.parquet"), "dev")


def test_damaged_tables(tmp_path: Path) -> None:
    file = tmp_path / "own.parquet"
    file.write_bytes(b"PAR1 and then nothing")
    texts = Texts(fake_encoder().tokenizer)
    with pytest.raises(UnreadableFile, match=r"own\.parquet cannot be read"):
        load_task(file, texts, Report())
    saved = write(tmp_path, "saved", ("documents", DOCUMENTS), ("questions", QUESTIONS))
    for part in saved.glob("*.arrow"):
        part.write_bytes(b"nothing")
    with pytest.raises(UnreadableFile, match=r"own cannot be read.*save_to_disk"):
        load_task(saved, texts, Report())


def test_a_folder_of_other_files_is_no_table(tmp_path: Path) -> None:
    """Beside Parquet lies a text: the folder is a task's only if it names its two parts."""
    write(tmp_path, "parquet", ("own", DOCUMENTS))
    (tmp_path / "notes.txt").write_text("A note.", encoding="utf-8")
    assert [path.name for path in task_files(tmp_path)] == [
        "documents.jsonl.gz",
        "questions.jsonl.gz",
    ]


def test_a_run_learns_and_is_checked_on_tables(tmp_path: Path) -> None:
    run = write_run(tmp_path, CHECK, stages=MERGED)
    for path in tmp_path.rglob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        table(rows).to_parquet(str(path.with_suffix(".parquet")))
        path.unlink()
    run.write_text(run.read_text("utf-8").replace("pairs.jsonl", "pairs.parquet"), "utf-8")
    result = CliRunner().invoke(program, ["train", str(run)])
    assert result.exit_code == 0, result.output
    assert "task: 36 questions, 6 documents asked of" in result.output
    lines = (tmp_path / "run" / "log.jsonl").read_text("utf-8").splitlines()
    log = [json.loads(line) for line in lines]
    assert {name for line in log for name in line.get("check", ())} == {"task"}
