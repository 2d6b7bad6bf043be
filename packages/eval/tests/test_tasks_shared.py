"""The tasks beside the checkout, and tasks by name."""

import json
from pathlib import Path

import pytest

from milepost.errors import InputError, UnreadableFile
from milepost_eval.tasks import load
from milepost_eval.tasks.shared import read_folder


def folder(path: Path, documents: list[dict], questions: list[dict]) -> Path:
    path.mkdir(exist_ok=True)
    for name, rows in (("documents", documents), ("questions", questions)):
        (path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


DOCUMENTS = [
    {"id": "a", "title": "A", "text": "One. Two.", "meta": {"licence": "CC0"}},
    {"id": "b", "title": "B", "text": "Three.", "meta": {}},
]
QUESTION = {"id": "q", "document": "a", "question": "Two?", "spans": [[5, 9]], "split": "dev"}


def test_only_documents_that_are_asked_of_are_the_collection(tmp_path: Path) -> None:
    test = {**QUESTION, "id": "r", "document": "b", "split": "test", "spans": [[0, 5]]}
    task = read_folder(folder(tmp_path / "small", DOCUMENTS, [QUESTION, test]), "dev")
    assert task.name == "small"
    assert [document.name for document in task.documents] == ["a"]
    assert [question.name for question in task.questions] == ["q"]
    assert task.facts == {"a": {"licence": "CC0", "title": "A"}}


@pytest.mark.parametrize(
    ("documents", "question", "problem"),
    [
        (DOCUMENTS, {**QUESTION, "document": "aa"}, "document 'aa' is missing, but has questions"),
        (DOCUMENTS, {**QUESTION, "spans": [[5, 10]]}, "line 1: span 5–10 is outside"),
        (DOCUMENTS, {**QUESTION, "split": "tset"}, "line 1: unknown split 'tset'"),
        (DOCUMENTS, {**QUESTION, "split": "test"}, "no dev question"),
        ([DOCUMENTS[0]] * 2, QUESTION, "line 2: document 'a' is already in line 1"),
        ([{**DOCUMENTS[0], "text": ""}], QUESTION, "line 1: document 'a' has no text"),
        ([{**DOCUMENTS[0], "meta": 3}], QUESTION, "line 1: 'meta' is not an object"),
    ],
)
def test_a_wrong_folder_is_told(
    tmp_path: Path, documents: list[dict], question: dict, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_folder(folder(tmp_path / "t", documents, [question]), "dev")
    assert problem in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_folder_without_files_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"questions\.jsonl\.gz cannot be read"):
        read_folder(tmp_path, "dev")


def test_names_of_folders_and_files(tmp_path: Path) -> None:
    path = folder(tmp_path / "t", DOCUMENTS, [QUESTION])
    assert load(str(path), "dev").questions[0].name == "q"
    own = tmp_path / "own.jsonl"
    own.write_text(json.dumps({"text": "One.", "question": "How many?", "spans": [[0, 3]]}))
    assert load(str(own), "dev").name == "own"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("meeting", "'meetings'"),
        ("Written", "'written'"),
        ("bier:folder", "'beir'"),
        ("zzzz", "one of written, "),
    ],
)
def test_an_unknown_name_is_told_the_nearest(name: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"unknown task '{name}'") as caught:
        load(name, "dev", tmp_path)
    assert hint in str(caught.value)


@pytest.mark.parametrize("data", [None, Path("/nowhere/at/all"), Path("/")])
def test_missing_shared_data_says_what_to_do(data: Path | None) -> None:
    with pytest.raises(InputError, match=r"--data FOLDER, or MILEPOST_DATA"):
        load("written", "dev", data)


def test_a_text_is_no_file_of_questions(tmp_path: Path) -> None:
    path = tmp_path / "written.txt"
    path.write_text("Leave is signed by the head of office.")
    with pytest.raises(InputError, match=r"written\.txt is not a task.*\.jsonl"):
        load(str(path), "dev")
