"""Tasks: shared, public, and the protocol that they keep."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import InputError, UnreadableFile
from milepost.types import Document
from milepost_eval.tasks import for_tuning, load, take
from milepost_eval.tasks.judged import read_beir
from milepost_eval.tasks.shared import read_folder
from milepost_eval.types import Question, Task
from support.files import write_lines


def folder(path: Path, documents: list[dict], questions: list[dict]) -> Path:
    write_lines(path / "documents.jsonl", documents)
    return write_lines(path / "questions.jsonl", questions).parent


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


def test_names_of_folders_and_files(tmp_path: Path) -> None:
    path = folder(tmp_path / "t", DOCUMENTS, [QUESTION])
    assert load(str(path), "dev").questions[0].name == "q"
    own = tmp_path / "own.jsonl"
    own.write_text(json.dumps({"text": "One.", "question": "How many?", "spans": [[0, 3]]}))
    assert load(str(own), "dev").name == "own"
    with pytest.raises(InputError, match=r"written\.txt is not a task.*\.jsonl"):
        load(str(own.rename(tmp_path / "written.txt")), "dev")
    with pytest.raises(UnreadableFile, match=r"questions\.jsonl\.gz cannot be read"):
        read_folder(tmp_path, "dev")


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


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    rows = [
        {"_id": "d1", "title": "Wax", "text": "Bees build cells.", "metadata": {}},
        {"_id": "d2", "title": "", "text": "Ants carry leaves.", "metadata": {}},
        {"_id": "d3", "title": "", "text": "Nobody asks of me.", "metadata": {}},
    ]
    write_lines(folder / "corpus.jsonl", rows)
    rows = [
        {"_id": "1", "text": "What do bees build?", "metadata": {}},
        {"_id": "2", "text": "Who carries leaves?", "metadata": {}},
        {"_id": "3", "text": "A question of another split?", "metadata": {}},
    ]
    write_lines(folder / "queries.jsonl", rows)
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t1\n1\td3\t0\n2\td3\t0\n"
    )
    return folder


def test_beir(beir: Path) -> None:
    task = read_beir(beir, "test")
    assert task.settings == ("collection",)
    assert [document.name for document in task.documents] == ["d1", "d2", "d3"]
    assert task.documents[0].text == "Wax\n\nBees build cells."
    (question,) = task.questions
    assert question.relevant == {"d1": 2, "d2": 1}
    assert (question.document, question.spans) == ("d1", ())
    assert task.notes == ("left out: 1 question without a relevant document",)
    with pytest.raises(UnreadableFile, match="has judgements for test"):
        read_beir(beir, "dev")


def test_beir_judgements_as_lines(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").unlink()
    row = {"query-id": "2", "corpus-id": "d2", "score": 1.0}
    write_lines(beir / "qrels" / "test.jsonl", [row])
    assert read_beir(beir, "test").questions[0].relevant == {"d2": 1}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1\td9\t1", "line 2: unknown document 'd9'"),
        ("9\td1\t1", "line 2: unknown question '9'"),
        ("1\td1", "line 2: 2 columns"),
        ("1\td1\tx", "line 2: 'x' is not a score"),
        ("1\td1\tinf", "line 2: 'inf' is not a score"),
        ("1\td1\t0.5", "line 2: '0.5' is not a whole number"),
    ],
)
def test_beir_mistakes_are_named(beir: Path, row: str, problem: str) -> None:
    (beir / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{row}\n")
    with pytest.raises(InputError, match=rf"test\.tsv, {problem}"):
        read_beir(beir, "test")


def task_of(counts: dict[str, int]) -> Task:
    """A task with so many questions of each document."""
    return Task(
        name="t",
        split="dev",
        documents=tuple(Document(name, f"Text of {name}.") for name in counts),
        questions=tuple(
            Question(f"{name} {number}", "What?", name, ((0, 4),), {name: 1})
            for name, count in counts.items()
            for number in range(count)
        ),
        facts={name: {"title": name} for name in counts},
    )


counts_of = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=4), st.integers(0, 6), min_size=1, max_size=12
).filter(lambda counts: sum(counts.values()) > 0)
numbers = st.none() | st.integers(1, 20)


def test_a_test_task_cannot_be_tuned_on() -> None:
    task = task_of({"a": 1})
    assert for_tuning(task) is task
    with pytest.raises(InputError, match="task t is of the test split"):
        for_tuning(replace(task, split="test"))


@settings(max_examples=60, deadline=None)
@given(counts=counts_of, questions=numbers, documents=numbers, seed=st.integers(0, 9))
def test_the_order_of_files_does_not_matter(
    counts: dict[str, int], questions: int | None, documents: int | None, seed: int
) -> None:
    task = task_of(counts)
    chance = random.Random(seed)
    mixed = replace(
        task,
        documents=tuple(chance.sample(task.documents, len(task.documents))),
        questions=tuple(chance.sample(task.questions, len(task.questions))),
    )
    assert take(mixed, questions, documents) == take(task, questions, documents)


@settings(max_examples=60, deadline=None)
@given(counts=counts_of, questions=numbers, documents=numbers)
def test_questions_are_dealt_evenly(
    counts: dict[str, int], questions: int | None, documents: int | None
) -> None:
    task = task_of(counts)
    small = take(task, questions, documents)
    per = {name: 0 for name, count in counts.items() if count}
    for question in small.questions:
        per[question.document] += 1
    asked = {name: count for name, count in per.items() if count}
    assert len(asked) <= (documents or len(counts))
    reach = sum(counts[name] for name in asked)
    assert len(small.questions) == min(questions or reach, reach)
    most = max(asked.values())
    assert all(count >= min(most - 1, counts[name]) for name, count in asked.items())
    assert all(question in task.questions for question in small.questions)
    assert len({question.name for question in small.questions}) == len(small.questions)
    kept = {document.name for document in small.documents}
    assert kept == (set(counts) if documents is None else set(asked))
    assert set(small.facts) == kept


def test_the_collection_holds_every_relevant_document() -> None:
    task = task_of({"a": 1, "b": 0, "c": 0})
    question = replace(task.questions[0], spans=(), relevant={"a": 2, "c": 1})
    small = take(replace(task, questions=(question,)), documents=1)
    assert {document.name for document in small.documents} == {"a", "c"}
