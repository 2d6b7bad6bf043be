"""Questions, documents and pairs in Parquet and saved data sets, written by their own library."""

import json
from pathlib import Path
from typing import Any

import datasets
import pytest

from milepost.errors import InputError, UnreadableFile
from milepost.testing import fake_encoder
from milepost_eval.tasks import load
from milepost_train.config import DataSettings
from milepost_train.loading import PAIRS, Report, Texts, existing, load_task, task_files
from milepost_train.material import load_material
from milepost_train.model import open_checkpoint
from support.files import write_lines
from support.tiny_runs import write_run

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


TRIPLETS: dict[str, list[Any]] = {
    "anchor": ["who sat on the mat?", "who ran?"],
    "positive": ["The cat sat on the mat.", "The dog ran away."],
    "negative": ["The bird flew.", None],
}


@pytest.fixture
def reading(tmp_path: Path) -> Any:
    write_run(tmp_path / "made")
    return open_checkpoint(tmp_path / "made" / "init")


def pairs_of(path: Path, made: Any) -> Any:
    data = DataSettings(pairs=(path,))
    return load_material(data, made.tokenizer, made.reading)


@pytest.mark.parametrize("name", ["saved", "a.parquet"])
def test_triplets(tmp_path: Path, reading: Any, name: str) -> None:
    """Columns as sentence-transformers names them; a missing negative is none."""
    table, path = datasets.Dataset.from_dict(TRIPLETS), tmp_path / name
    if name == "saved":
        table.save_to_disk(str(path))
    else:
        table.to_parquet(str(path))
    material = pairs_of(path, reading)
    assert [pair.words for pair in material.pairs] == TRIPLETS["anchor"]
    assert [len(pair.negatives) for pair in material.pairs] == [1, 0]
    assert material.report.bad == []


def test_rows_for_the_test_are_left_out(tmp_path: Path, reading: Any) -> None:
    for name in ("train-0", "validation-0", "test-0", "test"):
        path = tmp_path / "set" / "data" / f"{name}.parquet"
        datasets.Dataset.from_dict({"query": [name], "passage": ["A cat."]}).to_parquet(str(path))
    material = pairs_of(tmp_path / "set", reading)
    assert [pair.words for pair in material.pairs] == ["train-0"]


def test_every_kind_of_table_in_a_folder(tmp_path: Path, reading: Any) -> None:
    for name in ("train.csv", "dev.csv", "more.tsv", "extra.jsonl", "test.jsonl"):
        row = {"query": name, "passage": "A cat."}
        between = {"csv": ",", "tsv": "\t"}.get(name.split(".")[1])
        lines = [between.join(row), between.join(row.values())] if between else [json.dumps(row)]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    words = {pair.words for pair in pairs_of(tmp_path, reading).pairs}
    assert words == {"train.csv", "more.tsv", "extra.jsonl"}


def test_a_data_set_of_several_splits(tmp_path: Path) -> None:
    table = datasets.Dataset.from_dict(TRIPLETS)
    datasets.DatasetDict({"train": table, "test": table}).save_to_disk(str(tmp_path / "set"))
    with pytest.raises(InputError, match=r"has several splits.*set/train"):
        existing([tmp_path / "set"], PAIRS)
    assert existing([tmp_path / "set" / "train"], PAIRS) == [tmp_path / "set" / "train"]
